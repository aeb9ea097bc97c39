"""Joins what ``analysis`` says of a night: beside the baseline, as expected or not, changed or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathtrace.analysis.nightly.beside import beside, reference
from pathtrace.analysis.nightly.expectations import judge, standing, state_of
from pathtrace.model.history import (
    CREEP,
    ENDED,
    FAILED,
    GROWTH,
    INTERRUPTED,
    NEW,
    OUTAGE,
    SKIPPED,
    STEP,
    Change,
    HistoryEntry,
    Told,
)
from pathtrace.model.scanning import EXPECTATION, FAILURE, Beside, ScanReport
from pathtrace.model.scenario import Scenario

if TYPE_CHECKING:
    from pathtrace.app import Outcome

_CHANGES = frozenset({STEP, CREEP, OUTAGE, GROWTH})
_NEWS = (NEW, ENDED)


@dataclass(frozen=True, slots=True)
class Past:
    """Tonight, all nights of the scenario with it, the chosen baseline, and what earlier nights told."""

    entry: HistoryEntry
    nights: tuple[HistoryEntry, ...]
    baseline: str | None
    told: tuple[Told, ...]


def judged(scenario: Scenario, outcome: str, run: Outcome | None, past: Past, waited_s: float) -> ScanReport:
    """The night's report, but for how long the scan took. Of a skipped or interrupted night nothing is
    judged."""
    from pathtrace.analysis.nightly.nights import changes

    entry = past.entry
    bare = ScanReport(entry, scenario.here.name, outcome, 0.0, waited_s, question=scenario.question)
    if outcome == SKIPPED or entry.status == INTERRUPTED:
        return bare
    against = reference(entry, past.nights, past.baseline)
    besides = () if against is None else beside(entry, against, past.nights)
    return ScanReport(
        entry=entry,
        host=bare.host,
        outcome=outcome,
        scan_s=0.0,
        waited_s=waited_s,
        against=None if against is None else against.words,
        beside=besides,
        expectations=judge(
            scenario, run.report if run is not None else None, _lasting(besides, past), past.told
        ),
        changes=_besides_failures(
            changes(past.nights, [each for each in past.told if each.kind in _CHANGES]), past.nights
        ),
        question=scenario.question,
        failure=state_of(outcome == FAILED, bool(standing(past.told, FAILURE))),
    )


def _besides_failures(found: Sequence[Change], nights: Sequence[HistoryEntry]) -> tuple[Change, ...]:
    """Without new outages that began with a night that failed whole: that was told when it did."""
    failed = {each.id for each in nights if each.status == FAILED}
    return tuple(
        each for each in found if not (each.kind == OUTAGE and each.state == NEW and each.since in failed)
    )


def _lasting(besides: Sequence[Beside], past: Past) -> tuple[Beside, ...]:
    """What is expected is held against what was before it broke: later nights must not make it right."""
    known = {each.name: each for each in besides}
    for name, since in standing(past.told, EXPECTATION).items():
        before = [each for each in past.nights if each.id < since or each.id == past.baseline]
        against = reference(past.entry, before, past.baseline)
        if against is not None:
            known |= {each.name: each for each in beside(past.entry, against, before) if each.name == name}
    return tuple(known.values())


def told_by(report: ScanReport) -> tuple[Told, ...]:
    """What this night tells, to be remembered."""
    night = report.entry.id
    return (
        *_failure(report, night),
        *(
            Told(EXPECTATION, each.name, night, each.state, night=night)
            for each in report.expectations
            if each.state in _NEWS
        ),
        *(
            Told(each.kind, each.name, each.since, each.state, each.ratio, night)
            for each in report.changes
            if each.state in _NEWS
        ),
    )


def _failure(report: ScanReport, night: str) -> Sequence[Told]:
    if report.failure not in _NEWS:
        return ()
    return (Told(FAILURE, report.entry.scenario, night, report.failure, night=night),)
