"""Reads become samples at once, or later; none is lost, none waits long."""

from __future__ import annotations

from pathtrace.model.work import Done
from pathtrace.replay.operations import Execution, Recording
from pathtrace.replay.taking_down import Reads
from tests.replay.virtual import MS, ListSink, Quiet


class Moments:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


def made() -> tuple[Moments, ListSink, Reads]:
    clock, sink = Moments(), ListSink()
    return clock, sink, Reads(Execution(2, 1, 0), Recording(sink, clock, 0, Quiet()))


def burst(first: int, count: int) -> list[Done]:
    return [Done(number, 1, 10) for number in range(first, first + count)]


def test_what_may_wait_is_taken_down_at_the_end_in_order() -> None:
    _, sink, reads = made()
    reads.later(0, 0, burst(0, 3))
    reads.later(1, 3, burst(3, 2))
    assert sink.samples == []
    reads.finish()
    assert [(each.worker, each.operation, each.start_ns) for each in sink.samples] == [
        (0, 0, 0),
        (0, 1, 1),
        (0, 2, 2),
        (1, 3, 3),
        (1, 4, 4),
    ]


def test_nothing_waits_longer_than_half_a_second() -> None:
    clock, sink, reads = made()
    reads.later(0, 0, burst(0, 3))
    clock.now += 499 * MS
    reads.later(0, 3, burst(3, 1))
    assert sink.samples == []
    clock.now += 1 * MS
    reads.later(0, 4, burst(4, 1))
    assert [each.operation for each in sink.samples] == [0, 1, 2, 3, 4]


def test_no_more_wait_than_memory_should_hold() -> None:
    _, sink, reads = made()
    for first in range(0, 1 << 14, 64):
        reads.later(0, first, burst(first, 64))
    assert len(sink.samples) == 1 << 14


def test_the_last_read_of_a_burst_carries_the_time_blocked() -> None:
    _, sink, reads = made()
    reads.now(0, 7, burst(0, 3), 500)
    assert [(each.operation, each.blocked_ns) for each in sink.samples] == [(7, 0), (8, 0), (9, 500)]
