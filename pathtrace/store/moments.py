"""Moments as the store writes them, and names of folders that sort as time does.

Where the clock was set back, a new folder is named just after the latest one: the order of names stays the
order in which runs were made. What the clock said stands in the run itself.
"""

from __future__ import annotations

import os
import re
import secrets
import string
from datetime import UTC, datetime, timedelta
from pathlib import Path

FARTHEST_BACK = timedelta(hours=25)
"""By so much at most a clock is taken to have been set back: a time zone, a summer time. A folder that is
further ahead was named by a clock that was wrong."""

_NAME = re.compile(r"\d{8}-\d{6}-[a-z0-9]+")
_STAMP = "%Y%m%d-%H%M%S"
_STAMPED = 15
_LETTERS = string.ascii_lowercase + string.digits


def moment(text: str) -> datetime:
    """A moment of ISO 8601; without a time zone it is UTC. ValueError."""
    read = datetime.fromisoformat(text)
    return read if read.tzinfo is not None else read.replace(tzinfo=UTC)


def written(at: datetime) -> str:
    """In ISO 8601, UTC, to the second."""
    return at.astimezone(UTC).isoformat(timespec="seconds")


def named_at(name: str) -> datetime | None:
    """The moment that a folder's name begins with; None if it does not."""
    if not _NAME.fullmatch(name):
        return None
    try:
        return datetime.strptime(name[:_STAMPED], _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None


def next_name(store: Path, now: datetime) -> str:
    """A name for a new folder: this moment's, or just after the latest one's if that is no earlier."""
    latest = max((name for name in _listed(store) if _NAME.fullmatch(name)), default="")
    at, last = now.astimezone(UTC).replace(microsecond=0), named_at(latest)
    if last is not None and at <= last <= at + FARTHEST_BACK:
        at = last + timedelta(seconds=1)
    suffix = "".join(secrets.choice(_LETTERS) for _ in range(4))
    return f"{at:{_STAMP}}-{suffix}"


def _listed(store: Path) -> list[str]:
    try:
        return os.listdir(store)
    except OSError:  # whoever makes the folder says why it cannot
        return []
