"""What is expected of nights in a row: what broke stays broken until it really is over."""

from __future__ import annotations

from dataclasses import replace

from pathtrace.app.scanning_verdict import Past, judged, told_by
from pathtrace.model.history import SKIPPED, HistoryEntry, Told
from pathtrace.model.scanning import EXPECTATION, FAILURE, MEASURED
from tests.unit.analysis.nightly.test_beside import night
from tests.unit.analysis.nightly.test_expectations import expecting

SCENARIO = expecting(("index", "+20%"))


def after(nights: list[HistoryEntry], baseline: str | None = None) -> list[tuple[str | None, bool | None]]:
    """State and verdict of what is expected, for each night as it came."""
    found = []
    told: tuple[Told, ...] = ()
    for number, entry in enumerate(nights, 1):
        past = Past(entry, tuple(nights[:number]), baseline, told)
        report = judged(SCENARIO, MEASURED, None, past, 0.0)
        told = (*told, *told_by(report))
        (expectation,) = report.expectations
        found.append((expectation.state, expectation.kept))
    return found


def test_a_step_that_lasts_is_told_once_and_over_only_when_the_old_level_is_back() -> None:
    calm = [night(day, 10.0 + 0.02 * (day % 3)) for day in range(8)]
    slow = [night(day, 15.0) for day in range(8, 20)]
    back = [night(day, 10.0) for day in range(20, 22)]
    states = after([*calm, *slow, *back])
    assert states[8:20] == [("new", False), *[("standing", False)] * 11]
    assert states[20:] == [("ended", True), (None, True)]


def test_a_baseline_that_is_chosen_later_is_what_counts_from_then_on() -> None:
    calm = [night(day, 10.0 + 0.02 * (day % 3)) for day in range(8)]
    slow = [night(day, 15.0) for day in range(8, 12)]
    last = slow[-1]
    told = (Told(EXPECTATION, "index", slow[0].id, "new", night=slow[0].id),)
    nights = (*calm, *slow)
    accepted = judged(SCENARIO, MEASURED, None, Past(last, nights, slow[1].id, told), 0.0)
    assert [(each.state, each.kept) for each in accepted.expectations] == [("ended", True)]
    assert accepted.against == f"the baseline {slow[1].id}"


def test_of_skipped_and_interrupted_nights_nothing_is_judged() -> None:
    entry = night(3)
    past = Past(entry, (night(1), night(2), entry), None, ())
    skipped = judged(SCENARIO, SKIPPED, None, past, 5.0)
    stopped = replace(entry, status="interrupted")
    interrupted = judged(SCENARIO, MEASURED, None, replace(past, entry=stopped), 0.0)
    for report in (skipped, interrupted):
        assert (report.beside, report.expectations, report.changes, report.failure) == ((), (), (), None)


def test_a_failed_night_is_told_as_one_and_remembered() -> None:
    entry = replace(night(3), took=(), status="failed")
    past = Past(entry, (night(1), night(2), entry), None, ())
    report = judged(SCENARIO, "failed", None, past, 0.0)
    assert report.failure == "new"
    assert told_by(report) == (Told(FAILURE, "lab", entry.id, "new", None, entry.id),)


def test_nights_that_fail_whole_are_told_as_failures_only() -> None:
    calm = [night(day, 10.0 + 0.02 * (day % 3)) for day in range(1, 21)]
    failed = [replace(night(day, 10.0), took=(), status="failed") for day in range(21, 25)]
    back = [night(day, 10.0) for day in range(25, 28)]
    nights = [*calm, *failed, *back]
    told: tuple[Told, ...] = ()
    heard: list[tuple[int, str, str]] = []
    for number, entry in enumerate(nights, 1):
        outcome = "failed" if entry.status == "failed" else MEASURED
        report = judged(SCENARIO, outcome, None, Past(entry, tuple(nights[:number]), None, told), 0.0)
        heard += [(number, each.kind, each.state) for each in told_by(report) if each.kind != EXPECTATION]
        told = (*told, *told_by(report))
    assert heard == [(21, FAILURE, "new"), (25, FAILURE, "ended")]
