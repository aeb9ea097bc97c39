"""One thing that is to be told, and how its names and nights are written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo


@dataclass(frozen=True, slots=True)
class News:
    """``headline`` continues "household-archive on workstation: "; ``about`` is the flow or hop.

    ``check``: the next thing to do is ``pathtrace check``.
    """

    headline: str
    lines: tuple[str, ...]
    good: bool
    about: str | None = None
    check: bool = False


def named(name: str) -> str:
    """``index``, ``archive->indexer of index``."""
    flow, _, hop = name.partition("/")
    return f"{hop} of {flow}" if hop else flow


def night(run: str, zone: tzinfo | None) -> str:
    """The day that a run's name stands for in ``zone``: ``Fri 27 Nov 2026``; else the name itself."""
    if not re.match(r"\d{8}-\d{6}", run):
        return run
    try:
        at = datetime.strptime(run[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return run
    return f"{at.astimezone(zone) if zone else at:%a %d %b %Y}"
