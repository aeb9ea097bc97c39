"""What one scan found: the night, what it was held against, what was expected, what changed."""

from __future__ import annotations

from dataclasses import dataclass

from pathtrace.model.history import Change, HistoryEntry

MEASURED = "measured"
"""Outcome of a scan beside ``SKIPPED`` and ``FAILED``."""

EXPECTATION, FAILURE = "expectation", "failure"
"""Kinds of what a night tells beside the kinds of change: a broken line of ``expect``; a scan that failed."""


NOT_TOLD = "not-told"
"""Code of the caveat on a way of telling that failed."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A flow or hop beside the baseline. ``ratio``: time now / time then."""

    name: str
    now_s: float
    then_s: float
    ratio: float
    low: float
    high: float
    verdict: str
    """faster, slower, same or unclear."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A line of ``expect`` and what became of it. ``kept``: None where it could not be judged."""

    name: str
    said: str
    """``2 min`` or ``+20%``."""
    limit_s: float | None
    measured_s: float | None
    kept: bool | None
    reason: str | None = None
    state: str | None = None
    """Of its being broken: ``NEW``, ``STANDING`` or ``ENDED``; new and ended ones are to be told."""


@dataclass(frozen=True, slots=True)
class ScanReport:
    """``outcome``: measured, skipped or failed. ``against``: in words, None where there was nothing yet."""

    entry: HistoryEntry
    host: str
    outcome: str
    scan_s: float
    """All that the scan took, waiting apart."""
    waited_s: float
    against: str | None = None
    beside: tuple[Beside, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    changes: tuple[Change, ...] = ()
    """New, standing and ended ones; new and ended ones are to be told."""
    question: str | None = None
    failure: str | None = None
    """Of scans that fail: ``NEW``, ``STANDING`` or ``ENDED``, told as changes are; None where none did."""


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody is told, in words that stand alone. ``good``: that something is over, or faster."""

    title: str
    body: str
    good: bool
