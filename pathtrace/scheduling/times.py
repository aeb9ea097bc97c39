"""When a scan starts: what people write, five fields of cron, OnCalendar of systemd, and the next moments.

cronsim reckons the moments, by the rules of Debian's cron where a clock is put forward or back.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

from pathtrace.errors import UsageError
from pathtrace.units import format_duration, parse_duration

MINUTE_S, HOUR_S, DAY_S, WEEK_S = 60, 3600, 86_400, 7 * 86_400

_AT = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")
_NIGHT_HOURS = (3, 4)
"""After clocks are put forward or back, before Debian's own jobs of the day."""
_OFF_THE_HOUR = tuple(minute for minute in range(60) if minute % 5)
_DAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
_LONG_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_GREATEST_DELAY_S = 600


@dataclass(frozen=True, slots=True)
class Times:
    """``every_s`` divides a day into whole minutes, or is a week; what starts first is at ``hour:minute``."""

    every_s: int
    hour: int
    minute: int
    weekday: int = 0
    """0: Sunday. Counts for a week only."""

    @property
    def cron(self) -> str:
        """The five fields."""
        if self.every_s < HOUR_S:
            step = self.every_s // MINUTE_S
            return f"{_steps(self.minute, step, 59)} * * * *"
        if self.every_s < DAY_S:
            return f"{self.minute} {_steps(self.hour, self.every_s // HOUR_S, 23)} * * *"
        day = "*" if self.every_s == DAY_S else str(self.weekday)
        return f"{self.minute} {self.hour} * * {day}"

    @property
    def calendar(self) -> str:
        """The value of OnCalendar."""
        if self.every_s < HOUR_S:
            step = self.every_s // MINUTE_S
            return f"*-*-* *:{self.minute % step:02}/{step}:00"
        if self.every_s < DAY_S:
            step = self.every_s // HOUR_S
            return f"*-*-* {self.hour % step:02}/{step}:{self.minute:02}:00"
        day = "" if self.every_s == DAY_S else f"{_DAYS[self.weekday]} "
        return f"{day}*-*-* {self.hour:02}:{self.minute:02}:00"

    @property
    def said(self) -> str:
        """For people."""
        at = f"{self.hour:02}:{self.minute:02}"
        if self.every_s == WEEK_S:
            return f"every {_LONG_DAYS[self.weekday]} at {at}"
        if self.every_s == DAY_S:
            return f"every day at {at}"
        if self.every_s < HOUR_S:
            return f"every {format_duration(self.every_s)}"
        return f"every {format_duration(self.every_s)}, {self.minute} min past the hour"

    @property
    def delay_s(self) -> int:
        """How much later a timer may start by chance, so that not all hosts ask one NAS at once."""
        return min(_GREATEST_DELAY_S, self.every_s // 10)


def chosen(at: str | None, every: str | None, seed: bytes) -> Times:
    """What was asked for; what was left open is drawn from ``seed`` (host and scenario), always the same.

    UsageError: both given, no time of day, or a span that neither cron nor a calendar can hold.
    """
    if at is not None and every is not None:
        raise UsageError("--at and --every exclude each other", hint="--at 03:17 is every day at that time")
    drawn = int.from_bytes(hashlib.sha256(seed).digest()[:8], "big")
    hour = _NIGHT_HOURS[drawn % len(_NIGHT_HOURS)]
    minute = _OFF_THE_HOUR[drawn // 16 % len(_OFF_THE_HOUR)]
    if at is not None:
        hour, minute = _time_of_day(at)
    return Times(DAY_S if every is None else _span(every), hour, minute, drawn // 4096 % 7)


def _time_of_day(text: str) -> tuple[int, int]:
    match = _AT.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"--at {text!r} is not a time of day", hint="write hours and minutes, as in 03:17")
    return int(match[1]), int(match[2])


def _span(text: str) -> int:
    try:
        span = parse_duration(text)
    except UsageError as error:
        raise UsageError(f"--every {error}", hint=error.hint) from error
    if span == WEEK_S or (span >= MINUTE_S and DAY_S % span == 0 and _is_whole(span)):
        return int(span)
    raise UsageError(
        f"--every {text!r} is no span that a calendar can hold",
        hint="1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30 min, 1, 2, 3, 4, 6, 8, 12 or 24 h, or 7 d",
    )


def _is_whole(span: float) -> bool:
    return HOUR_S % span == 0 and span % MINUTE_S == 0 if span < HOUR_S else span % HOUR_S == 0


def _steps(first: int, step: int, last: int) -> str:
    return "*" if step == 1 else f"{first % step}-{last}/{step}"


def next_moments(cron: str, after: datetime, count: int) -> tuple[datetime, ...]:
    """The next ``count`` moments after ``after`` (with its zone) that five fields name; UsageError if bad."""
    from cronsim import CronSim, CronSimError

    with contextlib.suppress(StopIteration):
        try:
            return tuple(itertools.islice(CronSim(cron, after), count))
        except CronSimError as error:
            raise UsageError(f"{cron!r} are not the fields of a cron line: {error}") from error
    return ()


def next_start(times: Times, now: datetime, last: datetime | None) -> datetime:
    """When to start next, however the clock was set meanwhile. ``last``: the moment started for last.

    A clock put back does not repeat a start; one that had been far ahead does not stop them for long.
    """
    after = now
    if last is not None and now < last <= now + timedelta(seconds=times.every_s):
        after = last
    return next_moments(times.cron, after, 1)[0]


def host_zone() -> tzinfo | None:
    """The host's zone with its rules, by which its timers and cron go; else the offset of now."""
    from zoneinfo import ZoneInfo

    with contextlib.suppress(ValueError, OSError), Path("/etc/localtime").open("rb") as file:
        return ZoneInfo.from_file(file)
    return datetime.now().astimezone().tzinfo


def own_zone() -> tzinfo | None:
    """This process's zone: TZ, else the host's."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    named = os.environ.get("TZ", "").removeprefix(":")
    with contextlib.suppress(ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo(named) if named else host_zone()
    return host_zone()


def now_of_host() -> datetime:
    """The wall clock, in the host's zone."""
    return datetime.now(host_zone())


def now_here() -> datetime:
    """The wall clock, in this process's zone."""
    return datetime.now(own_zone())
