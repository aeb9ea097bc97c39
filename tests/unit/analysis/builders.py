"""Synthetic runs with known answers: a small discrete-event simulator of streams, and what surrounds it.

The simulator knows nothing of analysis. It keeps its own account of starved time, from when each worker
really had nothing to do, so that the analysis can be held against it.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pathtrace.model.report import Caveat
from pathtrace.model.run import (
    Activity,
    Ceiling,
    Environment,
    HostFacts,
    Mount,
    Reached,
    Run,
    StartCondition,
)
from pathtrace.model.sample import SAMPLE_COLUMNS, Reading, ReadingTable, Sample, SampleTable, Window
from pathtrace.model.scenario import Scenario
from pathtrace.model.work import PlaceFacts
from pathtrace.scenario import parse

MS = 1_000_000
MB = 10**6
GIB = 1 << 30
Service = Callable[[int, int], int]
"""(stage, how many operations of the stage came before) -> nanoseconds."""


@dataclass(frozen=True)
class Desk:
    """A stage as the simulator sees it. ``burst``: reads in one go, handed on afterwards (source only)."""

    workers: int = 1
    queue: int = 1
    batch: int = 1
    burst: int = 1


@dataclass
class _Worker:
    stage: int
    number: int
    idle_since: int = 0
    starved: int = 0


@dataclass
class Simulated:
    """Samples in the order in which they were recorded, and starved nanoseconds per stage."""

    samples: list[Sample] = field(default_factory=list)
    starved: list[int] = field(default_factory=list)
    end: int = 0


class Simulator:
    """Stages with workers, joined by bounded queues; use once."""

    def __init__(self, desks: Sequence[Desk], service: Service, items: int) -> None:
        self._desks, self._service, self._items = desks, service, items
        self._now = self._tick = self._operations = self._end = 0
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._queues: list[deque[tuple[int, int]]] = [deque() for _ in desks]
        self._putters: list[deque[Callable[[], None]]] = [deque() for _ in desks]
        self._idle: list[deque[_Worker]] = [deque() for _ in desks]
        self._open: list[list[int]] = [[] for _ in desks]
        self._done = [0] * len(desks)
        self._pending = [0] * len(desks)
        self._workers = [[_Worker(s, n) for n in range(desk.workers)] for s, desk in enumerate(desks)]
        self._samples: list[Sample] = []

    def run(self) -> Simulated:
        for stage in range(1, len(self._desks)):
            self._idle[stage].extend(self._workers[stage])
        for worker in self._workers[0]:
            self._draw(worker)
        while self._events:
            self._now, _, event = heapq.heappop(self._events)
            event()
        starved = [
            sum(worker.starved + self._end - worker.idle_since for worker in workers)
            for workers in self._workers
        ]
        return Simulated(self._samples, starved, self._end)

    def _after(self, delay: int, event: Callable[[], None]) -> None:
        self._tick += 1
        heapq.heappush(self._events, (self._now + delay, self._tick, event))

    def _begin(self, worker: _Worker) -> None:
        worker.starved += self._now - worker.idle_since

    def _draw(self, worker: _Worker) -> None:
        count = min(self._desks[0].burst, self._items)
        if not count:
            return
        self._items -= count
        self._pending[0] += count
        self._begin(worker)
        starts, at, numbers = [], self._now, []
        for _ in range(count):
            took = self._service(0, self._done[0])
            self._done[0] += 1
            starts.append((at, took))
            numbers.append(self._number())
            at += took
        self._after(at - self._now, lambda: self._hand_on(worker, numbers, starts, list(numbers), self._now))

    def _number(self) -> int:
        self._operations += 1
        return self._operations - 1

    def _hand_on(
        self,
        worker: _Worker,
        numbers: list[int],
        starts: list[tuple[int, int]],
        left: list[int],
        ended: int,
    ) -> None:
        """Put one result after the other; with all of them put, record and go on."""
        ended = max(at + took for at, took in starts)
        while left:
            cause = left.pop(0)
            if not self._put(
                worker.stage + 1, cause, lambda: self._hand_on(worker, numbers, starts, left, ended)
            ):
                return
        blocked = self._now - ended
        for number, (at, took) in zip(numbers, starts, strict=True):
            self._record(worker, number, -1, at, at, took, blocked if number == numbers[-1] else 0)
        worker.idle_since = self._now
        self._finished(0, len(numbers))
        self._draw(worker)

    def _put(self, stage: int, cause: int, resume: Callable[[], None]) -> bool:
        """True if handed on; else ``resume`` is called once there was room."""
        if stage >= len(self._desks):
            return True
        self._open[stage].append(cause)
        if len(self._open[stage]) < self._desks[stage].batch:
            return True
        self._open[stage].clear()
        return self._put_parcel(stage, (cause, self._now), resume)

    def _put_parcel(self, stage: int, parcel: tuple[int, int], resume: Callable[[], None]) -> bool:
        if self._idle[stage]:
            self._perform(self._idle[stage].popleft(), parcel)
            return True
        if len(self._queues[stage]) < self._desks[stage].queue:
            self._queues[stage].append(parcel)
            return True

        def unblock() -> None:
            self._queues[stage].append(parcel)
            resume()

        self._putters[stage].append(unblock)
        return False

    def _perform(self, worker: _Worker, parcel: tuple[int, int]) -> None:
        stage, started, number = worker.stage, self._now, self._number()
        self._begin(worker)
        self._pending[stage] += 1
        took = self._service(stage, self._done[stage])
        self._done[stage] += 1

        def record() -> None:
            blocked = self._now - started - took
            self._record(worker, number, parcel[0], parcel[1], started, took, blocked)
            worker.idle_since = self._now
            self._finished(stage, 1)
            self._take(worker)

        def finish() -> None:
            if self._put(stage + 1, number, record):
                record()

        self._after(took, finish)

    def _take(self, worker: _Worker) -> None:
        queue = self._queues[worker.stage]
        if not queue:
            self._idle[worker.stage].append(worker)
            return
        parcel = queue.popleft()
        self._perform(worker, parcel)
        if self._putters[worker.stage]:
            self._putters[worker.stage].popleft()()

    def _finished(self, stage: int, count: int) -> None:
        """With the last operation of a stage done, an incomplete batch goes on to the next."""
        self._pending[stage] -= count
        following = stage + 1
        source_done = not self._items and not self._pending[0]
        drained = all(
            not self._pending[s] and not self._queues[s] and not self._open[s] for s in range(1, following)
        )
        if following < len(self._desks) and source_done and drained and self._open[following]:
            cause = self._open[following][-1]
            self._open[following].clear()
            self._put_parcel(following, (cause, self._now), lambda: None)

    def _record(
        self, worker: _Worker, number: int, cause: int, intended: int, start: int, took: int, blocked: int
    ) -> None:
        self._end = max(self._end, start + took)
        self._samples.append(
            operation(
                stage=worker.stage,
                worker=worker.number,
                operation=number,
                cause=cause,
                intended_ns=intended,
                start_ns=start,
                elapsed_ns=took,
                blocked_ns=blocked,
            )
        )


def operation(**changed: int) -> Sample:
    """A sample of the first repeat, flow and stage; everything optional unknown."""
    plain = Sample(0, 0, 0, 0, 0, 0, -1, -1, 0, 0, 0, -1, 0, 0, 0, -1, 0, -1, -1, 0, -1)
    return plain._replace(**changed)


def stream(
    desks: Sequence[Desk],
    service: Service,
    items: int,
    *,
    offset: int = 0,
    repeat: int = 0,
    flow: int = 0,
    details: Callable[[Sample], Mapping[str, int]] = lambda sample: {},
) -> tuple[list[Sample], Window]:
    """One execution's samples (shifted by ``offset``; ``details`` adds bytes, CPU, …) and its window."""
    simulated = Simulator(desks, service, items).run()
    samples = []
    for sample in simulated.samples:
        start, came = sample.start_ns + offset, sample.intended_ns + offset
        moved = sample._replace(repeat=repeat, flow=flow, start_ns=start, intended_ns=came)
        samples.append(moved._replace(**details(moved)))
    workers = tuple(desk.workers for desk in desks)
    return samples, Window(repeat, flow, 0, 0, offset, offset + simulated.end, True, workers)


def asked(
    requests: int,
    stages: Sequence[int],
    *,
    users: int = 1,
    offset: int = 0,
    repeat: int = 0,
    flow: int = 0,
    details: Callable[[Sample], Mapping[str, int]] = lambda sample: {},
) -> tuple[list[Sample], Window]:
    """One execution of a per-request flow: users who take turns, each stage as long as ``stages`` says."""
    samples, at = [], [offset] * users
    for request in range(requests):
        user = request % users
        for stage, took in enumerate(stages):
            number = request * len(stages) + stage
            sample = operation(
                repeat=repeat,
                flow=flow,
                stage=stage,
                worker=user,
                operation=number,
                cause=number - 1 if stage else -1,
                request=request,
                intended_ns=at[user],
                start_ns=at[user],
                elapsed_ns=took,
            )
            samples.append(sample._replace(**details(sample)))
            at[user] += took
    return samples, Window(repeat, flow, 0, users, offset, max(at), True, (users,) * len(stages))


def table(samples: Iterable[Sample]) -> SampleTable:
    """Samples as the read-only columns that a run has."""
    layout = [(name, f"<{code}") for name, code in SAMPLE_COLUMNS]
    rows = np.array([tuple(sample) for sample in samples], dtype=layout)
    rows.setflags(write=False)
    return SampleTable(rows)


def scenario(text: str) -> Scenario:
    """A scenario as its text says."""
    return parse(f"name: test\n{text}", "test.yaml", {})


def steady(observer: str, subject: str, **totals: tuple[int, int, float]) -> list[Reading]:
    """A counter that grows evenly, read ten times a second; per metric (from ns, to ns, by how much)."""
    readings = []
    for metric, (start, end, total) in totals.items():
        moments = [*range(start, end, 100 * MS), end]
        readings += [
            Reading(at, observer, subject, metric, 1000.0 + total * (at - start) / (end - start))
            for at in moments
        ]
    return readings


def host(name: str = "workstation", *, cores: int = 4, gpus: tuple[str, ...] = ()) -> HostFacts:
    """This host: 16 GiB of memory, half of it available."""
    return HostFacts(name, "a processor", cores, 16 * GIB, 8 * GIB, "Linux", gpus, (), (), ())


def reached(
    place: str, *, disk: str | None = None, pid: int | None = None, fault: str | None = None, bytes: int = 0
) -> Reached:
    """A place that was opened, or could not be."""
    facts = None if fault else PlaceFacts("there", files=3, bytes=bytes or None)
    mount = Mount("/data", f"/dev/{disk}", "ext4", disk, False) if disk else None
    return Reached(place, facts, fault, mount, pid)


def run_of(
    described: Scenario,
    executions: Iterable[tuple[list[Sample], Window]],
    *,
    readings: Iterable[Reading] = (),
    ceilings: tuple[Ceiling, ...] = (),
    places: tuple[Reached, ...] = (),
    hosts: tuple[HostFacts, ...] | None = None,
    starts: tuple[StartCondition, ...] = (),
    activity: tuple[Activity, ...] = (),
    caveats: tuple[Caveat, ...] = (),
    faults: tuple[str, ...] = (),
    status: str = "complete",
) -> Run:
    """A run made of executions and of what was seen meanwhile."""
    parts = list(executions)
    return Run(
        id="20261130-091412-test",
        label=None,
        status=status,
        started_at="2026-11-30T09:14:12+00:00",
        duration_s=1.0,
        scenario=described,
        environment=Environment(hosts or (host(),), "3.11", "0", "2026-11-30T00:00:00+00:00", 1),
        reached=places,
        starts=starts,
        windows=tuple(window for _, window in parts),
        ceilings=ceilings,
        activity=activity,
        cost=None,
        caveats=caveats,
        faults=faults,
        samples=table(sample for samples, _ in parts for sample in samples),
        readings=ReadingTable(tuple(sorted(readings, key=lambda reading: reading.at_ns))),
    )
