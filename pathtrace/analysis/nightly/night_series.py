"""History's nights as numbers: which of them are like tonight's, and what each flow and hop took in them.

Knows which nights count; nothing of levels and changes.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pathtrace.analysis.nightly.steps import Floats
from pathtrace.model.history import COMPLETE, FAILED, PARTIAL, HistoryEntry, Took

MEASURED = (COMPLETE, PARTIAL)
_DAY_S = 86_400
_INTERVAL = 2 * 1.96
"""Width of a 95 % interval in standard errors."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Series:
    """One flow's or hop's nights, only those in which it was measured; arrays of one length."""

    name: str
    nights: Ints
    """Index of each among the nights that are looked at."""
    values: Floats
    """Logarithm of the seconds."""
    days: Floats
    work: Floats
    """Logarithm of the bytes, else the operations; all 0 where neither is known every night."""
    own: float
    """Standard error that a night's repeats give its median, a typical one."""
    resources: tuple[str | None, ...]

    def place(self, night: int) -> int:
        """Position of the first value at or after a night."""
        return int(np.searchsorted(self.nights, night))

    @property
    def flow(self) -> str:
        """The flow that it is or belongs to."""
        return flow_of(self.name)


def flow_of(name: str) -> str:
    """Of ``flow`` and of ``flow/hop``."""
    return name.partition("/")[0]


def counted(entries: Sequence[HistoryEntry]) -> tuple[HistoryEntry, ...]:
    """Nights that can be held against the last one that was measured, oldest first, from the baseline on.

    Those of the same work, begun in the same state, and those that failed; never skipped or interrupted
    ones. Where scans were made, only these and baselines: runs by hand are experiments, and many on a day.
    """
    ordered = sorted(entries, key=lambda entry: entry.id)
    if any(entry.scanned for entry in ordered):
        ordered = [entry for entry in ordered if entry.scanned or entry.baseline]
    last = next((entry for entry in reversed(ordered) if entry.status in MEASURED and entry.took), None)
    if last is None:
        return ()
    like = [entry for entry in ordered if _is_like(entry, last)]
    start = max((index for index, entry in enumerate(like) if entry.baseline), default=0)
    return tuple(like[start:])


def _is_like(entry: HistoryEntry, last: HistoryEntry) -> bool:
    if entry.status == FAILED:
        return entry.workload_fingerprint in ("", last.workload_fingerprint)
    same_work = entry.workload_fingerprint == last.workload_fingerprint
    return entry.status in MEASURED and same_work and entry.start == last.start


def at_or_after(nights: Sequence[HistoryEntry], run: str) -> int:
    """Index of the first night that is not before the one named."""
    return bisect_left(nights, run, key=lambda entry: entry.id)


def series(nights: Sequence[HistoryEntry]) -> Mapping[str, Series]:
    """By name, in the order in which they first appear."""
    found: dict[str, list[tuple[int, Took]]] = {}
    for index, entry in enumerate(nights):
        if entry.status in MEASURED:
            for took in entry.took:
                if took.median_s > 0:
                    found.setdefault(took.name, []).append((index, took))
    days = np.array([entry.at.timestamp() / _DAY_S for entry in nights])
    return {name: _series(name, each, days) for name, each in found.items()}


def _series(name: str, found: Sequence[tuple[int, Took]], days: Floats) -> Series:
    nights = np.array([index for index, _ in found])
    values = np.log([took.median_s for _, took in found])
    widths = [math.log(took.high_s / took.low_s) if took.low_s > 0 else 0.0 for _, took in found[-60:]]
    return Series(
        name=name,
        nights=nights,
        values=values,
        days=days[nights],
        work=_work([took for _, took in found]),
        own=float(np.median(widths)) / _INTERVAL,
        resources=tuple(took.limited_by for _, took in found),
    )


def _work(took: Iterable[Took]) -> Floats:
    each = list(took)
    for amounts in ([one.bytes for one in each], [one.operations for one in each]):
        if all(amounts):
            return np.asarray(np.log([amount or 0 for amount in amounts]), dtype=np.float64)
    return np.zeros(len(each))


def usual(resources: Sequence[str | None]) -> str | None:
    """What limited most of these nights."""
    known = Counter(resource for resource in resources if resource is not None)
    return known.most_common(1)[0][0] if known else None
