"""What two runs of one workload say beside each other: times, differences, output, and how sure.

Field names are those of the ``pathtrace.compare/1`` document wherever it has them. Absent knowledge is
``None``, never 0. ``ratio`` is after / before of times: below 1 is faster.
"""

from __future__ import annotations

from dataclasses import dataclass

from pathtrace.model.prediction import Price

FASTER, SLOWER, SAME, UNCLEAR = "faster", "slower", "same", "unclear"
HISTORY, OTHER_WORK = "history", "other work"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing of set-up, environment or workload that is not as it was."""

    what: str
    """``links.lan.speed``, ``workstation.kernel``, ``library.batch``."""
    before: str | None
    after: str | None
    expected: bool
    cause: str
    """What changed, of which this is a part: a link, a host's kernel, a place. Differences share it."""
    matters: bool
    """False: it is listed, and cannot make a flow faster or slower (``repeats``, ``budget``, …)."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """After / before of median times, with its interval of 95 %."""

    ratio: float
    low: float
    high: float
    verdict: str
    """faster, slower, same or unclear."""
    detectable: float | None
    """The least change (0.08 is 8 %) that these repeats and their spread would have shown, 9 times in 10."""
    repeats_needed: int | None
    """Of each run, to show a change of 10 %; None where the spread is not known, or where like runs differ
    by so much anyway that no number would."""
    floor: float | None = None
    """By how much (0.08 is 8 %) two like runs may differ anyway; None where nothing is known of that."""
    floor_from: str | None = None
    """What says so: ``history`` or ``other work`` at a host meanwhile."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A flow, or a hop of one, in both runs. ``ratio`` None: it was not measured in both."""

    flow: str
    name: str
    """The flow's, or the hop's."""
    waits: str
    before_s: float | None
    after_s: float | None
    ratio: Ratio | None
    repeats: tuple[int, int]
    spread: tuple[float | None, float | None]
    """Relative standard deviation of the repeats; None under two of them."""
    errors: tuple[int, int]
    p99_s: tuple[float | None, float | None]
    limited_by: tuple[str, str]
    """A resource before and after: a flow's bottleneck, what a hop is limited by."""

    @property
    def verdict(self) -> str:
        return self.ratio.verdict if self.ratio is not None else UNCLEAR


@dataclass(frozen=True, slots=True)
class OutputDifference:
    """What a hop moved or a flow answered is not what it was."""

    subject: str
    what: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Output:
    """``same`` None: nothing could be compared. ``quality_unchecked``: another model without checks."""

    same: bool | None
    differences: tuple[OutputDifference, ...]
    checks: tuple[float | None, float | None]
    """Share of the scenario's checks that passed, 0 to 1; None where there were none."""
    quality_unchecked: bool


@dataclass(frozen=True, slots=True)
class ActivityPair:
    """Other work on a host meanwhile: CPU in per cent of all cores, and bytes per second of its disks."""

    host: str
    cpu_percent: tuple[float | None, float | None]
    disk_bytes_per_s: tuple[float | None, float | None]
    network_bytes_per_s: tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Foretold:
    """What was predicted of a flow that took ``before_s``."""

    flow: str
    before_s: float
    expected_s: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ForetoldChange:
    """What a prediction was about: ``link:lan``, ``disk:archive``, ``library.batch``; base units, or the word
    where it is no number (``archive.access``)."""

    resource: str
    after: float | str


@dataclass(frozen=True, slots=True)
class StoredPrediction:
    """As it was kept with the earlier run. ``at``: ISO 8601, UTC."""

    at: str
    changes: tuple[ForetoldChange, ...]
    flows: tuple[Foretold, ...]
    """Of which something could be told."""
    price: Price | None = None
    """What was said to be paid for it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a change costs and gives. ``energy_wh`` None: nothing measures it."""

    price: Price
    """Of all of it."""
    seconds_per_day_saved: float
    """Of flows that surely became faster or slower; below 0 it costs time too."""
    energy_wh: float | None = None

    @property
    def seconds_per_day_saved_per_price(self) -> float:
        """Seconds a day for each unit of money."""
        return self.seconds_per_day_saved / self.price.amount


@dataclass(frozen=True, slots=True)
class Prediction:
    """A prediction beside the fact. ``error`` is actual / expected - 1."""

    flow: str
    expected_s: float
    low: float
    high: float
    actual_s: float
    error: float


@dataclass(frozen=True, slots=True)
class RunName:
    id: str
    label: str | None
    started_at: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """One run beside an earlier one. Not ``comparable``: ``reasons`` say why, and no time is compared."""

    before: RunName
    after: RunName
    comparable: bool
    reasons: tuple[str, ...]
    verdict: tuple[str, ...]
    """In words: what became faster or slower, by what, whether the output is the same, what limits now."""
    cause: str
    """The one thing that differs, ``none`` (nothing known does) or ``unclear`` (more than one)."""
    differences: tuple[Difference, ...]
    flows: tuple[Compared, ...]
    hops: tuple[Compared, ...]
    output: Output
    activity: tuple[ActivityPair, ...]
    predictions: tuple[Prediction, ...]
    """Beside the facts, the largest predicted change first."""
    caveats: tuple[str, ...] = ()
    cost: Cost | None = None
    """None: nobody said a price."""
    unscored: tuple[str, ...] = ()
    """Why no prediction that was kept stands beside the fact; empty where one does, or none is kept."""


@dataclass(frozen=True, slots=True)
class LikeTimes:
    """Median times of earlier runs of the same work in the same set-up: how much days differ."""

    name: str
    """``flow`` or ``flow/hop``."""
    medians_s: tuple[float, ...]
