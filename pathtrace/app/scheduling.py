"""Adds, lists and removes schedules, and makes the scheduler in the foreground. Prints nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from pathtrace.app.scheduling_jobs import Asked, job_of, require_start
from pathtrace.app.scheduling_seen import doubts_of, scheduled_as, told_of, when_of
from pathtrace.errors import UsageError
from pathtrace.model.schedule import SYSTEM, USER, ScheduleReport
from pathtrace.scheduling import env_file, metadata
from pathtrace.scheduling.foreground import Clock, Foreground, Start, begin, pause
from pathtrace.scheduling.holders import Found, Holder, holder_for, holders, is_root
from pathtrace.scheduling.times import now_here, now_of_host


def add(asked: Asked, environ: Mapping[str, str], *, dry_run: bool) -> ScheduleReport:
    """Schedule a scan, in place of an earlier schedule of the same scenario; or say what would be written.

    UsageError and ScenarioError before anything is written, StoreError if it cannot be.
    """
    job, times = job_of(asked, environ)
    holder = holder_for(asked.scope or _own_scope(), asked.kind, environ)
    require_start(job)
    written = holder.plan(job, times)
    to_type: tuple[str, ...] = ()
    replaced, elsewhere = _others(holder, job.name, environ)
    if not dry_run:
        to_type = holder.add(job, times)
        for other in replaced:
            to_type += other.remove(job.name)
    written += tuple(each for other in replaced for each in other.removal(job.name))
    found = Found(job.name, "", None, tuple(each.path for each in written if each.text is not None))
    scheduled = scheduled_as(
        holder, found._replace(when=when_of(holder, times), told=told_of(job, times)), now_of_host()
    )
    caveats = (*doubts_of(asked, holder, scheduled, environ), *map(_doubled, elsewhere))
    return ScheduleReport("add", dry_run, (scheduled,), written, to_type, caveats)


def listed(environ: Mapping[str, str]) -> ScheduleReport:
    """All schedules of ours that can be seen. What cannot be read is a caveat."""
    now = now_of_host()
    held, faults = _held(environ, None)
    schedules = tuple(scheduled_as(holder, found, now) for holder, found in held)
    return ScheduleReport("list", False, schedules, caveats=tuple(map(str, faults)))


def remove(what: str, scope: str | None, environ: Mapping[str, str], *, dry_run: bool) -> ScheduleReport:
    """Take a scenario's schedule, or that of a name, out of all that hold it. UsageError if none does."""
    now = now_of_host()
    names = {what, metadata.name_of(os.path.abspath(what))}
    held, faults = _held(environ, scope)
    matching = [(holder, found) for holder, found in held if found.name in names]
    if not matching and faults:
        raise faults[0]
    if not matching:
        there = ", ".join(sorted({found.name for _, found in held})) or "none"
        raise UsageError(f"there is no schedule of {what!r}", hint=f"there are: {there}")
    if any(holder.scope == SYSTEM for holder, _ in matching) and not is_root():
        raise UsageError("it is a schedule of the system: taking it away needs root", hint="try it with sudo")
    schedules = tuple(scheduled_as(holder, found, now) for holder, found in matching)
    written = tuple(each for holder, found in matching for each in holder.removal(found.name))
    to_type: tuple[str, ...] = ()
    if not dry_run:
        to_type = tuple(line for holder, found in matching for line in holder.remove(found.name))
    return ScheduleReport("remove", dry_run, schedules, written, to_type)


def foreground(asked: Asked, environ: Mapping[str, str], tell: Callable[[str], None]) -> Foreground:
    """A scheduler that starts the scan itself, with this process's own variables."""
    job, times = job_of(asked, environ, with_own=True)

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
