"""The meter asks each observer when it is due, and books what looking takes on its name."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pathtrace.model.sample import Reading
from pathtrace.replay.metering import Meter
from tests.replay.virtual import ListSink


@dataclass(eq=False)
class Slow:
    """An observer whose look takes ``took_ns`` of the clock that all share."""

    name: str
    took_ns: int
    clock: list[int]
    period_s: float = 0.001

    def observe(self, at_ns: int) -> Sequence[Reading]:
        self.clock[0] += self.took_ns
        return [Reading(at_ns, self.name, "all", "busy_s", 1.0)]


def test_what_looking_takes_is_booked_on_each_observers_name() -> None:
    clock, sink = [100], ListSink()
    observers = [
        Slow("cpu", 30, clock),
        Slow("tcp", 500, clock),
        Slow("far", 7, clock),
        Slow("far", 8, clock),
    ]
    meter = Meter(observers, sink, lambda: clock[0], 100, cpu_clock=lambda: clock[0])
    assert meter.cost_ns == {}
    meter.mark()
    meter.mark()
    assert meter.cost_ns == {"cpu": 60, "tcp": 1000, "far": 30}
    assert [(each.observer, each.at_ns) for each in sink.readings[:4]] == [
        ("cpu", 0),
        ("tcp", 30),
        ("far", 530),
        ("far", 537),
    ]


def test_without_observers_there_is_nothing_to_wait_for() -> None:
    meter = Meter((), ListSink(), lambda: 0, 0)
    asyncio.run(meter.run())
    assert meter.cost_ns == {}
