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
    COMMIT = "commit"
    BATCH = "batch"
    DEPTH = "depth"
    WORKERS = "workers"
    LOADED = "loaded"
    ACCESS = "access"
    NEW_LINK = "new-link"


@dataclass(frozen=True, slots=True)
class Change:
    """``before`` None: not known. ``unit`` is bytes_per_s, s, count, flag (0 and 1) or access."""

    kind: Changed
    resource: str
    """``link:lan``, ``link:lan.latency``, ``disk:archive``, ``commit:library``, ``library.batch``."""
    subject: str
    """The link's or place's name."""
    before: float | None
    after: float
    unit: str
    source: str | None = None
    """Where the new value comes from: text, date, and whose word it is; None: not said."""
    words: tuple[str, str] | None = None
    """Before and after, where these are no numbers (``unit`` access)."""
    hosts: tuple[str, ...] = ()
    """That a new link joins; ``before`` is then what carries their bytes now."""

    @property
    def improves(self) -> bool:
        """True if nothing can take longer by it: faster, shorter, or more at once."""
        if self.kind is Changed.LOADED:
            return True
        if self.before is None:
            return False
        shorter = self.kind in (Changed.LATENCY, Changed.COMMIT)
        return self.after <= self.before if shorter else self.after >= self.before


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
    after_s: Range | None
    """None: what was recorded does not tell."""
    bottleneck_after: str
    self_check: SelfCheck
    request: tuple[float, float] | None
    """Seconds that one request takes, before and after; of per-request flows."""
    seconds_per_day_saved: float

    @property
    def speedup(self) -> float | None:
        """before / after; None if nothing would be left of it, or it is not known."""
        return self.before_s / self.after_s.expected if self.after_s and self.after_s.expected else None


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
    stand_ins: tuple[str, ...] = ()
    """Places of these flows whose data or work pathtrace made up itself."""
    unmeasured: tuple[str, ...] = ()
    """Flows that no repeat of the run measured to its end, so that nothing is said of them."""


@dataclass(frozen=True, slots=True)
class Price:
    """``currency`` None: not said."""

    amount: float
    currency: str | None


@dataclass(frozen=True, slots=True)
class Upgrade:
    """A change that makes sense for a run, with what it gives. ``settings``: as for ``--set``."""

    settings: tuple[str, ...]
    free: bool
    """True of settings and the like, which cost no money."""
    prediction: Prediction
    people_seconds_per_day_saved: float
    """Of flows that people wait for, and longer than is acceptable to them where that was said."""
    price: Price | None

    @property
    def seconds_per_day_saved_per_price(self) -> float | None:
        """Seconds a day for each unit of money; None without a price."""
        if self.price is None or not self.price.amount:
            return None
        return self.prediction.seconds_per_day_saved / self.price.amount


@dataclass(frozen=True, slots=True)
class Upgrades:
    """Best first: people's waiting before jobs'."""

    run: str
    self_check: SelfCheck
    flows: tuple[FlowPrediction, ...]
    """As they are, with each one's self-check."""
    ranked: tuple[Upgrade, ...]
    without_gain: tuple[Upgrade, ...]
    """Tried, and not worth a second a day, or not 5 % of any flow's time."""
    content: tuple[str, ...]
    """Flows that people wait for no longer than is acceptable to them: nothing needs buying for these."""
    stand_ins: tuple[str, ...] = ()
    median_only: bool = False
    """True of a large run: only each flow's median repeat was played again."""
    left_out: int = 0
    """Changes that were not tried, since the run is too large for it."""
    unsaid: tuple[Unknown, ...] = ()
    """What would have to be known to say anything of changes that might make sense, and of flows that were
    not measured to their end."""
