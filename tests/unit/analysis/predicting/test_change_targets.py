"""What people write behind ``--set``, and what they are told where that cannot be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.predicting.change_targets import parse_changes, targets
from pathtrace.errors import UsageError
from pathtrace.model.prediction import Change, Changed
from tests.unit.analysis import far
from tests.unit.analysis.builders import MB, MS, asked, run_of, scenario
from tests.unit.analysis.predicting.test_prediction import indexed

LAB = """
pathtrace: 1
places:
  library: {kind: database, url: "sqlite://", query: "select text from t"}
  model: {kind: inference, url: "http://localhost:11434", api: ollama}
  people: {kind: user}
flows:
  answer: {path: [library, model, people], frequency: per-request}
"""


def at_home() -> Evidence:
    return Evidence(run_of(scenario(LAB), [asked(4, (MS, MS, MS))]))


def far_away() -> Evidence:
    return Evidence(far.run(far.Way()))


def test_a_link_a_round_trip_and_a_disk_are_read_with_their_units() -> None:
    assert parse_changes(("lan=10GbE", "lan.latency=0.2ms", "disk:weights=500MB/s"), far_away()) == (
        Change(Changed.LINK, "link:lan", "lan", far.LINE, 1250 * MB, "bytes_per_s"),
        Change(Changed.LATENCY, "link:lan.latency", "lan", None, 0.0002, "s"),
        Change(Changed.DISK, "disk:weights", "weights", None, 500 * MB, "bytes_per_s"),
    )


def test_keys_of_places_are_read_with_what_they_are_now() -> None:
    assert parse_changes(("library.batch=500", "library.workers=8", "model.loaded=true"), at_home()) == (
        Change(Changed.BATCH, "library.batch", "library", 100, 500, "count"),
        Change(Changed.WORKERS, "library.workers", "library", 2, 8, "count"),
        Change(Changed.LOADED, "model.loaded", "model", None, 1, "flag"),
    )


def test_what_a_commit_takes_is_a_duration_where_something_is_stored() -> None:
    run = replace(indexed((1, 1, 1)), ceilings=(far.ceiling("commit:library", latency_s=0.01),))
    assert parse_changes(("commit:library=0.5ms",), Evidence(run)) == (
        Change(Changed.COMMIT, "commit:library", "library", 0.01, 0.0005, "s"),
    )
    with pytest.raises(UsageError, match="'500MB/s' is not a duration"):
        parse_changes(("commit:library=500MB/s",), Evidence(run))
    with pytest.raises(UsageError, match="nothing called 'commit:archive'"):
        parse_changes(("commit:archive=0.5ms",), Evidence(run))


def test_what_can_be_set_follows_from_what_the_flows_use() -> None:
    assert {target.resource for target in targets(at_home()).values()} == {
        "disk:library",
        "library.workers",
        "library.batch",
        "model.workers",
        "model.loaded",
    }


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("lan", "'lan' is no change", "write it as in"),
        ("=10GbE", "'=10GbE' is no change", "write it as in"),
        ("lna=10GbE", "there is nothing called 'lna' to set in this run", "did you mean 'lan'?"),
        (
            "weights.bach=9",
            "there is nothing called 'weights.bach' to set",
            "of weights can be set: disk:weights",
        ),
        ("zzzzz=1", "there is nothing called 'zzzzz' to set in this run", "can be set: link:lan"),
        ("lan=10", "'10' is not a rate: it has no unit", "write a number and one of"),
        ("lan=10 GB", "'10 GB' is not a rate: \"GB\" is an amount", 'write "10 GB/s" for bytes'),
        ("lan.latency=3 MB/s", "'3 MB/s' is not a duration", "write a number and one of"),
        ("lan=0 Gbit/s", "'0 Gbit/s' must be more than nothing", ""),
        ("weights.depth=1.5", "'1.5' is not a whole number from 1 to 4,096", ""),
        ("weights.depth=99999", "'99999' is not a whole number from 1 to 4,096", ""),
        ("weights.depth=9" + "9" * 40, "is not a whole number from 1 to 4,096", ""),
        ("weights.access=reed", "'reed' is no way to read files", "did you mean 'read'?"),
        ("weights.access=telepathy", "is no way to read files", "one of read, mmap, direct"),
    ],
)
def test_what_cannot_be_is_refused_with_what_is_nearest(text: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_changes((text,), far_away())
    assert message in refused.value.message
    assert hint in (refused.value.hint or "")


def test_a_model_can_only_be_thought_loaded() -> None:
    with pytest.raises(UsageError, match="'false' is not 'true'"):
        parse_changes(("model.loaded=false",), at_home())


def test_the_way_to_read_is_a_word_before_and_after() -> None:
    assert parse_changes(("weights.access=direct",), far_away()) == (
        Change(Changed.ACCESS, "weights.access", "weights", None, 1, "access", words=("read", "direct")),
    )


def test_the_same_thing_is_not_set_twice() -> None:
    with pytest.raises(UsageError, match="link:lan is set 2 times"):
        parse_changes(("lan=10GbE", "link:lan=2.5GbE"), far_away())
