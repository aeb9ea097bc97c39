"""What held an execution up, moment by moment: a walk back from its last end to its first start.

At an operation's start something released it: its item came (the stage was starved), or its worker
was done with the operation before. A worker that was blocked until then waited for the next stage,
so the walk goes on there. What no operation explains is hand-over, kept apart. The stretches tile
the execution's duration exactly. Which resource a stretch belongs to is not known here.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from pathtrace.analysis.executions import Execution, Ints

Row = memoryview
"""64-bit integers, read one by one."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Of one stage: time on the critical path at work, and in hand-over before its operations."""

    stage: int
    working_ns: int
    handover_ns: int


@dataclass(frozen=True, slots=True)
class _Clock:
    """Per operation: the worker's operation before (-1), when the worker was free again, and for how
    long it had been blocked by then."""

    previous: Ints
    release: Ints
    blocked: Ints


def critical_path(execution: Execution, lanes: Ints) -> tuple[Stretch, ...]:
    """Stretches per stage, in order of stage. ``lanes`` numbers who did each operation (a worker
    of a stage, or a user across all stages): one lane does one operation after another.
    """
    stages = int(execution.stage.max()) + 1
    walk = _Walk(execution, _clock(execution, lanes), stages)
    walk.run()
    return tuple(
        Stretch(stage, walk.working[stage], walk.handover[stage])
        for stage in range(stages)
        if walk.working[stage] or walk.handover[stage]
    )


def stream_lanes(execution: Execution) -> Ints:
    """Each worker of each stage is a lane."""
    return execution.stage * (int(execution.worker.max()) + 1) + execution.worker


def _clock(execution: Execution, lanes: Ints) -> _Clock:
    """A worker may read several items in one go and hand them on afterwards: then its operations
    follow each other at once, and all their blocked time lies behind the last one. So a lane's
    time is laid out afresh (each operation, then its blocked time), shifted by the idle time so far:
    the largest lag of a real start behind the laid-out one.
    """
    order = np.lexsort((execution.operation, execution.start, lanes))
    lane = lanes[order]
    first = np.concatenate(([True], lane[1:] != lane[:-1]))
    heads = np.flatnonzero(first)
    sizes = np.diff(np.append(heads, len(lane)))
    used = execution.elapsed[order] + execution.blocked[order]
    total = np.cumsum(used)
    total -= np.repeat(total[heads] - used[heads], sizes)
    lag = execution.start[order] - execution.start[0] - (total - used)
    step = int(lag.max() - lag.min()) + 1
    shift = np.repeat(np.arange(len(heads), dtype=np.int64) * step, sizes)
    idle = np.maximum.accumulate(lag + shift) - shift
    previous, release = np.full(len(order), -1), np.empty(len(order), dtype=np.int64)
    previous[order] = np.where(first, -1, np.concatenate(([-1], order[:-1])))
    release[order] = execution.start[0] + idle + total
    return _Clock(previous, release, np.maximum(0, release - execution.end))


def _causes(execution: Execution) -> Ints:
    """Row of each operation's cause, -1 where it has none that was recorded."""
    row = np.full(int(execution.operation.max()) + 2, -1, dtype=np.int64)
    row[execution.operation] = np.arange(len(execution))
    cause = np.where((execution.cause < 0) | (execution.cause >= len(row) - 1), -1, execution.cause)
    found = row[cause]
    return np.where(found == np.arange(len(execution)), -1, found)


class _Walk:
    """Views of memory: single steps through numpy arrays take several times as long, lists the memory."""

    def __init__(self, execution: Execution, clock: _Clock, stages: int) -> None:
        self.working = [0] * stages
        self.handover = [0] * stages
        self._origin = execution.start_ns
        self._last = int(np.lexsort((execution.operation, execution.end))[-1])
        self._stage = execution.stage.data
        self._start = execution.start.data
        self._end = execution.end.data
        self._arrival = execution.intended.data
        self._cause = _causes(execution).data
        self._previous = clock.previous.data
        self._next = _reversed(clock.previous)
        self._release = clock.release.data
        self._blocked = clock.blocked.data
        self._released = [_ordered(clock.release, execution.stage == stage) for stage in range(stages)]
        self._ended = _ordered(execution.end, np.ones(len(execution), dtype=np.bool_))
        self._now = self._end[self._last]

    def run(self) -> None:
        """Fills ``working`` and ``handover`` (nanoseconds per stage)."""
        row, steps = self._last, 4 * len(self._stage) + 16
        while row >= 0 and self._now > self._origin and steps:
            steps -= 1
            stage = self._stage[row]
            self._work(row)
            if self._now > self._origin:
                row = self._released_by(row, stage)
        self.handover[self._stage[row]] += self._now - self._origin

    def _work(self, row: int) -> None:
        start = self._start[row]
        if start < self._now:
            self.working[self._stage[row]] += self._now - start
            self._now = start

    def _wait(self, stage: int, until: int) -> None:
        if until < self._now:
            self.handover[stage] += self._now - until
            self._now = until

    def _released_by(self, row: int, stage: int) -> int:
        """The operation that let ``row`` start; the cursor moves to where it stopped mattering."""
        cause, previous = self._cause[row], self._previous[row]
        came = min(self._now, max(self._arrival[row], self._end[cause])) if cause >= 0 else -1
        free = self._free(previous) if previous >= 0 else -1
        if cause < 0 and previous < 0:
            return self._latest_end(stage)
        if free >= came:
            self._wait(stage, free)
            return self._arrive(previous, stage)
        self._wait(stage, came)
        return self._arrive(self._batch_mate(cause, came), stage)

    def _free(self, row: int) -> int:
        """When its worker could start the next; its end, if it handed on only later."""
        release = self._release[row]
        return release if release <= self._now else min(self._now, self._end[row])

    def _batch_mate(self, row: int, came: int) -> int:
        """The last operation of the same go: the item was handed on only after that."""
        while (mate := self._next[row]) >= 0 and self._end[mate] <= came:
            row = mate
        return row

    def _arrive(self, row: int, stage: int) -> int:
        """Step onto ``row`` at the cursor, or beyond it: into what it was blocked by."""
        while self._blocked[row] and self._now > self._end[row]:
            following = self._stage[row] + 1
            freed = self._freed(following, self._end[row])
            if freed < 0:
                break
            self._wait(following, self._release[freed])
            row, stage = freed, following
        self._wait(stage, self._end[row])
        return row

    def _freed(self, stage: int, after: int) -> int:
        """The operation of ``stage`` whose worker came free last before the cursor, if after ``after``."""
        if stage >= len(self._released):
            return -1
        moments, rows = self._released[stage]
        at = bisect_right(moments, self._now) - 1
        return rows[at] if at >= 0 and moments[at] > after else -1

    def _latest_end(self, stage: int) -> int:
        """Without a known cause: whatever ended last before the cursor, else nothing."""
        moments, rows = self._ended
        at = bisect_right(moments, self._now) - 1
        if at < 0:
            self._wait(stage, self._origin)
            return -1
        self._wait(stage, moments[at])
        return rows[at]


def _ordered(moments: Ints, chosen: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> tuple[Row, Row]:
    rows = np.flatnonzero(chosen)
    rows = rows[np.argsort(moments[rows], kind="stable")]
    return moments[rows].data, rows.data


def _reversed(previous: Ints) -> Row:
    following = np.full(len(previous), -1, dtype=np.int64)
    known = previous >= 0
    following[previous[known]] = np.flatnonzero(known)
    return following.data
