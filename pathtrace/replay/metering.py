"""Calls the observers while a run goes on, and knows what that costs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from pathtrace.model.work import Clock
from pathtrace.ports import Observer, Sink
from pathtrace.units import nanoseconds

SLACK_NS = 1_000_000
"""A look that comes this much early is due all the same: the next tick would be far too late."""


class Meter:
    """Asks each observer at its own pace, and all of them at the borders of timed windows."""

    def __init__(
        self,
        observers: Sequence[Observer],
        sink: Sink,
        clock: Clock,
        origin_ns: int,
        cpu_clock: Clock = time.thread_time_ns,
    ) -> None:
        """``cpu_clock``: the calling thread's, since a look that is kept from running costs nobody."""
        self._due = {observer: 0 for observer in observers}
        self._sink = sink
        self._clock = clock
        self._origin_ns = origin_ns
        self._cpu_clock = cpu_clock
        self._cost_ns: dict[str, int] = {}

    @property
    def cost_ns(self) -> Mapping[str, int]:
        """CPU that looking took so far, by the observers' names."""
        return self._cost_ns

    def mark(self) -> None:
        """Read every counter now."""
        for observer in self._due:
            self._observe(observer)

    async def run(self) -> None:
        """Until cancelled: read each counter when it is due."""
        if not self._due:
            return
        tick_s = min(observer.period_s for observer in self._due)
        while True:
            await asyncio.sleep(tick_s)
            now = self._clock()
            for observer, due_ns in self._due.items():
                if now >= due_ns:
                    self._observe(observer)

    def _observe(self, observer: Observer) -> None:
        started, before = self._clock(), self._cpu_clock()
        for reading in observer.observe(started - self._origin_ns):
            self._sink.reading(reading)
        spent = self._cpu_clock() - before
        self._due[observer] = started + nanoseconds(observer.period_s) - SLACK_NS
        self._cost_ns[observer.name] = self._cost_ns.get(observer.name, 0) + spent
