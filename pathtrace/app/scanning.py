"""The nightly recipe: wait for the turn, measure, hold it against what was, judge, tell, keep.

A night that was skipped or failed is kept too. Only what comes after the measuring gives way to others.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pathtrace import app
from pathtrace.app import quiet
from pathtrace.app.idle import be_idle
from pathtrace.app.scanning_locks import ScanLocks, lock_folder
from pathtrace.app.scanning_night import Draft, Scanned, keep
from pathtrace.app.scanning_turn import Patience, wait_for_turn
from pathtrace.app.scratch import remove_abandoned
from pathtrace.app.telling import tell_start
from pathtrace.errors import PathtraceError
from pathtrace.model.history import FAILED, INTERRUPTED, SKIPPED
from pathtrace.model.report import Caveat
from pathtrace.model.scanning import MEASURED
from pathtrace.model.scenario import Scenario
from pathtrace.ports import Progress
from pathtrace.replay.stop import StopRequest

if TYPE_CHECKING:
    from pathtrace.app.probing import Probing

UNLOCKED = "unlocked"

clock = time.perf_counter_ns


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a scan is to go about it."""

    label: str | None
    patience: Patience


async def scan(
    scenario: Scenario,
    store: Path,
    environ: Mapping[str, str],
    wanted: Wanted,
    *,
    progress: Progress,
    stop: StopRequest,
    probing: Probing,
) -> Scanned:
    """One night. What ended it is in the result, not raised, so that it can be kept and told first."""
    began = _Began(scenario, store, datetime.now(UTC), clock())
    with ScanLocks(store, lock_folder(environ), scenario.name) as locks:
        try:
            turn = await wait_for_turn(
                locks, wanted.patience, lambda: quiet.sample(scenario.here.name, clock), clock, progress, stop
            )
        except PathtraceError as error:
            return await keep(began.failed(error), (), clock)
        began = _Began(scenario, store, began.at, clock(), turn.waited_s)
        if turn.busy is not None:
            return await keep(began.skipped(turn.busy, wanted.label), (), clock)
        return await _measured(began, wanted, _doubts(locks), progress, stop, probing)


async def _measured(
    began: _Began,
    wanted: Wanted,
    doubts: tuple[Caveat, ...],
    progress: Progress,
    stop: StopRequest,
    probing: Probing,
) -> Scanned:
    doubts = (*doubts, *await tell_start(began.scenario))
    try:
        remove_abandoned(began.store)
        outcome = await app.run(
            began.scenario,
            began.store,
            label=wanted.label,
            progress=progress,
            stop=stop,
            probing=probing,
            measured=be_idle,
        )
    except PathtraceError as error:
        be_idle()
        return await keep(began.failed(error, wanted.label), doubts, clock)
    return await keep(began.measured(outcome), doubts, clock)


def _doubts(locks: ScanLocks) -> tuple[Caveat, ...]:
    if locks.unlocked is None:
        return ()
    text = "that no other scan goes on is not known: the file system there has no locks"
    return (Caveat(UNLOCKED, text, "see to it that scans do not start at the same time", locks.unlocked),)


@dataclass(frozen=True, slots=True)
class _Began:
    """A night that has begun, and what becomes of it."""

    scenario: Scenario
    store: Path
    at: datetime
    began_ns: int
    waited_s: float = 0.0

    def skipped(self, why: str, label: str | None = None) -> Draft:
        return self._draft(SKIPPED, label, reason=why)

    def failed(self, error: PathtraceError, label: str | None = None) -> Draft:
        return self._draft(FAILED, label, reason=str(error), error=error)

    def measured(self, outcome: app.Outcome) -> Draft:
        """A run of which nothing could be measured is a scan that failed."""
        measured = any(hop.duration_s is not None for hop in outcome.report.hops)
        if measured or outcome.run.status == INTERRUPTED:
            return self._draft(MEASURED, outcome.run.label, run=outcome)
        faults = [each.fault for each in outcome.run.reached if each.fault is not None]
        reason = next(iter((*faults, *outcome.run.faults)), "nothing could be measured")
        return self._draft(FAILED, outcome.run.label, reason=reason, run=outcome)

    def _draft(
        self,
        outcome: str,
        label: str | None,
        *,
        reason: str | None = None,
        run: app.Outcome | None = None,
        error: PathtraceError | None = None,
    ) -> Draft:
        return Draft(
            scenario=self.scenario,
            store=self.store,
            at=self.at,
            began_ns=self.began_ns,
            waited_s=self.waited_s,
            outcome=outcome,
            label=label,
            reason=reason,
            run=run,
            error=error,
        )
