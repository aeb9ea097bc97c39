"""Timers of systemd as their files say, enabled ones only, and what their calendars mean.

Files are read rather than the manager asked, so that a timer's own delay and command are known too.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pathtrace.errors import UsageError
from pathtrace.scheduling import programs
from pathtrace.units import parse_duration

_FOLDERS = ("etc/systemd/system", "run/systemd/system", "usr/local/lib/systemd/system",
            "usr/lib/systemd/system", "lib/systemd/system")  # fmt: skip
_USER_FOLDERS = ("etc/systemd/user", "usr/lib/systemd/user")
_IN_UTC = re.compile(r"\(in UTC\):\s+\S+\s+(\S+ \S+) UTC")
_IN_UTC_ITSELF = re.compile(r"(?:Next elapse|Iter\. #\d+|Iteration #\d+):\s+\S+\s+(\S+ \S+) UTC")
_ITERATIONS = 70
_SPAN_WORDS = {"m": "min", "hr": "h", "hour": "h", "hours": "h", "minutes": "min", "minute": "min",
               "sec": "s", "second": "s", "seconds": "s", "day": "d", "days": "d", "msec": "ms"}  # fmt: skip


class Timer(NamedTuple):
    name: str
    source: str
    calendars: tuple[str, ...]
    late_s: float
    """RandomizedDelaySec."""
    command: str
    """What its service starts."""


def enabled_timers(root: Path) -> Iterator[Timer]:
    """Those that some target wants, of the host and of the user who asks."""
    own = os.path.join(os.path.expanduser("~"), ".config/systemd/user").lstrip("/")
    for folders in (_FOLDERS, (own, *_USER_FOLDERS)):
        for name in sorted(_wanted(root, folders)):
            timer = _timer(root, folders, name)
            if timer is not None and timer.calendars:
                yield timer


def _wanted(root: Path, folders: Iterable[str]) -> set[str]:
    links = (path for folder in folders for path in (root / folder).glob("*.target.wants/*.timer"))
    return {path.name for path in links}


def _timer(root: Path, folders: tuple[str, ...], name: str) -> Timer | None:
    lines = _lines(root, folders, name)
    if lines is None:
        return None
    service = _last(lines, "Unit") or f"{name.removesuffix('.timer')}.service"
    commands = _lines(root, folders, service) or []
    late = _seconds(_last(lines, "RandomizedDelaySec") or "0")
    source = "unit of systemd" if folders is _FOLDERS else "unit of the user"
    return Timer(
        name, source, tuple(_values(lines, "OnCalendar")), late, " ".join(_values(commands, "ExecStart"))
    )


def _lines(root: Path, folders: Iterable[str], name: str) -> list[str] | None:
    """A unit's lines with those of its drop-ins behind; None if there is no such file, or it is masked."""
    template = re.sub(r"@[^.]*\.", "@.", name)
    for folder in folders:
        for each in dict.fromkeys((name, template)):
            text = _text(root, root / folder / each)
            if text is not None:
                drop_ins = [
                    _text(root, path) or ""
                    for other in folders
                    for path in sorted((root / other / f"{name}.d").glob("*.conf"))
                ]
                return "\n".join([text, *drop_ins]).splitlines() if text else None
    return None


def _text(root: Path, path: Path) -> str | None:
    """A link that leads to an absolute path counts from ``root``."""
    with contextlib.suppress(OSError):
        if path.is_symlink() and os.path.isabs(target := os.readlink(path)):
            path = root / target.lstrip("/")
        return "" if str(path).endswith("dev/null") else path.read_text(encoding="utf-8", errors="replace")
    return None


def _values(lines: Iterable[str], key: str) -> list[str]:
    """All values of a key; an empty one takes away those before it."""
    found: list[str] = []
    for line in lines:
        name, sign, value = line.partition("=")
        if sign and name.strip() == key:
            found = [*found, value.strip()] if value.strip() else []
    return found


def _last(lines: Iterable[str], key: str) -> str | None:
    values = _values(lines, key)
    return values[-1] if values else None


def _seconds(text: str) -> float:
    """A span as systemd writes it; 0 if it is not understood."""
    spelled = re.sub(r"[a-z]+", lambda word: _SPAN_WORDS.get(word[0], word[0]), text)
    try:
        return parse_duration(spelled)
    except UsageError:
        return 0


def calendar_moments(calendars: Iterable[str], now: datetime) -> dict[str, tuple[datetime, ...]]:
    """The next moments of each calendar, by systemd-analyze; of one that it does not take, none."""
    return {each: _moments(each, now) for each in dict.fromkeys(calendars)}


def _moments(calendar: str, now: datetime) -> tuple[datetime, ...]:
    since = now.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    words = [
        "systemd-analyze",
        "calendar",
        f"--iterations={_ITERATIONS}",
        f"--base-time={since}",
        "--",
        calendar,
    ]
    text = programs.run(words).out.decode("utf-8", "replace")
    said = _IN_UTC.findall(text) or _IN_UTC_ITSELF.findall(text)
    moments = (datetime.strptime(f"{each}+0000", "%Y-%m-%d %H:%M:%S%z") for each in said)
    return tuple(moment.astimezone(now.tzinfo) for moment in moments)
