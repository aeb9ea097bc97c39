"""One pass of a files place's own read path, as a run takes it, with a sink of the bench's choice."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pathtrace.model.sample import Reading, Sample, Window
from pathtrace.model.scenario import Action, Flow, Frequency, FrequencyKind, Place, Stage
from pathtrace.model.work import Item
from pathtrace.places.files import Files
from pathtrace.ports import Sink
from pathtrace.replay.budget import Budget
from pathtrace.replay.operations import Draw, Execution, Recording, StageSetup
from pathtrace.replay.stop import StopRequest
from pathtrace.replay.stream import Stream
from pathtrace.store.recorder import Recorder

clock = time.perf_counter_ns
FLOW = Flow(
    "read",
    ("archive",),
    Frequency(FrequencyKind.ONCE, None, False, "once"),
    "nobody",
    (Stage(0, "archive", Action.READ, 0),),
    (),
)


class Discard:
    """A sink that keeps nothing."""

    def sample(self, sample: Sample) -> None:
        return

    def reading(self, reading: Reading) -> None:
        return

    def fault(self, text: str) -> int:
        raise AssertionError(text)

    def window(self, window: Window) -> None:
        return


class Unwatched:
    """Progress that nobody is told of."""

    def execution(self, repeat: int, repeats: int | None, flow: str, total_operations: int | None) -> None:
        return

    def advance(self, stage: int, operations: int, bytes: int) -> None:
        return

    def message(self, text: str) -> None:
        return


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds of one pass; ``own_s`` is what the recorder says that recording cost.

    ``window_s``: the timed window alone, which is what a run's figures are made of.
    """

    wall_s: float
    cpu_s: float
    window_s: float
    own_s: float = 0.0


class Pass:
    """The place is opened once; each call reads everything again."""

    def __init__(self, described: Place, scratch: Path, draw: Draw | None = None) -> None:
        self._runner = asyncio.Runner()
        self._place = Files(described, clock, 1)
        self._draw = draw
        self._described = described
        self._runner.run(self._place.open(scratch))

    def close(self) -> None:
        self._runner.run(self._place.close())
        self._runner.close()

    def paths(self) -> list[str]:
        return [str(item.path) for item in self._runner.run(self._place.supply(Action.READ))]

    def discarded(self) -> Took:
        """With samples made and thrown away."""
        return self._runner.run(self._once(Discard()))

    def recorded(self) -> Took:
        """With samples stored as in a run."""
        folder = Path(tempfile.mkdtemp(prefix="pathtrace-bench-store-"))
        try:
            return self._runner.run(self._recorded(folder))
        finally:
            shutil.rmtree(folder)

    async def _recorded(self, folder: Path) -> Took:
        recorder = await Recorder.start(folder, str)
        took = await self._once(recorder)
        own_s = recorder.recording_ns / 1e9
        await recorder.close()
        recorder.check_healthy()
        return Took(took.wall_s, took.cpu_s, took.window_s, own_s)

    async def _once(self, sink: Sink) -> Took:
        items: Sequence[Item] = await self._place.supply(Action.READ)
        workers = self._place.concurrency(Action.READ)
        setup = StageSetup(self._place, Action.READ, workers, 16, 60.0, self._draw)
        budget = Budget(1 << 62, 3600.0, clock, StopRequest())
        stream = Stream(Execution(0, 0, 0), FLOW, [setup], Recording(sink, clock, 0, Unwatched()), budget)
        cpu_s, start = time.process_time(), clock()
        window = await stream.run(items)
        wall_s, window_s = (clock() - start) / 1e9, (window.end_ns - window.start_ns) / 1e9
        took = Took(wall_s, time.process_time() - cpu_s, window_s)
        assert stream.bytes_read == sum(item.size_bytes for item in items)
        return took


def _read(path: str) -> int:
    fd = os.open(path, os.O_RDONLY)
    try:
        return len(os.read(fd, os.fstat(fd).st_size))
    finally:
        os.close(fd)


def bare_pool(paths: Sequence[str], threads: int) -> float:
    """Seconds that a thread pool takes for the same reads, one future a file."""
    return _pooled(paths, threads, _read, 1)


def fed_pool(paths: Sequence[str], threads: int) -> float:
    """The same, with 64 files a future."""
    return _pooled(paths, threads, _read, 64)


def _pooled(paths: Sequence[str], threads: int, read: Callable[[str], int], at_once: int) -> float:
    def several(some: Sequence[str]) -> int:
        return sum(map(read, some))

    start = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        if at_once == 1:
            futures = [pool.submit(read, path) for path in paths]
        else:
            futures = [pool.submit(several, paths[at : at + at_once]) for at in range(0, len(paths), at_once)]
        assert sum(future.result() for future in futures) > 0
    return time.perf_counter() - start
