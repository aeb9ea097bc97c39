"""What a run would take after a change: the change as asked for, times with a range, what is not known.

Field names are those of the ``pathtrace.whatif/1`` document wherever that has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Changed(StrEnum):
    """What kind of thing a change is made to."""

    LINK = "link"
    LATENCY = "latency"
    DISK = "disk"
    BATCH = "batch"
    DEPTH = "depth"
    WORKERS = "workers"
    LOADED = "loaded"


@dataclass(frozen=True, slots=True)
class Change:
    """``before`` None: not known. ``unit`` is bytes_per_s, s, count or flag (0 and 1)."""

    kind: Changed
    resource: str
    """``link:lan``, ``link:lan.latency``, ``disk:archive``, ``library.batch``."""
    subject: str
    """The link's or place's name."""
    before: float | None
    after: float
    unit: str
    source: str | None = None
    """Where the new value comes from; None: not said."""

    @property
    def improves(self) -> bool:
        """True if nothing can take longer by it: faster, shorter, or more at once."""
        if self.kind is Changed.LOADED:
            return True
        if self.before is None:
            return False
        return self.after <= self.before if self.kind is Changed.LATENCY else self.after >= self.before


@dataclass(frozen=True, slots=True)
class Range:
    expected: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """The recorded operations played again without a change, against what was measured."""

    measured_s: float
    simulated_s: float

    @property
    def error(self) -> float:
        """simulated / measured - 1."""
        return self.simulated_s / self.measured_s - 1 if self.measured_s else 0.0


@dataclass(frozen=True, slots=True)
class FlowPrediction:
    name: str
    before_s: float
    after_s: Range
    bottleneck_after: str
    self_check: SelfCheck
    request: tuple[float, float] | None
    """Seconds that one request takes, before and after; of per-request flows."""
    seconds_per_day_saved: float

    @property
    def speedup(self) -> float | None:
        """before / after; None if nothing would be left of it."""
        return self.before_s / self.after_s.expected if self.after_s.expected else None


@dataclass(frozen=True, slots=True)
class Unknown:
    """What hides a part of the answer, and what would show it."""

    what: str
    measure: str


@dataclass(frozen=True, slots=True)
class Prediction:
    run: str
    changes: tuple[Change, ...]
    self_check: SelfCheck
    """Over all flows that are predicted."""
    flows: tuple[FlowPrediction, ...]
    seconds_per_day_saved: float
    unknowns: tuple[Unknown, ...]
    unchanged: tuple[str, ...]
    """What stays as it is, in words."""
