"""One pass of the very read path of a run, with nothing behind it and samples thrown away.

What probes time who want to know what that path does against memory, here or on its server.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pathtrace.model.sample import Reading, Sample, Window
from pathtrace.model.scenario import Flow
from pathtrace.model.work import Clock, Item
from pathtrace.replay.budget import Budget
from pathtrace.replay.operations import Execution, Recording, StageSetup
from pathtrace.replay.stop import StopRequest
from pathtrace.replay.stream import Stream

LIMIT_S = 10.0
"""Enough to know by; a server that hangs must not hold the run up for longer."""


class Rereading:
    """Calling it reads ``items`` once, no longer than ``LIMIT_S``; returns (bytes, operations)."""

    def __init__(
        self, flow: Flow, setup: StageSetup, items: Sequence[Item], clock: Clock, stop: StopRequest
    ) -> None:
        self._flow = replace(flow, stages=flow.stages[:1])
        self._setup = setup
        self._items = items
        self._clock = clock
        self._stop = stop

    def of_the_first(self, most_bytes: int, most_items: int = 1 << 62) -> Rereading:
        """The same of the first items only: up to so many bytes and so many of them, at least one."""
        some = _first(self._items, most_bytes, most_items)
        return Rereading(self._flow, self._setup, some, self._clock, self._stop)

    async def __call__(self) -> tuple[int, int]:
        recording = Recording(_Discard(), self._clock, 0, _Unwatched())
        budget = Budget(1 << 62, LIMIT_S, self._clock, self._stop)
        stream = Stream(Execution(0, 0, 0), self._flow, [self._setup], recording, budget)
        await stream.run(self._items)
        return stream.bytes_read, stream.operations


def _first(items: Sequence[Item], most_bytes: int, most_items: int) -> Sequence[Item]:
    total = 0
    for count, item in enumerate(items, 1):
        total += item.size_bytes
        if total >= most_bytes or count >= most_items:
            return items[:count]
    return items


class _Discard:
    """A sink that keeps nothing."""

    def sample(self, sample: Sample) -> None:
        return

    def reading(self, reading: Reading) -> None:
        return

    def fault(self, text: str) -> int:
        return -1

    def window(self, window: Window) -> None:
        return


class _Unwatched:
    """Progress that nobody is told of."""

    def execution(self, repeat: int, repeats: int | None, flow: str, total_operations: int | None) -> None:
        return

    def advance(self, stage: int, operations: int, bytes: int) -> None:
        return

    def message(self, text: str) -> None:
        return
