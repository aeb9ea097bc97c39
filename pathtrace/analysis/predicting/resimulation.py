"""Plays the recorded operations of an execution again, through the same stages, workers, queues and order.

An operation starts when a worker of its stage is free and its input has come, and pathtrace has handed it
over, which usually takes that stage so long; it ends after the time that it took; its worker is free again
once the next queue had room for what it hands on. When operations really started is not looked at, so that
what comes out can be held against what was measured. What a change does to the time of an operation is for
``rescaling``.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pathtrace.analysis.executions import Execution, Ints
from pathtrace.units import nanoseconds, seconds

RARE = 0.02
"""Of the hand-overs to a stage, the longest, which are stalls."""


@dataclass(frozen=True, slots=True)
class Operations:
    """What an execution did, without when. Lists have one entry per operation, in order of their start.

    A stage is *joined* if several results go into one of its operations: then these come as results do, by
    ``wanted``; else each comes with the operation that ``handed`` it on.
    """

    stage: list[int]
    """-1: part of another one, and never comes."""
    took_ns: list[float]
    held_ns: list[float]
    """Of what all workers of the stage share and can use only in turn: at least this long for each."""
    source: tuple[int, ...]
    """What is there from the start."""
    handed: dict[int, list[int]]
    wanted: tuple[tuple[tuple[int, int], ...], ...]
    """Per stage that is joined: how many results of the one before each operation needs, and which it is."""
    last: tuple[tuple[int, ...], ...]
    """Per stage: what it does when everything has passed (a last commit)."""
    requests: tuple[tuple[int, ...], ...]
    """Of a per-request flow: each request's operations, in the order of asking."""
    handover_ns: tuple[float, ...]
    """Per stage: from when a worker is free and its input there, until its operation begins."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """``request_s``: the mean of a request, of per-request flows."""

    duration_s: float
    busy_s: tuple[float, ...]
    """Per stage, over all its workers."""
    request_s: float | None = None


def operations_of(execution: Execution, stages: int) -> Operations:
    """What is needed of an execution to play it again."""
    stage, cause = execution.stage, _causes(execution.operation, execution.cause)
    own = (cause >= 0) & (stage[cause] == stage)
    own_last = {index: np.flatnonzero(own & (stage == index)) for index in range(stages)}
    handed: dict[int, list[int]] = {}
    wanted: list[tuple[tuple[int, int], ...]] = [()] * stages
    for index in range(1, stages):
        mine = np.flatnonzero((stage == index) & (cause >= 0) & ~own)
        before = np.flatnonzero((stage == index - 1) & ~own)
        if len(np.unique(cause[mine])) < np.count_nonzero(execution.ok[before]):
            wanted[index] = _wanted(mine, execution.operation[cause[mine]], execution.operation[before])
        else:
            for row, by in zip(mine.tolist(), cause[mine].tolist(), strict=True):
                handed.setdefault(by, []).append(row)
    return Operations(
        stage=stage.tolist(),
        took_ns=execution.elapsed.astype(float).tolist(),
        held_ns=[0.0] * len(stage),
        source=tuple(np.flatnonzero(cause < 0).tolist()),
        handed=handed,
        wanted=tuple(wanted),
        last=tuple(tuple(own_last[index].tolist()) for index in range(stages)),
        requests=_requests(execution.request, stage),
        handover_ns=tuple(_handover_ns(execution, index) for index in range(stages)),
    )


def _handover_ns(execution: Execution, stage: int) -> float:
    """The mean without the rarest: a stall is no hand-over, and stays what playing again does not explain."""
    rows = np.flatnonzero(execution.stage == stage)
    order = rows[np.lexsort((execution.start[rows], execution.worker[rows]))]
    after, before = order[1:], order[:-1]
    chained = execution.worker[after] == execution.worker[before]
    after, before = after[chained], before[chained]
    if not len(after):
        return 0.0
    free, come = execution.end[before] + execution.blocked[before], execution.intended[after]
    reads = stage == 0 and execution.request[order[0]] < 0  # what it reads was there from the start
    ready = free if reads else np.maximum(free, come)
    took = np.sort(np.maximum(0, execution.start[after] - ready))
    return float(took[: max(1, round(len(took) * (1 - RARE)))].mean())


def _causes(operation: Ints, cause: Ints) -> Ints:
    """Row of each operation's cause; -1 where none was recorded."""
    row = np.full(int(operation.max(initial=0)) + 2, -1, dtype=np.int64)
    row[operation] = np.arange(len(operation))
    return row[np.where((cause < 0) | (cause >= len(row) - 1), -1, cause)]


def _wanted(mine: Ints, cause: Ints, before: Ints) -> tuple[tuple[int, int], ...]:
    """By the place of its cause among the results before it, which are numbered as they were handed on; none
    needs fewer than an earlier one. ``cause``, ``before``: numbers of operations."""
    needs = np.maximum.accumulate(np.searchsorted(np.sort(before), cause, side="right"))
    return tuple(zip(needs.tolist(), mine.tolist(), strict=True))


def _requests(request: Ints, stage: Ints) -> tuple[tuple[int, ...], ...]:
    chosen = np.flatnonzero(request >= 0)
    order = chosen[np.lexsort((stage[chosen], request[chosen]))]
    chains: dict[int, list[int]] = {}
    for number, row in zip(request[order].tolist(), order.tolist(), strict=True):
        chains.setdefault(number, []).append(row)
    return tuple(tuple(chain) for chain in chains.values())


def replay_stream(operations: Operations, workers: Sequence[int], queues: Sequence[int]) -> Replayed:
    """``workers`` and ``queues`` (room before it; the first stage's is not looked at) per stage."""
    return _Stream(operations, workers, queues).run()


class _Stream:
    """Use once. Times are nanoseconds from the start."""

    def __init__(self, operations: Operations, workers: Sequence[int], queues: Sequence[int]) -> None:
        self._operations = operations
        self._stage, self._took, self._held = operations.stage, operations.took_ns, operations.held_ns
        self._idle = list(workers)
        self._rooms = list(queues)
        self._queues: list[deque[int]] = [deque() for _ in workers]
        self._blocked: list[deque[tuple[int, deque[int]]]] = [deque() for _ in workers]
        self._wanted = [deque(pairs) for pairs in operations.wanted]
        self._left = [0] * len(workers)
        self._results = [0] * len(workers)
        self._shared: list[float | None] = [None] * len(workers)
        self._busy = [0.0] * len(workers)
        self._ends: list[tuple[float, int]] = []
        self._end = 0.0

    def run(self) -> Replayed:
        at_last = {row for rows in self._operations.last for row in rows}
        for row, stage in enumerate(self._stage):
            if stage >= 0:
                self._left[stage] += row not in at_last
        for row in self._operations.source:
            self._queues[self._stage[row]].append(row)
        for stage in range(len(self._idle)):
            self._take(stage, 0.0)
        while self._ends:
            now, row = heapq.heappop(self._ends)
            self._end = now
            if row not in at_last:
                self._ended(row, now)
        # Time runs from the first start: what handed that over came before.
        whole = max(0.0, self._end - self._operations.handover_ns[0])
        return Replayed(seconds(whole), tuple(seconds(each) for each in self._busy))

    def _take(self, stage: int, now: float) -> None:
        """Idle workers take what waits; each place that comes free in the queue lets one result in."""
        queue = self._queues[stage]
        while self._idle[stage] and queue:
            self._idle[stage] -= 1
            self._start(queue.popleft(), now)
            if self._blocked[stage]:
                row, results = self._blocked[stage].popleft()
                queue.append(results.popleft())
                self._hand_on(row, results, now)

    def _start(self, row: int, now: float) -> None:
        stage = self._stage[row]
        now += self._operations.handover_ns[stage]
        end = now + self._took[row]
        if held := self._held[row]:
            shared = self._shared[stage]
            self._shared[stage] = shared = (now if shared is None else shared) + held
            end = max(end, shared)
        self._busy[stage] += end - now
        heapq.heappush(self._ends, (end, row))

    def _ended(self, row: int, now: float) -> None:
        stage = self._stage[row]
        self._results[stage] += 1
        results = deque(self._operations.handed.get(row, ()))
        if stage + 1 < len(self._wanted):
            wanted = self._wanted[stage + 1]
            while wanted and wanted[0][0] <= self._results[stage]:
                results.append(wanted.popleft()[1])
        self._hand_on(row, results, now)
        self._left[stage] -= 1
        if not self._left[stage]:
            for last in self._operations.last[stage]:
                now += self._took[last]
                self._busy[stage] += self._took[last]
                heapq.heappush(self._ends, (now, last))

    def _hand_on(self, row: int, results: deque[int], now: float) -> None:
        """Put one result after the other; with all of them put the worker is free."""
        stage = self._stage[row] + 1
        while results:
            if len(self._queues[stage]) >= self._rooms[stage]:
                self._blocked[stage].append((row, results))
                return
            self._queues[stage].append(results.popleft())
            self._take(stage, now)
        self._idle[stage - 1] += 1
        self._take(stage - 1, now)


def replay_requests(operations: Operations, users: int, rate_per_s: float | None) -> Replayed:
    """People who ask in turn, or, with a rate, requests that come evenly whatever the answers do."""
    free, longest, waited = [0.0] * max(1, users), 0.0, 0.0
    busy = [0.0] * len(operations.last)
    for number, chain in enumerate(operations.requests):
        asked = free[0] if rate_per_s is None else float(nanoseconds(number / rate_per_s))
        now = asked
        for row in chain:
            stage = operations.stage[row]
            took = max(operations.took_ns[row], operations.held_ns[row])
            busy[stage] += took
            now += operations.handover_ns[stage] + took
        if rate_per_s is None:
            heapq.heapreplace(free, now)
        waited += now - asked
        longest = max(longest, now)
    count = len(operations.requests)
    return Replayed(
        seconds(longest),
        tuple(seconds(each) for each in busy),
        seconds(waited / count) if count else None,
    )


def with_rest(measured_s: float, again_s: float, then_s: float) -> float:
    """What playing again leaves unexplained stays; where it is slower than the fact, in proportion."""
    rest = measured_s - again_s
    return then_s + rest if rest >= 0 else then_s * measured_s / again_s
