"""Other people's lines of cron: when and what, as far as they can be read. What cannot is passed by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_ASSIGNMENT = re.compile(r"\s*[A-Za-z_][A-Za-z0-9_]*\s*=|\s*[\"'][^\"']+[\"']\s*=")
_MARK = re.compile(r"# pathtrace schedule ([a-z0-9-]+) (begin|end)")
_FIELDS = 5


class CronLine(NamedTuple):
    times: str
    """Five fields."""
    command: str
    own: str | None
    """The schedule of ours that it belongs to."""


def cron_lines(data: bytes, user_fields: int) -> Iterator[CronLine]:
    """The jobs of a crontab. ``user_fields``: 1 where lines name a user before the command, else 0."""
    own: str | None = None
    for line in data.decode("utf-8", "replace").split("\n"):
        mark = _MARK.match(line)
        if mark is not None:
            own = mark[1] if mark[2] == "begin" else None
        elif line.strip() and not line.lstrip().startswith("#") and not _ASSIGNMENT.match(line):
            found = _job(line.strip().lstrip("-"), user_fields)
            if found is not None:
                yield CronLine(*found, own)


def _job(line: str, user_fields: int) -> tuple[str, str] | None:
    words = line.split(None, 1)
    nickname = _NICKNAMES.get(words[0].lower())
    if nickname is not None:
        return nickname, _after(words[1:], user_fields)
    fields = line.split(None, _FIELDS)
    if line.startswith("@") or len(fields) <= _FIELDS:
        return None
    return " ".join(fields[:_FIELDS]), _after(fields[_FIELDS:], user_fields)


def _after(rest: Iterable[str], user_fields: int) -> str:
    words = " ".join(rest).split(None, user_fields)
    return " ".join(words[-1].split()) if words else ""
