"""Which other jobs are at work while a scan is. Pure: from moments and spans, no system touched."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from pathtrace.model.schedule import Collision
from pathtrace.scheduling.other_jobs import OtherJob
from pathtrace.scheduling.times import DAY_S, Times

_TRIED_HOURS = (3, 4, 2, 1, 5, 0, 23, 22, 6, 7)
_TRIED_MINUTES = (17, 37, 52, 8, 23, 44)


def collisions(scans: Sequence[datetime], lasts_s: float, jobs: Sequence[OtherJob]) -> tuple[Collision, ...]:
    """One for each job that meets a scan, the known ones first. ``lasts_s``: from the start that is planned
    until the latest end."""
    found = [each for job in jobs if (each := _first(scans, lasts_s, job)) is not None]
    return tuple(sorted(found, key=lambda each: (each.known is None, each.starts)))


def _first(scans: Sequence[datetime], lasts_s: float, job: OtherJob) -> Collision | None:
    """The first time that job and scan meet. Each is taken from its earliest start to its latest end."""
    before = timedelta(seconds=job.late_s + job.lasts_s)
    after = timedelta(seconds=lasts_s)
    met = [
        (scan, job.starts[position])
        for scan in scans
        if (position := bisect_right(job.starts, scan - before)) < len(job.starts)
        and job.starts[position] < scan + after
    ]
    if not met:
        return None
    scan, start = met[0]
    return Collision(job.what, job.source, job.known, start, scan, len(met))


def free_time(
    times: Times, lasts_s: float, jobs: Sequence[OtherJob], moments: Callable[[str], Sequence[datetime]]
) -> str | None:
    """A time of day at which nothing collides, the night first; None where none was found, or for scans that
    do not come once a day."""
    if times.every_s != DAY_S:
        return None
    for each in _tried(times):
        if not collisions(moments(each.cron), lasts_s, jobs):
            return f"{each.hour:02}:{each.minute:02}"
    return None


def _tried(times: Times) -> Iterator[Times]:
    for hour in _TRIED_HOURS:
        for minute in _TRIED_MINUTES:
            yield replace(times, hour=hour, minute=minute)
