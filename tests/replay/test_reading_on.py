"""A first stage that reads on while it is recorded: nothing lost, nothing counted twice."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.model.sample import Outcome, Window
from pathtrace.model.work import Done, Item
from pathtrace.replay.budget import Budget
from pathtrace.replay.operations import Execution, Recording, StageSetup
from pathtrace.replay.stop import StopRequest
from pathtrace.replay.stream import Stream
from tests.replay.test_stream import ACTIONS, flow, items, of_stage
from tests.replay.virtual import MS, FakePlace, ListSink, Quiet, play


class FakeLane:
    """Reads by a task, and hands over ``burst`` at a time."""

    def __init__(self, place: LanePlace) -> None:
        self._place = place
        self._waiting: deque[Item] = deque()
        self._burst: list[Done] = []
        self._read: list[Done] = []
        self._told = asyncio.Event()
        self._busy = False
        self.ahead = 0
        self.since_ns = place.now()

    def feed(self, items: Sequence[Item]) -> None:
        self.ahead += len(items)
        self._waiting.extend(items)
        if items and not self._busy:
            self._busy = True
            self._place.tasks.append(asyncio.create_task(self._run()))

    async def ready(self) -> list[Done]:
        await self._told.wait()
        self._told.clear()
        done, self._read = self._read, []
        self.ahead -= len(done)
        return done

    def nudge(self) -> None:
        self._told.set()

    def take(self) -> list[Done]:
        done = self._read + self._burst
        self._read, self._burst = [], []
        self.ahead -= len(done)
        return done

    def end(self) -> list[Item]:
        unread = list(self._waiting)
        self._waiting.clear()
        self.ahead -= len(unread)
        return unread

    async def _run(self) -> None:
        while self._waiting:
            item = self._waiting.popleft()
            self.since_ns = self._place.now()
            done = await self._place.read(item)
            self._burst.append(done)
            if len(self._burst) >= self._place.burst or not self._waiting:
                self._read += self._burst
                self._burst = []
                self._told.set()
        self._busy = False


class LanePlace(FakePlace):
    def __init__(
        self, clock: Callable[[], int], service_ms: Callable[[int], float | None], workers: int, burst: int
    ) -> None:
        super().__init__(clock, service_ms, workers)
        self.now = clock
        self.burst = burst
        self.tasks: list[asyncio.Task[None]] = []

    def lane(self) -> FakeLane:
        return FakeLane(self)

    def last_lane(self) -> FakeLane:
        return FakeLane(self)

    async def read(self, item: Item) -> Done:
        return await self._serve((item,))


def stream_of(
    places: Callable[[Callable[[], int]], list[FakePlace]],
    count: int,
    queue: int = 16,
    timeout_s: float = 60.0,
    budget_bytes: int = 10**12,
    stop: StopRequest | None = None,
) -> tuple[ListSink, Window, list[FakePlace]]:
    async def story(clock: Callable[[], int]) -> tuple[ListSink, Window, list[FakePlace]]:
        made, sink = places(clock), ListSink()
        setups = [
            StageSetup(place, ACTIONS[n], place.concurrency(ACTIONS[n]), queue, timeout_s)
            for n, place in enumerate(made)
        ]
        budget = Budget(budget_bytes, 1e9, clock, stop or StopRequest())
        recording = Recording(sink, clock, 0, Quiet())
        stream = Stream(Execution(0, 0, 0), flow(len(made)), setups, recording, budget)
        window = await stream.run(items(count))
        first = made[0]
        assert isinstance(first, LanePlace)
        for task in first.tasks:
            task.cancel()
        await asyncio.gather(*first.tasks, return_exceptions=True)
        return sink, window, made

    return play(story)


def lanes(
    service_ms: Callable[[int], float | None] = lambda n: 1.0, workers: int = 1, burst: int = 4
) -> Callable[[Callable[[], int]], list[FakePlace]]:
    return lambda clock: [LanePlace(clock, service_ms, workers, burst)]


times = st.lists(st.integers(1, 30), min_size=1, max_size=7)


@settings(max_examples=100, deadline=None)
@given(
    read_ms=times,
    take_ms=st.none() | st.tuples(st.integers(1, 4), times),
    workers=st.integers(1, 4),
    burst=st.integers(1, 5),
    count=st.integers(1, 60),
    queue=st.integers(1, 9),
)
def test_every_item_is_read_once_and_a_worker_does_one_thing_at_a_time(
    read_ms: list[int],
    take_ms: tuple[int, list[int]] | None,
    workers: int,
    burst: int,
    count: int,
    queue: int,
) -> None:
    def places(clock: Callable[[], int]) -> list[FakePlace]:
        first = LanePlace(clock, lambda n: read_ms[n % len(read_ms)], workers, burst)
        if take_ms is None:
            return [first]
        return [first, FakePlace(clock, lambda n: take_ms[1][n % len(take_ms[1])], take_ms[0])]

    sink, window, made = stream_of(places, count, queue)
    assert sorted(call[0].name for call in made[0].calls) == sorted(item.name for item in items(count))
    assert window.complete
    for stage in range(len(made)):
        assert len(of_stage(sink, stage)) == count
        for worker in range(made[stage].concurrency(ACTIONS[stage])):
            spans = sorted(
                (s.start_ns, s.start_ns + s.elapsed_ns + s.blocked_ns)
                for s in of_stage(sink, stage)
                if s.worker == worker
            )
            assert all(a[1] <= b[0] for a, b in pairwise(spans))
            assert not spans or (spans[0][0] >= window.start_ns and spans[-1][1] <= window.end_ns)
    ends = {s.operation: s.start_ns + s.elapsed_ns for s in sink.samples}
    assert all(s.cause == -1 or ends[s.cause] <= s.intended_ns <= s.start_ns for s in sink.samples)


def test_reading_never_pauses_while_there_is_room() -> None:
    sink, window, made = stream_of(lanes(), 200)
    assert [call[0].name for call in made[0].calls] == [item.name for item in items(200)]
    assert window.end_ns - window.start_ns == 200 * MS
    assert all(s.blocked_ns == 0 for s in sink.samples)


def test_a_slow_last_stage_blocks_the_first_once_the_queue_is_full() -> None:
    sink, window, _ = stream_of(
        lambda clock: [LanePlace(clock, lambda n: 1, 1, 1), FakePlace(clock, lambda n: 10)], 10, queue=2
    )
    assert window.end_ns - window.start_ns == (1 + 10 * 10) * MS
    assert [s.blocked_ns // MS for s in of_stage(sink, 0)] == [0, 0, 0, 7, 9, 9, 9, 9, 9, 9]


def test_a_read_that_hangs_costs_its_time_limit_and_the_rest_is_read_by_another_thread() -> None:
    sink, window, _ = stream_of(lanes(lambda n: 5000 if n == 2 else 1), 6, timeout_s=1)
    assert [(s.outcome, s.start_ns // MS, s.elapsed_ns // MS) for s in sink.samples] == [
        (Outcome.OK, 0, 1),
        (Outcome.OK, 1, 1),
        (Outcome.TIMEOUT, 2, 1000),
        (Outcome.OK, 1002, 1),
        (Outcome.OK, 1003, 1),
        (Outcome.OK, 1004, 1),
    ]
    assert window.complete


def test_what_was_being_read_when_the_budget_ended_is_recorded_and_no_more_is_begun() -> None:
    sink, window, made = stream_of(lanes(burst=4), 100, budget_bytes=10_000)
    assert len(sink.samples) == len(made[0].calls) == 13  # three bursts of four, and the one in progress
    assert not window.complete


def test_after_a_stop_only_the_read_in_progress_is_finished() -> None:
    stop = StopRequest()

    def service(n: int) -> float:
        if n == 5:
            stop.request(2)
        return 1.0

    sink, window, made = stream_of(lanes(service, burst=4), 100, stop=stop)
    assert len(sink.samples) == len(made[0].calls) == 9  # the burst of 4 to 7 tells, 8 is in progress
    assert not window.complete
