"""What another disk or another commit latency does to inserts, of which the commits are known or not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.analysis import analyse
from pathtrace.analysis.assembly import measured_flows
from pathtrace.analysis.predicting.committing import Commits, commits_of
from pathtrace.model.prediction import FlowPrediction, Prediction, Unknown
from pathtrace.model.run import Ceiling, Run
from tests.unit.analysis import far
from tests.unit.analysis.builders import MB, MS, Desk, reached, run_of, scenario, stream
from tests.unit.analysis.predicting.test_prediction import INDEX, indexed, only, predicted

SLOW = indexed((1, 1, 20), finish_ms=19)
"""100 inserts of 20 ms, of which 19 are the commit: 2 s; without any commit reading holds, 0.1 s."""


def with_sync(run: Run, latency_s: float) -> Run:
    return replace(run, ceilings=(far.ceiling("commit:library", latency_s=latency_s),))


def in_sqlite(run: Run) -> Run:
    return replace(run, scenario=scenario(INDEX.replace("postgresql://localhost/lab", "sqlite://")))


def after(prediction: Prediction) -> tuple[float, float]:
    flow: FlowPrediction = only(prediction)
    assert flow.after_s is not None
    return flow.after_s.low, flow.after_s.high


def expected(prediction: Prediction) -> float:
    """Of what is known: better and worse are the same."""
    assert prediction.unknowns == ()
    flow = only(prediction)
    assert flow.after_s is not None
    return flow.after_s.expected


def test_a_disk_of_another_rate_may_commit_in_next_to_nothing_or_as_slowly_as_now() -> None:
    assert analyse(SLOW).flows[0].bottleneck == "commit:library"
    prediction = predicted(SLOW, "disk:library=3000MB/s")
    assert after(prediction) == (pytest.approx(0.1, abs=0.02), pytest.approx(2.0, rel=0.01))
    assert only(prediction).bottleneck_after == "unknown"
    assert prediction.unknowns == (
        Unknown(
            "how long a commit takes on that disk",
            "--set commit:library=…, by its data sheet or by pathtrace probe SCENARIO on such a disk",
        ),
    )
    assert not [text for text in prediction.unchanged if "does not hold" in text]


def test_commits_beside_something_else_that_holds_are_open_too() -> None:
    """9 of 20 ms: the limit is another, and up to that much may go."""
    run = indexed((1, 1, 20), finish_ms=9)
    prediction = predicted(run, "disk:library=3000MB/s")
    assert after(prediction)[0] <= 1.15
    assert after(prediction)[1] == pytest.approx(2.0, rel=0.01)


def test_a_disk_that_is_slower_than_a_measured_one_may_commit_as_much_later() -> None:
    run = replace(SLOW, ceilings=(far.ceiling("disk:library", 400 * MB),))
    low, high = after(predicted(run, "disk:library=200MB/s"))
    assert low == pytest.approx(2.0, rel=0.01)
    assert high >= 100 * (0.038 + 0.001) * 0.99


def test_the_latency_of_the_disk_closes_what_its_rate_leaves_open() -> None:
    prediction = predicted(SLOW, "disk:library=3000MB/s", "commit:library=0.5ms")
    assert expected(prediction) == pytest.approx(0.152, rel=0.01)


def test_a_recorded_commit_takes_as_much_less_as_a_sync_does() -> None:
    for run in (SLOW, with_sync(SLOW, 0.019)):
        assert expected(predicted(run, "commit:library=0.5ms")) == pytest.approx(0.152, rel=0.01)


def test_a_slower_commit_takes_as_much_longer() -> None:
    assert expected(predicted(SLOW, "commit:library=38ms")) == pytest.approx(3.902, rel=0.001)


def test_of_a_commit_that_takes_longer_than_a_sync_the_rest_may_stay() -> None:
    """19 ms where a sync takes 10: at worst 9 of them are other work."""
    prediction = predicted(with_sync(SLOW, 0.010), "commit:library=0.5ms")
    low, high = after(prediction)
    assert low == pytest.approx(100 * (0.001 + 0.019 / 20), rel=0.05)
    assert high == pytest.approx(100 * (0.001 + 0.0095), rel=0.05)
    assert [each.what for each in prediction.unknowns] == [
        "how much of a commit of library is syncing, how much other work"
    ]


def test_sqlite_syncs_several_times_for_a_commit() -> None:
    """Two syncs of 9.5 ms explain 19; of one that nobody timed there may be as many as six."""
    timed = predicted(with_sync(in_sqlite(SLOW), 0.0095), "commit:library=0.5ms")
    assert expected(timed) == pytest.approx(0.202, rel=0.01)
    prediction = predicted(in_sqlite(SLOW), "commit:library=0.5ms")
    assert after(prediction) == (pytest.approx(0.15, rel=0.1), pytest.approx(0.4, rel=0.1))
    assert prediction.unknowns == (
        Unknown("how often a commit of library syncs", "pathtrace run SCENARIO, without --no-probes"),
    )


def test_a_commit_that_was_not_told_apart_gives_a_range() -> None:
    prediction = predicted(indexed((1, 1, 20)), "commit:library=0.5ms")
    low, high = after(prediction)
    assert low < 0.2
    assert high == pytest.approx(2.0, rel=0.01)
    assert prediction.unknowns == (
        Unknown(
            "how much of an operation at library is its commit",
            "pathtrace run SCENARIO, with library on such a disk",
        ),
    )


def test_larger_batches_spare_only_what_commits_then_take() -> None:
    """At worst 50 reads, twice 50 rows of 1 ms and two commits of 0.5 ms."""
    _, high = after(predicted(SLOW, "commit:library=0.5ms", "library.batch=50"))
    assert high == pytest.approx(0.05 + 0.1 + 2 * 0.0005, rel=0.05)


def test_commits_are_counted_by_rows_where_each_is_committed_and_once_where_the_flow_is() -> None:
    by_row = replace(SLOW, scenario=scenario(INDEX.replace("batch: 1,", "batch: 10, commit: row,")))
    evidence, [study] = measured_flows(with_sync(by_row, 0.001))
    found = commits_of(study.stages[2], study, evidence)
    assert found == Commits(pytest.approx(0.0019), 0.001, 1, 0.0, True)


@settings(deadline=None, max_examples=10)
@given(one=st.floats(0.02, 60), other=st.floats(0.02, 60), sync=st.sampled_from([None, 0.004, 0.019]))
def test_a_quicker_commit_never_predicts_a_slower_flow(one: float, other: float, sync: float | None) -> None:
    run = SLOW if sync is None else with_sync(SLOW, sync)
    quick, slow = (
        after(predicted(run, f"commit:library={latency:.3f}ms")) for latency in sorted((one, other))
    )
    assert quick[0] <= slow[0] * 1.001
    assert quick[1] <= slow[1] * 1.001


BACKUP = """
pathtrace: 1
places:
  archive: {kind: files, path: /data, depth: 1, workers: 1}
  backup: {kind: files, path: /copy, workers: 1}
flows:
  copy: {path: [archive, backup], frequency: every 24 h}
"""


def written() -> Run:
    """100 files, each written in 20 ms, of which 19 are the sync."""
    made = stream(
        [Desk(1), Desk(1, 16)],
        lambda stage, k: (1, 20)[stage] * MS,
        100,
        details=lambda s: {"bytes": 10_000, "finish_ns": 19 * MS if s.stage == 1 else 0},
    )
    return run_of(scenario(BACKUP), [made], places=(reached("archive"), reached("backup")))


@pytest.mark.parametrize("ceilings", [(), (far.ceiling("disk:backup", 100 * MB),)])
def test_files_that_are_synced_one_by_one_are_open_in_the_same_way(ceilings: tuple[Ceiling, ...]) -> None:
    run = replace(written(), ceilings=ceilings)
    assert analyse(run).flows[0].bottleneck == "commit:backup"
    prediction = predicted(run, "disk:backup=3000MB/s")
    assert after(prediction)[0] < 0.2
    assert after(prediction)[1] == pytest.approx(2.0, rel=0.01)
    assert [each.what for each in prediction.unknowns] == ["how long a commit takes on that disk"]
    quicker = predicted(run, "commit:backup=0.5ms")
    assert after(quicker)[0] < 0.2
