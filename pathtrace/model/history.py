"""Runs over time: one entry a night, also of a night that was skipped or failed, and what changed meanwhile.

Times are seconds of one execution, as in the runs' own documents. How a change is found is ``analysis``'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

COMPLETE, PARTIAL, INTERRUPTED = "complete", "partial", "interrupted"
SKIPPED, FAILED = "skipped", "failed"
"""What became of a night: the first three as a run says of itself; the others left no run."""

STEP, CREEP, OUTAGE, GROWTH = "step", "creep", "outage", "growth"
"""Kinds of change: at once, little by little, not measurable any more, more work than before."""

CHANGES = (STEP, CREEP, OUTAGE, GROWTH)

NEW, STANDING, ENDED = "new", "standing", "ended"
"""Whether a change is to be told, was told, or is to be told to be over."""


@dataclass(frozen=True, slots=True)
class Took:
    """What a flow or hop took in one run."""

    name: str
    """``flow`` or ``flow/hop``."""
    median_s: float
    low_s: float
    high_s: float
    """Interval of the median over the run's own repeats."""
    limited_by: str | None
    operations: int | None = None
    bytes: int | None = None
    """How much work it was, so that more work is told from slower work."""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on a run. ``file``: the name of what was attached, in the run's folder."""

    at: datetime
    text: str
    file: str | None = None


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One night. ``id`` is the run's, or of the same shape where there is no run; ids sort as time does."""

    id: str
    at: datetime
    scenario: str
    workload_fingerprint: str
    setup_fingerprint: str
    start: str
    status: str
    duration_s: float
    took: tuple[Took, ...] = ()
    label: str | None = None
    pinned: bool = False
    baseline: bool = False
    reason: str | None = None
    """Why it was skipped or failed."""
    datasets: tuple[tuple[str, str | None], ...] = ()
    """Place and fingerprint of its data."""
    environment: tuple[tuple[str, str], ...] = ()
    """What (``kernel of nas``, ``link lan``) and its value as people write it, sorted."""
    notes: tuple[Note, ...] = ()
    scanned: bool = False
    """True if ``scan`` made it."""


@dataclass(frozen=True, slots=True)
class EnvironmentMark:
    """Something that is not what it was in the run before: ``link lan``: 2500 Mbit/s, 1000 Mbit/s."""

    run: str
    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Change:
    """A lasting change of what a flow or hop takes."""

    kind: str
    name: str
    state: str
    since: str
    """Id of the first night of it; of an ended one too."""
    nights: int
    """Nights that show it."""
    ratio: float | None
    low: float | None
    high: float | None
    """Time now / time before, with its interval; of what has ended, what it was while it lasted.

    None for an outage.
    """
    per_week: float | None = None
    """Of a creep: time now / time a week ago, 1.01 where it grows by 1 % a week."""
    resource: str | None = None
    """What limits the hop now."""
    resource_before: str | None = None
    marks: tuple[EnvironmentMark, ...] = ()
    """What else changed where it began (where it ended, of what has ended), the likeliest cause first."""
    ended_with: str | None = None
    """Id of the night that showed that it is over."""
    also: tuple[str, ...] = ()
    """Other flows and hops that show the same, so that it is told once: the hop's own flow first."""
    settled: bool = False
    """Of a creep or growth that has ended: it stays where it is, and did not go back."""
    before_s: float | None = None
    after_s: float | None = None
    """Medians of the nights before it and of those that show it, so that it can be said in time, too."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a night told of a change, as ``scan.json`` keeps it, so that nothing is told twice.

    ``state`` is ``NEW`` or ``ENDED``; ``since`` the change's own, which also is that of its end.
    """

    kind: str
    name: str
    since: str
    state: str
    ratio: float | None = None
    """Time then / time before, when it was told; None for an outage."""
    night: str | None = None
    """Id of the night that told it, where that is known."""


@dataclass(frozen=True, slots=True)
class PastScenario:
    """A scenario's nights as they are shown, oldest first, and what changed among all that there are."""

    name: str
    entries: tuple[HistoryEntry, ...]
    changes: tuple[Change, ...]
    marks: tuple[EnvironmentMark, ...]
    baseline: HistoryEntry | None = None
    """The one that was chosen."""
    told: tuple[Told, ...] = ()
    comparable: int = 0
    """Nights that changes are looked for in."""
    needed: int = 0
    """So many of them it takes until one can show."""
    newest: int = 0
    """A change that nobody told of is looked for among so many of them."""

    @property
    def noun(self) -> str:
        """What an entry is called: runs by hand are no nights."""
        return "night" if any(entry.scanned for entry in self.entries) else "run"

    @property
    def flows(self) -> tuple[str, ...]:
        """Names, those of the latest night first."""
        names = (each.name for entry in reversed(self.entries) for each in entry.took)
        return tuple(dict.fromkeys(name for name in names if "/" not in name))
