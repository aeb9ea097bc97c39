"""One execution of a flow as a stream: stages with workers, joined by bounded queues.

A worker is *busy* while its place works, *blocked* while its result finds the next queue full and
*starved* otherwise. Each operation becomes one sample that carries the operation which released
it (``cause``), so that the critical path can be walked afterwards from data alone.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pathtrace.errors import OperationError
from pathtrace.model.sample import Outcome, Sample, Window
from pathtrace.model.scenario import Action, Flow
from pathtrace.model.work import Clock, Done, Item
from pathtrace.ports import Place, Progress, Sink
from pathtrace.replay.budget import Budget

GIVE_UP_AFTER = 20
"""Failures in a row, without one success, after which a stage's flow is ended."""

BURST = 64
"""Reads that one worker takes from the list at once, at most."""


Draw = Callable[[Sequence[Item], Clock], Sequence[Done]]


def hand_over(items: Sequence[Item], clock: Clock) -> Sequence[Done]:
    """Pass documents on unread to a place that reads them itself; their bytes are what it is given."""
    now = clock()
    return [Done(now, 0, item.size_bytes, (item,)) for item in items]


class StageSetup(NamedTuple):
    """A stage with the place that does its work and the room that it has."""

    place: Place
    action: Action
    workers: int
    queue: int
    timeout_s: float
    draw: Draw | None = None
    """Instead of the place's own ``draw``, for the first stage."""


class Execution(NamedTuple):
    """Which execution samples belong to."""

    repeat: int
    flow: int
    number: int


class Parcel(NamedTuple):
    """The input of one operation, on its way between two stages."""

    items: tuple[Item, ...]
    cause: int
    arrived_ns: int


class Recording(NamedTuple):
    """Where an execution's samples go and what they are timed by."""

    sink: Sink
    clock: Clock
    origin_ns: int
    progress: Progress


class Inlet:
    """A stage's input queue, which also joins texts into the batches that the stage wants."""

    def __init__(self, setup: StageSetup, clock: Clock) -> None:
        self.queue: asyncio.Queue[Parcel | None] = asyncio.Queue(setup.queue)
        self._batch = setup.place.batch(setup.action)
        self._clock = clock
        self._open: list[Item] = []
        self._texts = 0
        self._cause = -1

    @property
    def free(self) -> int:
        """How many parcels can be put without waiting."""
        return self.queue.maxsize - self.queue.qsize()

    async def put(self, items: Sequence[Item], cause: int) -> int:
        """Hand items on; returns the nanoseconds for which the queue was full."""
        blocked_ns = 0
        for parcel in self._parcels(items, cause):
            blocked_ns += await self._put(parcel)
        return blocked_ns

    async def flush(self) -> None:
        """Hand on the last, incomplete batch."""
        if self._open:
            await self._put(self._close_batch())

    async def end(self, workers: int) -> None:
        """Tell every worker that nothing more will come."""
        for _ in range(workers):
            await self.queue.put(None)

    async def _put(self, parcel: Parcel) -> int:
        if not self.queue.full():
            self.queue.put_nowait(parcel)
            return 0
        started = self._clock()
        await self.queue.put(parcel._replace(arrived_ns=started))
        return self._clock() - started

    def _parcels(self, items: Sequence[Item], cause: int) -> list[Parcel]:
        if self._batch == 0:
            now = self._clock()
            return [Parcel((item,), cause, now) for item in items]
        return self._batches(items, cause)

    def _batches(self, items: Sequence[Item], cause: int) -> list[Parcel]:
        full = []
        self._cause = cause
        for item in items:
            rest = item
            while rest.texts:
                part, rest = _split(rest, self._batch - self._texts)
                self._open.append(part)
                self._texts += len(part.texts)
                if self._texts == self._batch:
                    full.append(self._close_batch())
        return full

    def _close_batch(self) -> Parcel:
        parcel = Parcel(tuple(self._open), self._cause, self._clock())
        self._open, self._texts = [], 0
        return parcel


def _split(item: Item, count: int) -> tuple[Item, Item]:
    """The first ``count`` texts (with their vectors) of an item, and the rest of it."""
    if len(item.texts) <= count:
        return item, item._replace(texts=(), vectors=())
    head = item._replace(texts=item.texts[:count], vectors=item.vectors[:count])
    return head, item._replace(texts=item.texts[count:], vectors=item.vectors[count:])


class WorkList:
    """What the first stage has still to do, in order; unfinished work can be given back."""

    def __init__(self, items: Sequence[Item], workers: int) -> None:
        self._items = items
        self._next = 0
        self._returned: deque[Item] = deque()
        self._workers = workers

    def take(self, room: int) -> list[Item]:
        """Up to ``room`` items, fewer near the end so that no worker is left without any."""
        left = len(self._returned) + len(self._items) - self._next
        count = max(1, min(BURST, room, left // self._workers))
        taken = [self._returned.popleft() for _ in range(min(count, len(self._returned)))]
        while len(taken) < count and self._next < len(self._items):
            taken.append(self._items[self._next])
            self._next += 1
        return taken

    def give_back(self, items: Sequence[Item]) -> None:
        self._returned.extendleft(reversed(items))


class Stream:
    """Runs one execution. Use once."""

    def __init__(
        self,
        execution: Execution,
        flow: Flow,
        setups: Sequence[StageSetup],
        recording: Recording,
        budget: Budget,
    ) -> None:
        self._execution = execution
        self._flow = flow
        self._setups = setups
        self._recording = recording
        self._clock = recording.clock
        self._budget = budget
        self._inlets = [Inlet(setup, recording.clock) for setup in setups[1:]]
        self._operations = 0
        self._latest = [-1] * len(setups)
        self._failures = [0] * len(setups)
        self._succeeded = [False] * len(setups)
        self._start_ns = self._clock()
        self._end_ns: int | None = None
        self._cut_short = False
        self.bytes_read = 0
        self.gave_up: str | None = None
        """Why the execution was given up, if it was."""

    async def run(self, items: Sequence[Item]) -> Window:
        """Move every item through all stages; returns the timed window."""
        work = WorkList(items, self._setups[0].workers)
        self._start_ns = self._clock()
        async with asyncio.TaskGroup() as group:
            for index in range(len(self._setups)):
                group.create_task(self._stage(index, work), name=f"{self._flow.name}/{index}")
        self._end_ns = self._clock()
        return self.window()

    def window(self) -> Window:
        """The timed window, also of an execution that was cut short."""
        origin_ns = self._recording.origin_ns
        return Window(
            repeat=self._execution.repeat,
            flow=self._execution.flow,
            execution=self._execution.number,
            users=0,
            start_ns=self._start_ns - origin_ns,
            end_ns=(self._end_ns or self._clock()) - origin_ns,
            complete=self._end_ns is not None and not self._cut_short,
            workers=tuple(setup.workers for setup in self._setups),
        )

    def _ended(self) -> bool:
        return self.gave_up is not None or self._budget.ends()

    async def _stage(self, index: int, work: WorkList) -> None:
        """All workers of a stage, then what remains to be finished, then word to the next."""
        async with asyncio.TaskGroup() as group:
            for worker in range(self._setups[index].workers):
                task = self._draw_all(worker, work) if index == 0 else self._perform_all(index, worker)
                group.create_task(task)
        await self._finish(index)
        if index < len(self._inlets):
            await self._inlets[index].flush()
            await self._inlets[index].end(self._setups[index + 1].workers)

    async def _draw_all(self, worker: int, work: WorkList) -> None:
        setup = self._setups[0]
        outlet = self._inlets[0] if self._inlets else None
        # A burst no longer than the room downstream: its reads then follow one another unblocked.
        while taken := work.take(outlet.free // setup.workers if outlet else BURST):
            if self._ended():
                self._cut_short = True
                return
            done = await draw(setup, taken, self._clock)
            work.give_back(taken[len(done) :])
            await self._record_burst(worker, done, outlet)

    async def _record_burst(self, worker: int, burst: Sequence[Done], outlet: Inlet | None) -> None:
        """Hand a burst on, then record it; the last read carries the time that it was blocked."""
        first = self._operations
        self._operations += len(burst)
        blocked_ns = 0
        if outlet:
            for number, done in enumerate(burst, first):
                blocked_ns += await outlet.put(done.items, number)
        last = first + len(burst) - 1
        for number, done in enumerate(burst, first):
            self._record(
                0, worker, number, Parcel((), -1, done.start_ns), done, blocked_ns * (number == last)
            )
        count = sum(done.bytes for done in burst)
        self._budget.spend(count)
        self.bytes_read += count
        self._recording.progress.advance(0, len(burst), count)

    async def _perform_all(self, index: int, worker: int) -> None:
        setup = self._setups[index]
        inlet = self._inlets[index - 1]
        outlet = self._inlets[index] if index < len(self._inlets) else None
        while (parcel := await inlet.queue.get()) is not None:
            if self._ended():
                self._cut_short = True
                continue
            number = self._operations
            self._operations += 1
            done = await perform(setup, parcel.items, self._clock)
            blocked_ns = await outlet.put(done.items, number) if outlet else 0
            self._record(index, worker, number, parcel, done, blocked_ns)
            self._recording.progress.advance(index, 1, done.bytes)

    async def _finish(self, index: int) -> None:
        setup = self._setups[index]
        started = self._clock()
        done: Done | None
        try:
            async with asyncio.timeout(setup.timeout_s):
                done = await setup.place.finish(setup.action)
        except TimeoutError:
            done = _late(started, self._clock(), setup.timeout_s)
        except OperationError as error:
            done = Done(started, self._clock() - started, 0, fault=str(error))
        if done is not None:
            number = self._operations
            self._operations += 1
            self._record(index, 0, number, Parcel((), self._latest[index], started), done, 0)

    def _record(
        self, stage: int, worker: int, number: int, parcel: Parcel, done: Done, blocked_ns: int
    ) -> None:
        self._latest[stage] = number
        self._judge(stage, done)
        repeat, flow, execution = self._execution
        recorder = self._recording
        recorder.sink.sample(
            sample_of(
                (repeat, flow, execution, stage, worker, number, parcel.cause, -1),
                parcel.arrived_ns,
                done,
                blocked_ns,
                recorder,
            )
        )

    def _judge(self, stage: int, done: Done) -> None:
        if done.fault is None:
            self._succeeded[stage] = True
            return
        self._failures[stage] += 1
        if not self._succeeded[stage] and self._failures[stage] >= GIVE_UP_AFTER:
            setup = self._flow.stages[stage]
            self.gave_up = (
                f"{setup.action.value} at {setup.place}: the first {GIVE_UP_AFTER} operations all failed, "
                f"the last with: {done.fault}"
            )


async def draw(setup: StageSetup, taken: Sequence[Item], clock: Clock) -> Sequence[Done]:
    """A burst of reads within the stage's time limit; a failure stands for its first item."""
    if setup.draw is not None:
        return setup.draw(taken, clock)
    started = clock()
    try:
        async with asyncio.timeout(setup.timeout_s):
            return await setup.place.draw(taken)
    except TimeoutError:
        return [_late(started, clock(), setup.timeout_s)]
    except OperationError as error:
        return [Done(started, clock() - started, 0, fault=str(error))]


async def draw_one(setup: StageSetup, item: Item, clock: Clock) -> Done:
    """One read."""
    return (await draw(setup, (item,), clock))[0]


async def perform(setup: StageSetup, items: Sequence[Item], clock: Clock) -> Done:
    """One operation within its time limit; a failure or a time-out is a ``Done`` with its fault."""
    started = clock()
    try:
        async with asyncio.timeout(setup.timeout_s):
            return await setup.place.perform(setup.action, items)
    except TimeoutError:
        return _late(started, clock(), setup.timeout_s)
    except OperationError as error:
        return Done(started, clock() - started, 0, fault=str(error))


def _late(started_ns: int, now_ns: int, timeout_s: float) -> Done:
    fault = f"no result within the time limit of {timeout_s:g} s"
    return Done(started_ns, now_ns - started_ns, 0, fault=fault, timed_out=True)


Identity = tuple[int, int, int, int, int, int, int, int]
"""repeat, flow, execution, stage, worker, operation, cause, request."""


def sample_of(
    identity: Identity, intended_ns: int, done: Done, blocked_ns: int, recording: Recording
) -> Sample:
    """The sample of a finished operation, its times made relative to the run's origin."""
    outcome, detail = Outcome.OK, -1
    if done.fault is not None:
        outcome = Outcome.TIMEOUT if done.timed_out else Outcome.FAILED
        detail = recording.sink.fault(done.fault)
    return Sample(
        *identity,
        intended_ns - recording.origin_ns,
        done.start_ns - recording.origin_ns,
        done.setup_ns,
        done.first_byte_ns,
        done.finish_ns,
        done.elapsed_ns,
        blocked_ns,
        done.cpu_ns,
        done.bytes,
        done.io_bytes,
        done.tokens,
        outcome,
        detail,
        done.stat_ns,
        done.load_ns,
    )
