from dataclasses import replace

import pytest

from pathtrace.analysis.comparing.comparison import compare
from pathtrace.model.comparison import Foretold, ForetoldChange, Prediction, StoredPrediction
from pathtrace.model.run import Run
from tests.unit.analysis.builders import scenario
from tests.unit.analysis.compared import AFTER_TEXT, BEFORE_TEXT, measured, run, upgraded

TEN_GIGABIT = 1.25e9
PREDICTED = StoredPrediction(
    "2026-11-30T09:30:00+00:00",
    (ForetoldChange("link:lan", TEN_GIGABIT),),
    (Foretold("index", 0.202, 0.05, 0.04, 0.07),),
)


def scored(
    *predictions: StoredPrediction, after: Run | None = None, changed: tuple[str, ...] = ("lan",)
) -> tuple[Prediction, ...]:
    later = replace(after or upgraded(), started_at="2026-12-01T09:14:12+00:00")
    return compare(measured(run()), measured(later), changed=changed, predictions=predictions).predictions


def test_a_prediction_stands_beside_the_fact() -> None:
    [found] = scored(PREDICTED)
    assert (found.flow, found.expected_s, found.low, found.high) == ("index", 0.05, 0.04, 0.07)
    assert found.error == pytest.approx(found.actual_s / 0.05 - 1)
    assert found.actual_s == pytest.approx(0.042, rel=0.01)


def test_the_latest_one_of_this_change_counts() -> None:
    later = replace(PREDICTED, flows=(Foretold("index", 0.202, 0.04, 0.03, 0.05),))
    assert [each.expected_s for each in scored(PREDICTED, later)] == [0.04]


@pytest.mark.parametrize(
    "other",
    [
        replace(PREDICTED, at="2026-12-02T00:00:00+00:00"),
        replace(PREDICTED, changes=(ForetoldChange("link:lan", 3.125e8),)),
        replace(PREDICTED, changes=(*PREDICTED.changes, ForetoldChange("library.batch", 500))),
        replace(PREDICTED, changes=(ForetoldChange("disk:library", 5e8),)),
        replace(PREDICTED, changes=()),
        replace(PREDICTED, flows=(Foretold("index", 0.4, 0.1, 0.1, 0.1),)),
        replace(PREDICTED, flows=(Foretold("index", 0.202, 0.202, 0.202, 0.202),)),
        replace(PREDICTED, flows=(Foretold("other", 0.202, 0.1, 0.1, 0.1),)),
    ],
    ids=[
        "made afterwards",
        "other speed",
        "one more",
        "other resource",
        "none",
        "other time",
        "unchanged",
        "other flow",
    ],
)
def test_one_of_something_else_does_not(other: StoredPrediction) -> None:
    assert scored(other) == ()


def test_of_several_that_fit_the_one_with_the_most_changes_counts() -> None:
    """``whatif --all`` keeps one for each change; one of two changes that both came says more."""
    text = AFTER_TEXT.replace("batch: 100", "batch: 500")
    after = replace(upgraded(), scenario=scenario(text))
    batch = ForetoldChange("library.batch", 500)
    both = replace(
        PREDICTED, changes=(*PREDICTED.changes, batch), flows=(Foretold("index", 0.202, 0.03, 0.02, 0.04),)
    )
    alone = replace(PREDICTED, changes=(batch,))
    found = scored(both, PREDICTED, alone, after=after, changed=("lan", "library.batch"))
    assert [each.expected_s for each in found] == [0.03]


def test_another_round_trip_is_not_another_speed() -> None:
    latency = replace(PREDICTED, changes=(ForetoldChange("link:lan.latency", 0.0002),))
    assert scored(latency) == ()
    moved = run(BEFORE_TEXT.replace("10.0.0.2", "10.0.9.2"), address="10.0.9.2", id="20261201-091412-bbbb")
    assert len(scored(latency, after=moved)) == 1


def test_a_speed_that_nobody_declared_is_the_cards() -> None:
    silent = replace(upgraded(), scenario=scenario(AFTER_TEXT.replace(", speed: 10 Gbit/s", "")))
    other = replace(PREDICTED, changes=(ForetoldChange("link:lan", 3.125e8),))
    assert len(scored(PREDICTED, after=silent)) == 1
    assert scored(other, after=silent) == ()


def test_a_new_link_is_known_by_the_hosts_that_it_joins() -> None:
    new = replace(PREDICTED, changes=(ForetoldChange("link:nas-workstation", TEN_GIGABIT),))
    direct = "\n  direct: {hosts: [nas, workstation], speed: 10 Gbit/s, kind: direct}\nplaces:"
    after = replace(upgraded(), scenario=scenario(BEFORE_TEXT.replace("\nplaces:", direct)))
    assert len(scored(new, after=after, changed=("direct",))) == 1


def test_another_way_to_read_is_known_by_its_word() -> None:
    way = replace(PREDICTED, changes=(ForetoldChange("archive.access", "direct"),))
    text = BEFORE_TEXT.replace("path: /mnt/archive}", "path: /mnt/archive, access: direct}")
    after = run(text, id="20261201-091412-bbbb")
    assert len(scored(way, after=after, changed=("archive.access",))) == 1
    other = replace(way, changes=(ForetoldChange("archive.access", "mmap"),))
    assert scored(other, after=after, changed=("archive.access",)) == ()


def test_a_setting_must_have_come_to_the_value_that_was_predicted_with() -> None:
    after = run(BEFORE_TEXT.replace("batch: 100", "batch: 500"), id="20261201-091412-bbbb")
    fits, other = (replace(PREDICTED, changes=(ForetoldChange("library.batch", n),)) for n in (500, 200))
    assert len(scored(fits, after=after, changed=("library.batch",))) == 1
    assert scored(other, after=after, changed=("library.batch",)) == ()


def test_another_setting_of_a_place_is_not_another_disk_below_it() -> None:
    disk = replace(PREDICTED, changes=(ForetoldChange("disk:library", 2e9),))
    batch = replace(PREDICTED, changes=(ForetoldChange("library.batch", 500),), flows=PREDICTED.flows)
    after = run(BEFORE_TEXT.replace("batch: 100", "batch: 500"), id="20261201-091412-bbbb")
    assert scored(disk, after=after, changed=("library.batch",)) == ()
    assert len(scored(batch, disk, after=after, changed=("library.batch",))) == 1


def test_a_disk_that_nobody_can_see_is_believed_where_it_is_named() -> None:
    disk = replace(PREDICTED, changes=(ForetoldChange("disk:archive", 5e8),))
    after = run(id="20261201-091412-bbbb")
    assert scored(disk, after=after, changed=()) == ()
    assert len(scored(disk, after=after, changed=("disk:archive",))) == 1
