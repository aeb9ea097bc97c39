"""Adds, lists and removes schedules, and makes the scheduler in the foreground. Prints nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pathtrace.app.scheduling_jobs import Asked, job_of, left_to_a_scheduler, require_start
from pathtrace.app.scheduling_seen import doubts_of, scheduled_as, told_of, when_of
from pathtrace.errors import UsageError
from pathtrace.model.schedule import SYSTEM, USER, Job, ScheduleReport, Written
from pathtrace.scheduling import env_file, metadata
from pathtrace.scheduling.foreground import Clock, Foreground, Start, begin, pause
from pathtrace.scheduling.holders import Found, Holder, holder_for, holders, is_root
from pathtrace.scheduling.times import Times, now_here, now_of_host

Held = list[tuple[Holder, Found]]


@dataclass(frozen=True, slots=True)
class _Addition:
    """An addition, looked at from all sides before anything is written."""

    asked: Asked
    job: Job
    times: Times
    holder: Holder
    replaced: tuple[Holder, ...]
    """Who else holds it in the same scope."""
    elsewhere: tuple[Holder, ...]
    """And in the other."""
    written: tuple[Written, ...]

    def report(self, environ: Mapping[str, str]) -> ScheduleReport:
        """As if it had not been carried out, or as it is when it has been."""
        files = tuple(each.path for each in self.written if each.text is not None)
        when, told = when_of(self.holder, self.times), told_of(self.job, self.times)
        scheduled = scheduled_as(self.holder, Found(self.job.name, when, told, files), now_of_host())
        doubts = doubts_of(self.asked, self.holder, scheduled, environ)
        caveats = (*doubts, *map(_doubled, self.elsewhere))
        return ScheduleReport("add", True, (scheduled,), self.written, caveats=caveats)


def add(asked: Asked, environ: Mapping[str, str]) -> ScheduleReport:
    """Schedule a scan, in place of an earlier schedule of the same scenario.

    UsageError and ScenarioError before anything is written, StoreError if it cannot be.
    """
    addition = _addition(asked, environ)
    to_type = addition.holder.add(addition.job, addition.times)
    for other in addition.replaced:
        to_type += other.remove(addition.job.name)
    return replace(addition.report(environ), dry_run=False, to_type=to_type)


def planned_add(asked: Asked, environ: Mapping[str, str]) -> ScheduleReport:
    """What ``add`` would write; nothing is written."""
    return _addition(asked, environ).report(environ)


def _addition(asked: Asked, environ: Mapping[str, str]) -> _Addition:
    job, times = job_of(asked, environ, left_to_a_scheduler(environ))
    holder = holder_for(asked.scope or _own_scope(), asked.kind, environ)
    require_start(job)
    written = holder.plan(job, times)
    replaced, elsewhere = _others(holder, job.name, environ)
    written += tuple(each for other in replaced for each in other.removal(job.name))
    return _Addition(asked, job, times, holder, tuple(replaced), tuple(elsewhere), written)


def listed(environ: Mapping[str, str]) -> ScheduleReport:
    """All schedules of ours that can be seen. What cannot be read is a caveat."""
    now = now_of_host()
    held, faults = _held(environ, None)
    schedules = tuple(scheduled_as(holder, found, now) for holder, found in held)
    return ScheduleReport("list", False, schedules, caveats=tuple(map(str, faults)))


def remove(what: str, scope: str | None, environ: Mapping[str, str]) -> ScheduleReport:
    """Take a scenario's schedule, or that of a name, out of all that hold it. UsageError if none does."""
    matching = _matching(what, scope, environ)
    report = _removal(matching)
    to_type = tuple(line for holder, found in matching for line in holder.remove(found.name))
    return replace(report, dry_run=False, to_type=to_type)


def planned_removal(what: str, scope: str | None, environ: Mapping[str, str]) -> ScheduleReport:
    """What ``remove`` would take away; nothing is."""
    return _removal(_matching(what, scope, environ))


def _removal(matching: Held) -> ScheduleReport:
    now = now_of_host()
    schedules = tuple(scheduled_as(holder, found, now) for holder, found in matching)
    written = tuple(each for holder, found in matching for each in holder.removal(found.name))
    return ScheduleReport("remove", True, schedules, written)


def _matching(what: str, scope: str | None, environ: Mapping[str, str]) -> Held:
    """UsageError if there is none, or none that the caller may change."""
    names = {what, metadata.name_of(os.path.abspath(what))}
    held, faults = _held(environ, scope)
    matching = [(holder, found) for holder, found in held if found.name in names]
    if not matching and faults:
        raise faults[0]
    if not matching:
        there = ", ".join(sorted({found.name for _, found in held}))
        hint = f"there are: {there}" if there else "nothing is scheduled"
        raise UsageError(f"there is no schedule of {what!r}", hint=hint)
    if any(holder.scope == SYSTEM for holder, _ in matching) and not is_root():
        raise UsageError("it is a schedule of the system: taking it away needs root", hint="try it with sudo")
    return matching


def foreground(asked: Asked, environ: Mapping[str, str], tell: Callable[[str], None]) -> Foreground:
    """A scheduler that starts the scan itself, with this process's own variables."""
    job, times = job_of(asked, environ, environ)

    def variables() -> Mapping[str, str]:
        return {**environ, **(env_file.read_env_file(Path(job.env_file)) if job.env_file else {})}

    start = Start(job.words, job.folder, variables)
    tell(f"{times.said}: {job.scenario}")
    return Foreground(times, lambda: begin(start), Clock(now_here, pause), tell)


def _own_scope() -> str:
    return SYSTEM if is_root() else USER


def _held(
    environ: Mapping[str, str], scope: str | None
) -> tuple[list[tuple[Holder, Found]], list[UsageError]]:
    """Every schedule of ours in the scope, or in both; and why some could not be looked at."""
    held: list[tuple[Holder, Found]] = []
    faults: list[UsageError] = []
    for holder in holders(environ):
        if scope in (None, holder.scope):
            try:
                held += [(holder, found) for found in holder.found()]
            except UsageError as error:
                faults.append(error)
    return held, faults


def _others(holder: Holder, name: str, environ: Mapping[str, str]) -> tuple[list[Holder], list[Holder]]:
    """Who else holds it: in the same scope, so that it is replaced, and in the other."""
    others = [
        each
        for each in holders(environ)
        if (each.kind, each.scope) != (holder.kind, holder.scope) and _holds(each, name)
    ]
    same = [each for each in others if each.scope == holder.scope]
    return same, [each for each in others if each.scope != holder.scope]


def _holds(holder: Holder, name: str) -> bool:
    try:
        return any(found.name == name for found in holder.found())
    except UsageError:
        return False


def _doubled(holder: Holder) -> str:
    return f"it is scheduled by {holder.kind} of the {holder.scope} too: take one of them away"
