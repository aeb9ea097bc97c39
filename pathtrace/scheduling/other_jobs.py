"""What else starts by itself on this host: lines of cron and timers of systemd, with their next moments.

Reads files, and asks systemd-analyze what calendars mean; changes nothing. What cannot be read is passed by.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pathtrace.errors import UsageError
from pathtrace.scheduling import cron, known_jobs
from pathtrace.scheduling.cron_lines import CronLine, cron_lines
from pathtrace.scheduling.timer_files import Timer, calendar_moments, enabled_timers
from pathtrace.scheduling.times import next_moments

LOOKED_AT = timedelta(days=35)
"""So far ahead: monthly jobs are among them."""
_MOST_MOMENTS = 400
_HOURLY = 24
_SPOOLS = ("var/spool/cron/crontabs", "var/spool/cron")
_RUN_PARTS = re.compile(r"run-parts\s+(?:-\S+\s+)*(/etc/cron\.[a-z]+)")
_NOT_UNDER_SYSTEMD = re.compile(r"-[ed] /run/systemd/system (?:\]\s*)?\|\|")
_LONGEST = 60
_BEFORE_THE_COMMAND = re.compile(r"^.*(?:\|\||&&)\s*\{?\s*")
"""What only asks whether the command is wanted, or where."""


@dataclass(frozen=True, slots=True)
class OtherJob:
    """``starts``: its next moments, in order; it may start ``late_s`` later and lasts ``lasts_s`` or so."""

    what: str
    source: str
    known: str | None
    starts: tuple[datetime, ...]
    late_s: float
    lasts_s: float


def other_jobs(root: Path, now: datetime, own: str, booted: bool) -> tuple[OtherJob, ...]:
    """All but ``own``. ``booted``: whether systemd runs here, so that its timers count.

    Jobs that nothing is known of and that come hourly or oftener are left out: no time is free of them.
    """
    found = [*_of_cron(root, now, own, booted)]
    if booted:
        found += _of_timers(root, now, own)
    return tuple(job for job in found if job.starts and (job.known is not None or not _is_frequent(job, now)))


def _is_frequent(job: OtherJob, now: datetime) -> bool:
    return sum(start <= now + timedelta(days=1) for start in job.starts) >= _HOURLY


def _of_cron(root: Path, now: datetime, own: str, booted: bool) -> Iterator[OtherJob]:
    for source, data, user_fields in _tables(root):
        for line in cron_lines(data, user_fields):
            if line.own == own or (booted and _NOT_UNDER_SYSTEMD.search(line.command)):
                continue
            yield from _cron_job(root, source, line, now)


def _cron_job(root: Path, source: str, line: CronLine, now: datetime) -> Iterator[OtherJob]:
    try:
        moments = next_moments(line.times, now, _MOST_MOMENTS)
    except UsageError:
        return
    known = known_jobs.known(" ".join([line.command, *_parts(root, line.command)]))
    yield OtherJob(
        line.own or _shortened(line.command),
        source,
        known.what if known else None,
        _within(moments, now),
        0,
        known.lasts_s if known else known_jobs.UNKNOWN_LASTS_S,
    )


def _shortened(command: str) -> str:
    plain = _BEFORE_THE_COMMAND.sub("", command).rstrip(" ;}")
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"


def _parts(root: Path, command: str) -> list[str]:
    """The scripts that a line of run-parts starts."""
    match = _RUN_PARTS.search(command)
    if match is None:
        return []
    try:
        return sorted(os.listdir(root / match[1].lstrip("/")))
    except OSError:
        return []


def _tables(root: Path) -> Iterator[tuple[str, bytes, int]]:
    """Every crontab that may be read: where it is, what it holds, whether its lines name a user."""
    files = [root / "etc/crontab"]
    files += [path for path in _entries(root / "etc/cron.d") if "." not in path.name]
    for path in files:
        if (data := _content(path)) is not None:
            yield _shown(root, path), data, 1
    spooled = False
    for folder in _SPOOLS:
        for path in _entries(root / folder):
            if path.is_file() and (data := _content(path)) is not None:
                spooled = True
                yield f"crontab of {path.name}", data, 0
    if not spooled and root == Path("/") and cron.is_installed():
        try:
            yield "crontab of the user", cron.UserTable().read(), 0
        except UsageError:
            return


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _shown(root: Path, path: Path) -> str:
    return f"/{path.relative_to(root)}"


def _of_timers(root: Path, now: datetime, own: str) -> Iterator[OtherJob]:
    timers = [timer for timer in enabled_timers(root) if timer.name != f"{own}.timer"]
    moments = calendar_moments((each for timer in timers for each in timer.calendars), now)
    for timer in timers:
        known = known_jobs.known(f"{timer.name} {timer.command}")
        yield OtherJob(
            timer.name,
            timer.source,
            known.what if known else None,
            _within(_all_of(timer, moments), now),
            timer.late_s,
            known.lasts_s if known else known_jobs.UNKNOWN_LASTS_S,
        )


def _all_of(timer: Timer, moments: dict[str, tuple[datetime, ...]]) -> Iterable[datetime]:
    return sorted(moment for each in timer.calendars for moment in moments.get(each, ()))


def _within(moments: Iterable[datetime], now: datetime) -> tuple[datetime, ...]:
    return tuple(moment for moment in moments if moment <= now + LOOKED_AT)
