"""What a stream does with time: who is busy, blocked, starved, and what released each operation."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.model.sample import Outcome, Sample, Window
from pathtrace.model.scenario import Action, Flow, Frequency, FrequencyKind, Hop, Phase, Stage
from pathtrace.model.work import Item
from pathtrace.replay.budget import Budget
from pathtrace.replay.operations import GIVE_UP_AFTER, HANGS, Execution, Recording, StageSetup
from pathtrace.replay.stop import StopRequest
from pathtrace.replay.stream import Stream
from tests.replay.virtual import MS, FakePlace, ListSink, Quiet, play

ACTIONS = (Action.READ, Action.PROCESS, Action.INSERT)


def items(count: int) -> list[Item]:
    return [Item(f"document {n}", 1000) for n in range(count)]


def flow(stages: int) -> Flow:
    path = tuple(f"place{n}" for n in range(stages))
    hop = Hop("place0->end", "place0", path[-1], Phase.INGEST, tuple(range(stages)), 0)
    return Flow(
        "index",
        path,
        Frequency(FrequencyKind.EVERY, 86400.0, False, "every 24 h"),
        "nobody",
        tuple(Stage(n, path[n], ACTIONS[n], 0) for n in range(stages)),
        (hop,),
    )


Story = Callable[[Callable[[], int]], Coroutine[Any, Any, tuple[ListSink, Window, Stream]]]


def stream_of(
    places: Callable[[Callable[[], int]], Sequence[FakePlace]],
    count: int,
    queue: int = 16,
    timeout_s: float = 60.0,
    budget_bytes: int = 10**12,
    stop: StopRequest | None = None,
) -> tuple[ListSink, Window, Stream]:
    async def story(clock: Callable[[], int]) -> tuple[ListSink, Window, Stream]:
        made, sink = places(clock), ListSink()
        setups = [
            StageSetup(place, ACTIONS[n], place.concurrency(ACTIONS[n]), queue, timeout_s)
            for n, place in enumerate(made)
        ]
        budget = Budget(budget_bytes, 1e9, clock, stop or StopRequest())
        recording = Recording(sink, clock, 0, Quiet())
        stream = Stream(Execution(0, 0, 0), flow(len(made)), setups, recording, budget)
        return sink, await stream.run(items(count)), stream

    return play(story)


def of_stage(sink: ListSink, stage: int) -> list[Sample]:
    return [sample for sample in sink.samples if sample.stage == stage]


def test_a_slow_last_stage_blocks_the_first_once_the_queue_is_full() -> None:
    sink, window, _ = stream_of(
        lambda clock: [FakePlace(clock, lambda n: 1), FakePlace(clock, lambda n: 10)], 10, queue=2
    )
    assert window.end_ns - window.start_ns == (1 + 10 * 10) * MS
    # The fourth read ends at 4 ms and waits for room until 11 ms; each later one waits 9 of 10 ms.
    assert [s.blocked_ns // MS for s in of_stage(sink, 0)] == [0, 0, 0, 7, 9, 9, 9, 9, 9, 9]
    assert all(s.blocked_ns == 0 for s in of_stage(sink, 1))


def test_each_operation_carries_what_released_it() -> None:
    sink, _, _ = stream_of(lambda clock: [FakePlace(clock), FakePlace(clock)], 3)
    assert [s.cause for s in of_stage(sink, 0)] == [-1, -1, -1]
    assert [s.cause for s in of_stage(sink, 1)] == [s.operation for s in of_stage(sink, 0)]


def test_texts_are_joined_into_batches_of_exactly_the_size_asked_for() -> None:
    made: list[FakePlace] = []

    def places(clock: Callable[[], int]) -> list[FakePlace]:
        made.extend([FakePlace(clock, texts=7), FakePlace(clock, batch=10)])
        return made

    stream_of(places, 5)
    assert [sum(len(item.texts) for item in call) for call in made[1].calls] == [10, 10, 10, 5]


def test_a_failed_operation_is_a_sample_and_the_rest_goes_on() -> None:
    sink, window, _ = stream_of(
        lambda clock: [FakePlace(clock), FakePlace(clock, lambda n: None if n == 1 else 1)], 4
    )
    assert [s.outcome for s in of_stage(sink, 1)] == [Outcome.OK, Outcome.FAILED, Outcome.OK, Outcome.OK]
    assert sink.faults == ["planted failure"]
    assert window.complete


def test_an_operation_over_its_time_limit_is_a_timeout() -> None:
    sink, _, _ = stream_of(
        lambda clock: [FakePlace(clock), FakePlace(clock, lambda n: 5000 if n == 0 else 1)], 2, timeout_s=1
    )
    assert [(s.outcome, s.elapsed_ns) for s in of_stage(sink, 1)] == [
        (Outcome.TIMEOUT, 1000 * MS),
        (Outcome.OK, 1 * MS),
    ]


def test_a_stage_that_never_succeeds_ends_the_execution() -> None:
    sink, window, stream = stream_of(lambda clock: [FakePlace(clock), FakePlace(clock, lambda n: None)], 500)
    assert len(of_stage(sink, 1)) == GIVE_UP_AFTER
    assert not window.complete
    assert stream.gave_up is not None
    assert "planted failure" in stream.gave_up


def test_the_byte_budget_ends_reading_between_operations() -> None:
    sink, window, _ = stream_of(lambda clock: [FakePlace(clock)], 100, budget_bytes=10_000)
    assert sum(s.bytes for s in sink.samples) == 10_000
    assert not window.complete


def test_a_last_commit_is_an_operation_of_its_stage() -> None:
    def places(clock: Callable[[], int]) -> list[FakePlace]:
        last = FakePlace(clock)
        last.finish_ms = 50
        return [FakePlace(clock), last]

    sink, window, _ = stream_of(places, 2)
    assert of_stage(sink, 1)[-1].elapsed_ns == 50 * MS
    assert of_stage(sink, 1)[-1].cause == of_stage(sink, 1)[-2].operation
    assert window.end_ns == of_stage(sink, 1)[-1].start_ns + 50 * MS


pipelines = st.lists(
    st.tuples(st.integers(1, 4), st.lists(st.integers(1, 30), min_size=1, max_size=7)), min_size=1, max_size=3
)


@settings(max_examples=60, deadline=None)
@given(stages=pipelines, count=st.integers(1, 40), queue=st.integers(1, 5))
def test_busy_and_blocked_time_never_exceed_a_workers_wall_time(
    stages: list[tuple[int, list[int]]], count: int, queue: int
) -> None:
    def places(clock: Callable[[], int]) -> list[FakePlace]:
        return [
            FakePlace(clock, lambda n, times=times: times[n % len(times)], workers)  # type: ignore[misc]
            for workers, times in stages
        ]

    sink, window, _ = stream_of(places, count, queue)
    wall = window.end_ns - window.start_ns
    for stage in range(len(stages)):
        samples = of_stage(sink, stage)
        assert len(samples) == count
        for worker in range(stages[stage][0]):
            spans = sorted(
                (s.start_ns, s.start_ns + s.elapsed_ns + s.blocked_ns) for s in samples if s.worker == worker
            )
            assert sum(end - start for start, end in spans) <= wall
            assert all(a[1] <= b[0] for a, b in pairwise(spans))
    ends = {s.operation: s.start_ns + s.elapsed_ns for s in sink.samples}
    assert all(s.cause == -1 or ends[s.cause] <= s.intended_ns <= s.start_ns for s in sink.samples)


def test_after_a_stop_no_further_operation_starts() -> None:
    stop = StopRequest()

    def places(clock: Callable[[], int]) -> list[FakePlace]:
        def service(n: int) -> float:
            if n == 2:
                stop.request(2)
            return 1.0

        return [FakePlace(clock, service), FakePlace(clock)]

    sink, window, _ = stream_of(places, 100, stop=stop)
    assert len(of_stage(sink, 0)) == 3
    assert not window.complete


def test_a_stage_that_hangs_after_it_had_worked_ends_the_execution_soon() -> None:
    """Each operation that hangs costs the whole time limit: the rest of a long list may not."""
    sink, window, stream = stream_of(
        lambda clock: [FakePlace(clock), FakePlace(clock, lambda n: 1 if n < 3 else 5000)], 500, timeout_s=1
    )
    assert [s.outcome for s in of_stage(sink, 1)] == [Outcome.OK] * 3 + [Outcome.TIMEOUT] * HANGS
    assert not window.complete
    assert stream.gave_up == (
        f"process at place1: {HANGS} operations in a row did not end, "
        "the last with: no result within the time limit of 1 s"
    )


def test_operations_that_hang_now_and_then_do_not() -> None:
    sink, window, _ = stream_of(
        lambda clock: [FakePlace(clock), FakePlace(clock, lambda n: 1 if n % HANGS == 0 else 5000)],
        20,
        timeout_s=1,
    )
    assert len(of_stage(sink, 1)) == 20
    assert window.complete
