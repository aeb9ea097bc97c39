"""A clock that only moves when everything waits, and places that take set times by it."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pathtrace.errors import OperationError
from pathtrace.model.run import Mount
from pathtrace.model.sample import Reading, Sample, Window
from pathtrace.model.scenario import Action, Start
from pathtrace.model.work import Done, Item, LayerState, PlaceFacts

T = TypeVar("T")
MS = 1_000_000


class _Selector(selectors.DefaultSelector):
    """Instead of waiting for a time-out, moves the loop's clock on by it."""

    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout:
            self.loop.now_ns += round(timeout * 1e9)
        return super().select(0 if timeout is not None else None)


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.now_ns = 0
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)
        self._clock_resolution = 1e-9

    def time(self) -> float:
        return self.now_ns / 1e9


def play(story: Callable[[Callable[[], int]], Coroutine[Any, Any, T]]) -> T:
    """Run ``story(clock)`` in virtual time."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(story(lambda: loop.now_ns))
    finally:
        loop.close()


class FakePlace:
    """Takes ``service`` milliseconds for operation n; None: it fails; items multiply by ``fan_out``."""

    def __init__(
        self,
        clock: Callable[[], int],
        service_ms: Callable[[int], float | None] = lambda n: 1.0,
        workers: int = 1,
        batch: int = 0,
        supply: Sequence[Item] = (),
        texts: int = 1,
    ) -> None:
        self.begun = 0
        self._clock = clock
        self._service_ms = service_ms
        self._workers = workers
        self._batch = batch
        self._supply = supply
        self._texts = texts
        self.calls: list[tuple[Item, ...]] = []
        self.finish_ms: float | None = None
        self.closed = False
        self.mount: Mount | None = None
        self.scratch_folder: Path | None = None
        self.server_pid: int | None = None
        self.identity: str | None = None

    def concurrency(self, action: Action) -> int:
        return self._workers

    def batch(self, action: Action) -> int:
        return self._batch

    async def check(self) -> PlaceFacts:
        return PlaceFacts("fake")

    async def open(self, scratch: Path) -> PlaceFacts:
        return PlaceFacts("fake")

    async def begin(self, start: Start, actions: frozenset[Action]) -> tuple[LayerState, ...]:
        self.begun += 1
        return (LayerState("client_cache", "fake", start.value, "said so"),)

    async def supply(self, action: Action) -> Sequence[Item]:
        return self._supply

    async def draw(self, items: Sequence[Item]) -> Sequence[Done]:
        return [await self._serve((items[0],))]

    async def perform(self, action: Action, items: Sequence[Item]) -> Done:
        done = await self._serve(tuple(items))
        if done.fault:
            raise OperationError(done.fault)
        return done

    async def finish(self, action: Action) -> Done | None:
        if self.finish_ms is None:
            return None
        start = self._clock()
        await asyncio.sleep(self.finish_ms / 1e3)
        return Done(start, self._clock() - start, 0)

    async def fingerprint(self) -> str | None:
        return None

    async def close(self) -> None:
        self.closed = True

    async def _serve(self, items: tuple[Item, ...]) -> Done:
        start, service_ms = self._clock(), self._service_ms(len(self.calls))
        self.calls.append(items)
        await asyncio.sleep((1.0 if service_ms is None else service_ms) / 1e3)
        elapsed = self._clock() - start
        if service_ms is None:
            return Done(start, elapsed, 0, fault="planted failure")
        handed = items[0]._replace(texts=("text",) * self._texts)
        return Done(start, elapsed, sum(item.size_bytes for item in items), (handed,))


class ListSink:
    """Keeps everything that it is given."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self.readings: list[Reading] = []
        self.windows: list[Window] = []
        self.faults: list[str] = []

    def sample(self, sample: Sample) -> None:
        self.samples.append(sample)

    def reading(self, reading: Reading) -> None:
        self.readings.append(reading)

    def fault(self, text: str) -> int:
        if text not in self.faults:
            self.faults.append(text)
        return self.faults.index(text)

    def window(self, window: Window) -> None:
        self.windows.append(window)


class Quiet:
    """Progress that nobody watches."""

    def execution(self, repeat: int, repeats: int | None, flow: str, total_operations: int | None) -> None:
        return

    def advance(self, stage: int, operations: int, bytes: int) -> None:
        return

    def message(self, text: str) -> None:
        return
