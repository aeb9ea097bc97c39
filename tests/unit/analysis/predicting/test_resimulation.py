"""Recorded operations played again: the planted truth of the virtual replay comes out."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.analysis.executions import Execution, execution, executions
from pathtrace.analysis.predicting.resimulation import (
    Operations,
    operations_of,
    replay_requests,
    replay_stream,
)
from pathtrace.model.sample import Sample, Window
from pathtrace.store.runs import load
from pathtrace.units import seconds
from tests.replay.test_asking import ask
from tests.replay.test_stream import stream_of
from tests.replay.virtual import MS, FakePlace
from tests.unit.analysis.builders import Desk, stream, table

KEPT = load(Path(__file__).parents[3] / "data" / "runs" / "v1")


def recorded(samples: list[Sample], window: Window) -> Execution:
    """What analysis sees of one execution."""
    moved = dataclasses.replace(KEPT, samples=table(samples), windows=(window,))
    stages = dataclasses.replace(
        KEPT.scenario.flows[0], stages=KEPT.scenario.flows[0].stages * (1 + max(s.stage for s in samples))
    )
    scenario = dataclasses.replace(KEPT.scenario, flows=(stages,))
    return execution(dataclasses.replace(moved, scenario=scenario), 0, 0, 0)


def simulated(part: Execution, workers: tuple[int, ...], queue: int = 16) -> float:
    """Seconds of a stream that is played again."""
    return replay_stream(operations_of(part, len(workers)), workers, [queue] * len(workers)).duration_s


def test_starts_of_the_kept_run_are_not_looked_at() -> None:
    """Its samples are written by hand: both operations of the stream claim the same millisecond, which
    no replay could have given, since the second one works on what the first one hands on."""
    index, answer = executions(KEPT)
    assert simulated(index, (2, 2)) == pytest.approx(0.002)
    asked = replay_requests(operations_of(answer, 2), 1, None)
    assert (asked.duration_s, asked.request_s) == (0.001, 0.001)
    assert answer.wall_ns == MS


def cycle(times: list[int]) -> Callable[[int], float | None]:
    """Milliseconds of operation n, over and over."""
    return lambda n: float(times[n % len(times)])


def handed_over(part: Execution, gaps_ns: Sequence[int]) -> Execution:
    """With so much before each operation of a single worker."""
    late = np.cumsum(gaps_ns)
    return dataclasses.replace(part, start=part.start + late, end=part.end + late)


def test_what_hands_operations_over_usually_takes_so_long_again() -> None:
    sink, window, _ = stream_of(places([[2, 3, 4]], [1]), 200)
    part = handed_over(recorded(sink.samples, window), [0, *[MS] * 199])
    assert simulated(part, (1,)) == pytest.approx(seconds(part.wall_ns))


def test_a_stall_between_operations_is_not_explained_away() -> None:
    sink, window, _ = stream_of(places([[2, 3, 4]], [1]), 200)
    part = handed_over(recorded(sink.samples, window), [0, *[MS] * 198, 500 * MS])
    assert seconds(part.wall_ns) - simulated(part, (1,)) == pytest.approx(0.5, abs=0.01)


SERVICES = st.lists(st.integers(1, 40), min_size=3, max_size=9)


def places(services: list[list[int]], workers: list[int]) -> Callable[[Callable[[], int]], list[FakePlace]]:
    def made(clock: Callable[[], int]) -> list[FakePlace]:
        return [
            FakePlace(clock, cycle(times), workers=count)
            for times, count in zip(services, workers, strict=True)
        ]

    return made


@settings(deadline=None, max_examples=60)
@given(
    services=st.lists(SERVICES, min_size=1, max_size=3),
    workers=st.lists(st.integers(1, 4), min_size=3, max_size=3),
    queue=st.integers(1, 5),
    count=st.integers(1, 40),
)
def test_without_a_change_a_stream_takes_what_it_took(
    services: list[list[int]], workers: list[int], queue: int, count: int
) -> None:
    """Of several readers one may end alone with what it had taken, while the others find nothing left: at
    most one read is of that kind."""
    sink, window, _ = stream_of(places(services, workers[: len(services)]), count, queue)
    part = recorded(sink.samples, window)
    measured_s = seconds(part.wall_ns)
    tail_s = max(services[0]) / 1e3 if workers[0] > 1 else 0.0
    assert abs(simulated(part, window.workers, queue) - measured_s) <= 0.05 * measured_s + tail_s


@settings(deadline=None, max_examples=40)
@given(
    services=st.lists(SERVICES, min_size=2, max_size=2),
    batch=st.integers(1, 8),
    texts=st.integers(1, 9),
    count=st.integers(20, 60),
)
def test_joined_batches_and_pieces_take_what_they_took(
    services: list[list[int]], batch: int, texts: int, count: int
) -> None:
    sink, window, _ = stream_of(
        lambda clock: [
            FakePlace(clock, cycle(services[0]), texts=texts),
            FakePlace(clock, cycle(services[1]), batch=batch),
        ],
        count,
    )
    part = recorded(sink.samples, window)
    assert simulated(part, window.workers) == pytest.approx(seconds(part.wall_ns), rel=0.05)


def test_a_last_commit_counts() -> None:
    def made(clock: Callable[[], int]) -> list[FakePlace]:
        database = FakePlace(clock, lambda n: 2.0)
        database.finish_ms = 50.0
        return [FakePlace(clock), database]

    sink, window, _ = stream_of(made, 10)
    assert simulated(recorded(sink.samples, window), window.workers) == pytest.approx(0.071)


@settings(deadline=None, max_examples=40)
@given(services=st.lists(SERVICES, min_size=3, max_size=3), users=st.integers(1, 5), count=st.integers(1, 40))
def test_people_who_ask_in_turn_take_what_they_took(
    services: list[list[int]], users: int, count: int
) -> None:
    timed = (cycle(services[0]), cycle(services[1]), cycle(services[2]))
    sink, window = ask(timed, count, users)
    again = replay_requests(operations_of(recorded(sink.samples, window), 3), users, None)
    assert again.duration_s == pytest.approx(seconds(window.end_ns - window.start_ns), rel=0.05)


def faster(operations: Operations, stage: int, ratio: float) -> Operations:
    took = [
        each * (ratio if at == stage else 1.0)
        for each, at in zip(operations.took_ns, operations.stage, strict=True)
    ]
    return dataclasses.replace(operations, took_ns=took)


@settings(deadline=None, max_examples=60)
@given(
    services=st.lists(SERVICES, min_size=3, max_size=3),
    queue=st.integers(1, 4),
    ratio=st.floats(0.0, 1.0),
    stage=st.integers(0, 2),
)
def test_faster_work_of_single_workers_is_never_slower(
    services: list[list[int]], queue: int, ratio: float, stage: int
) -> None:
    sink, window, _ = stream_of(places(services, [1, 1, 1]), 30, queue)
    operations = operations_of(recorded(sink.samples, window), 3)
    before = replay_stream(operations, [1, 1, 1], [queue] * 3).duration_s
    after = replay_stream(faster(operations, stage, ratio), [1, 1, 1], [queue] * 3).duration_s
    assert after <= before * (1 + 1e-9)


@settings(deadline=None, max_examples=40)
@given(times=SERVICES, workers=st.integers(1, 4), count=st.integers(1, 50))
def test_twice_the_workers_are_never_slower(times: list[int], workers: int, count: int) -> None:
    sink, window, _ = stream_of(places([times], [workers]), count)
    part = recorded(sink.samples, window)
    assert simulated(part, (2 * workers,)) <= simulated(part, (workers,)) * (1 + 1e-9)


def test_twice_the_workers_of_a_stage_that_holds_halve_its_time() -> None:
    sink, window, _ = stream_of(places([[1], [10]], [1, 2]), 100)
    part = recorded(sink.samples, window)
    assert simulated(part, (1, 4)) == pytest.approx(0.25, rel=0.03)


def test_people_wait_for_the_handing_over_between_the_parts_of_an_answer() -> None:
    sink, window = ask((lambda n: 1, lambda n: 8, lambda n: 1), requests=10, users=1)
    part = recorded(sink.samples, window)
    late = np.arange(len(part)) * MS
    part = dataclasses.replace(part, start=part.start + late, end=part.end + late)
    come = np.where(part.stage > 0, part.start - MS, part.start)
    part = dataclasses.replace(part, intended=come)
    again = replay_requests(operations_of(part, 3), 1, None)
    assert again.duration_s == pytest.approx(seconds(int(part.wall_ns)), rel=0.1)


def test_what_is_shared_holds_more_workers() -> None:
    """Each read takes 10 ms, of which 6 ms of something that only one can use at a time."""
    sink, window, _ = stream_of(places([[10]], [1]), 50)
    operations = operations_of(recorded(sink.samples, window), 1)
    held = dataclasses.replace(operations, held_ns=[6.0 * MS] * 50)
    assert replay_stream(held, [1], [1]).duration_s == pytest.approx(0.5)
    assert replay_stream(held, [8], [1]).duration_s == pytest.approx(0.3, rel=0.03)


def test_requests_on_schedule_come_whatever_the_answers_do() -> None:
    sink, window = ask((lambda n: 1, lambda n: 8, lambda n: 1), requests=10, users=1)
    operations = operations_of(recorded(sink.samples, window), 3)
    again = replay_requests(operations, 1, 10.0)
    assert again.duration_s == pytest.approx(0.91)
    assert again.request_s == pytest.approx(0.01)


def test_a_hundred_thousand_operations_take_less_than_five_seconds() -> None:
    took = np.random.default_rng(1).integers(MS // 2, 2 * MS, 50_000).tolist()
    samples, window = stream([Desk(4), Desk(3, 16)], lambda stage, number: took[number], 50_000)
    part = recorded(samples, window)
    began = time.process_time()
    again = simulated(part, window.workers)
    assert time.process_time() - began < 5.0
    assert again == pytest.approx(seconds(part.wall_ns), rel=0.05)
