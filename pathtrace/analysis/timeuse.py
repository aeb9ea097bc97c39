"""Where a stage's workers spent a flow's wall time: busy, starved, blocked; and when anything ran.

Knows the identity busy + starved + blocked = wall × workers. Why a worker waited is ``critical_path``'s.
"""

from __future__ import annotations

import numpy as np

from pathtrace.analysis.executions import Execution, Ints
from pathtrace.model.report import TimeUse
from pathtrace.units import seconds


def union_ns(start: Ints, end: Ints) -> int:
    """Length of the union of the intervals ``start`` (ascending) to ``end``."""
    if not len(start):
        return 0
    reached = np.maximum.accumulate(end)
    before = np.concatenate((start[:1], reached[:-1]))
    return int(np.maximum(0, end - np.maximum(start, before)).sum())


def merged(start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Starts and ends of the union of the intervals ``start`` (ascending) to ``end``."""
    if not len(start):
        return start, end
    reached = np.maximum.accumulate(end)
    heads = np.flatnonzero(np.concatenate(([True], start[1:] > reached[:-1])))
    return start[heads], reached[np.append(heads[1:], len(start)) - 1]


def stage_time(execution: Execution, stage: int, workers: int) -> TimeUse:
    """Worker-seconds of one stage. What is neither busy nor blocked was starved.

    Busy and blocked beyond wall × workers would be a fault of the recording; starved is then 0
    and the three no longer add up, which ``identity_error`` shows.
    """
    mine = execution.stage == stage
    busy = int(execution.elapsed[mine].sum())
    blocked = int(execution.blocked[mine].sum())
    starved = max(0, execution.wall_ns * workers - busy - blocked)
    return TimeUse(seconds(busy), seconds(starved), seconds(blocked))


def identity_error(time: TimeUse, wall_s: float, workers: int) -> float:
    """Relative difference between the three parts' sum and wall × workers."""
    total = wall_s * workers
    return (time.busy_s + time.starved_s + time.blocked_s - total) / total if total else 0.0


def added(times: tuple[TimeUse, ...]) -> TimeUse:
    """Worker-seconds of several stages together."""
    return TimeUse(
        sum(time.busy_s for time in times),
        sum(time.starved_s for time in times),
        sum(time.blocked_s for time in times),
    )


def workers_of(execution: Execution, stage: int) -> int:
    """How many workers the stage had, as the window says, else as many as left samples."""
    window = execution.window
    if window is not None and stage < len(window.workers) and window.workers[stage] > 0:
        return window.workers[stage]
    return max(1, len(np.unique(execution.worker[execution.stage == stage])))
