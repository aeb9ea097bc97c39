"""A hop's rate over time, and whether it swings.

Bytes and operations are credited evenly over each operation's time, so that a long operation shows as a
low rate, not as nothing followed by a leap. Knows samples of one execution; wording is left to others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pathtrace.analysis.executions import Execution, Ints
from pathtrace.model.report import Point
from pathtrace.model.scenario import Hop
from pathtrace.units import seconds

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

POINTS = 48
RESOLUTIONS = (48, 192, 768)
"""Bins in which a swing is looked for: coarse ones smear a quick one out."""
OPERATIONS_A_BIN = 4
"""Fewer say nothing of a rate: it would be each operation's own."""
ROUNDING = 1e-9
"""Share of all that is moved which a bin in which nothing moved may seem to have, by rounding alone."""
LOW = 0.5
"""Of the mean rate; below this it has stalled."""
VARIATION = 0.5
"""Standard deviation by mean, from which a rate swings."""
CYCLES = 3
REGULAR = 0.4
"""Standard deviation by mean of the cycles' lengths, up to which they are periodic."""
OWN = 0.5
"""Share of the stalled time in which the hop's own operations were in progress: else it only waited."""


@dataclass(frozen=True, slots=True)
class Operations:
    """What was moved when: starts, ends (nanoseconds from the execution's start) and bytes."""

    start: Ints
    end: Ints
    bytes: Ints

    def within(self, edges: Floats) -> tuple[Floats, Floats]:
        """Bytes and operations credited to each bin between ``edges``; their sums are those of all."""
        return self._credited(self.bytes, edges), self._credited(np.ones_like(self.bytes), edges)

    def _credited(self, amount: Ints, edges: Floats) -> Floats:
        """Until an edge: what has ended, and of what had started but not ended its share so far."""
        rate = amount / np.maximum(self.end - self.start, 1)
        began, ended = np.argsort(self.start), np.argsort(self.end)
        until = np.searchsorted(self.start[began], edges), np.searchsorted(self.end[ended], edges, "right")
        running = [_sums(rate[order])[at] for order, at in zip((began, ended), until, strict=True)]
        offset = [
            _sums((rate * self.start)[order])[at] for order, at in zip((began, ended), until, strict=True)
        ]
        partly = edges * (running[0] - running[1]) - (offset[0] - offset[1])
        whole = _sums(amount[ended].astype(np.float64))[until[1]] + partly
        whole[0] = 0.0  # what begins and ends at once at the very start belongs to the first bin
        credited = np.diff(whole)
        return np.where(credited > ROUNDING * amount.sum(), credited, 0.0)


@dataclass(frozen=True, slots=True)
class Sawtooth:
    """A rate that falls and rises again at even intervals."""

    cycles: int
    period_s: float
    low_share: float
    """Share of the time in which it had stalled."""
    variation: float


def series(execution: Execution, hop: Hop) -> tuple[Point, ...]:
    """``POINTS`` rates over the execution, each with the time at its middle; empty without operations."""
    operations = _operations(execution, hop)
    if operations is None:
        return ()
    edges = _edges(execution, POINTS)
    width_s = seconds(float(edges[1]))
    moved, done = (credited / width_s for credited in operations.within(edges))
    middles = (np.arange(POINTS) + 0.5) * width_s
    return tuple(map(Point, middles.tolist(), moved.tolist(), done.tolist()))


def sawtooth(execution: Execution, hop: Hop) -> Sawtooth | None:
    """The swing of a hop's rate that its own operations make; None if it is steady or merely irregular."""
    operations = _operations(execution, hop)
    if operations is None:
        return None
    for bins in RESOLUTIONS:
        if len(operations.start) < OPERATIONS_A_BIN * bins:
            break
        if (found := _swing(operations, _edges(execution, bins))) is not None:
            return found
    return None


def _swing(operations: Operations, edges: Floats) -> Sawtooth | None:
    moved, done = operations.within(edges)
    variation = float(done.std() / done.mean()) if done.any() else 0.0
    # Both: where only bytes are low, files are small, and where only operations are, they are large.
    low = (done <= LOW * done.mean()) & (moved <= LOW * moved.mean())
    falls = np.flatnonzero(np.diff(low.astype(np.int8)) == 1)
    lengths = np.diff(falls)
    if variation < VARIATION or len(lengths) < CYCLES or lengths.std() > REGULAR * lengths.mean():
        return None
    if not _own(operations, (edges[:-1] + edges[1:])[low] / 2):
        return None
    period_s = seconds(float(lengths.mean() * edges[1]))
    return Sawtooth(len(lengths), period_s, float(low.mean()), variation)


def _own(operations: Operations, stalled: Floats) -> bool:
    """True if operations were in progress at most of the moments ``stalled``."""
    begun = np.searchsorted(np.sort(operations.start), stalled, "right")
    ended = np.searchsorted(np.sort(operations.end), stalled, "right")
    return bool((begun > ended).mean() >= OWN)


def _edges(execution: Execution, bins: int) -> Floats:
    return np.linspace(0, max(execution.wall_ns, 1), bins + 1)


def _sums(values: Floats) -> Floats:
    """The sum of the first 0, 1, 2, … values."""
    return np.concatenate(([0.0], np.cumsum(values)))


def _operations(execution: Execution, hop: Hop) -> Operations | None:
    main = execution.stage == hop.main_stage
    if not main.any():
        return None
    start, end = execution.start - execution.start_ns, execution.end - execution.start_ns
    following = execution.stage == hop.stages[-1] + 1
    if execution.elapsed[main].any() or not following.any():
        return Operations(start[main], end[main], execution.bytes[main])
    # Handed on unread: the reading happens within the next place's operations.
    released = _by_number(execution, main, execution.cause[following])
    return Operations(start[following], end[following], released)


def _by_number(execution: Execution, main: Mask, numbers: Ints) -> Ints:
    """The bytes of the operations of ``main`` that have these numbers; 0 where there is none."""
    known, moved = execution.operation[main], execution.bytes[main]
    order = np.argsort(known)
    at = np.minimum(np.searchsorted(known[order], numbers), len(order) - 1)
    return np.where(known[order][at] == numbers, moved[order][at], 0)
