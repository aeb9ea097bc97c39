"""One operation of a stage, within its time limit, and the sample that it becomes.

A failure or a time-out is a ``Done`` with its fault, never an exception: the replay goes on. Which
operations there are, and in what order, is for ``stream`` and ``asking``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pathtrace.errors import OperationError
from pathtrace.model.sample import Outcome, Sample
from pathtrace.model.scenario import Action
from pathtrace.model.work import Clock, Done, Item
from pathtrace.ports import Lane, Place, Progress, ReadsOn, Sink
from pathtrace.units import nanoseconds, seconds

GIVE_UP_AFTER = 20
"""Failures in a row, without one success, after which a stage's flow is ended."""

_LOOK_AGAIN_NS = 1_000_000_000

HANGS = 5
"""Operations in a row that ran into their time limit, after which a stage's flow is ended: each costs all of
that limit, and whoever hangs as long as that seldom comes back."""

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


class Recording(NamedTuple):
    """Where an execution's samples go and what they are timed by."""

    sink: Sink
    clock: Clock
    origin_ns: int
    progress: Progress


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


def lane_of(setup: StageSetup) -> Lane | None:
    """A lane for one worker of the first stage, where its place has any."""
    place = setup.place
    return place.lane() if setup.draw is None and isinstance(place, ReadsOn) else None


def last_lane_of(setup: StageSetup) -> Lane | None:
    """The same for a stage that is the only one."""
    place = setup.place
    return place.last_lane() if setup.draw is None and isinstance(place, ReadsOn) else None


async def read_on(lane: Lane, setup: StageSetup, clock: Clock) -> list[Done]:
    """What a watched lane has read, the last of it late if it took longer than the time limit."""
    while not (done := await lane.ready()):
        since_ns = lane.since_ns
        if clock() - since_ns >= nanoseconds(setup.timeout_s):
            return [*lane.take(), _late(since_ns, clock(), setup.timeout_s)]
    return done


class Watch:
    """Nudges a lane whose read takes longer than the time limit. Costs nothing as long as none does,
    where a time-out around every burst would be a tenth of what its recording takes."""

    def __init__(self, lane: Lane, timeout_s: float, clock: Clock) -> None:
        self._lane = lane
        self._limit_ns = nanoseconds(timeout_s)
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._handle = self._loop.call_later(timeout_s, self._look)

    def end(self) -> None:
        self._handle.cancel()

    def _look(self) -> None:
        left_ns = self._lane.since_ns + self._limit_ns - self._clock()
        if left_ns <= 0:
            self._lane.nudge()
            left_ns = min(self._limit_ns, _LOOK_AGAIN_NS)
        self._handle = self._loop.call_later(seconds(left_ns), self._look)


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


async def finish(setup: StageSetup, clock: Clock) -> Done | None:
    """What a stage has still to do after its last item, within its time limit; None if nothing."""
    started = clock()
    try:
        async with asyncio.timeout(setup.timeout_s):
            return await setup.place.finish(setup.action)
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
