"""Reads slices for a disk probe with several reads in flight, and times each slice and read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from pathtrace.model.work import Clock
from pathtrace.probes.direct_read import Buffer, OpenFile, Way
from pathtrace.probes.slices import Slice, Stretch, Timed

DEPTHS = (1, 4)
"""How many reads are in flight: one, as a plain reader has it, and a few."""

_Job = Callable[[Buffer], int]


class SliceReader:
    """Threads with a buffer each, which read one slice together. ``close`` ends them.

    Stops early at ``deadline`` (of ``clock``) or once ``stop`` is set, but each thread reads once at least.
    """

    def __init__(
        self, way: Way, block_bytes: int, clock: Clock, deadline: int, stop: threading.Event
    ) -> None:
        self._way = way
        self._clock = clock
        self._deadline = deadline
        self._stop = stop
        self._buffers = [Buffer(block_bytes) for _ in range(max(DEPTHS))]
        self._pool = ThreadPoolExecutor(max(DEPTHS), thread_name_prefix="disk-probe")
        self._lock = threading.Lock()

    @property
    def over(self) -> bool:
        """True once nothing more should be read."""
        return self._stop.is_set() or self._clock() >= self._deadline

    def close(self) -> None:
        """End the threads and give the buffers back."""
        self._pool.shutdown()
        for buffer in self._buffers:
            buffer.close()

    def read(self, piece: Slice, depth: int) -> Timed:
        """Read the slice with ``depth`` reads in flight; 0 bytes if it cannot be read."""
        try:
            if isinstance(piece, Stretch):
                with OpenFile(piece.path, self._way) as file:
                    return self._time([partial(file.read, offset=offset) for offset in piece.offsets], depth)
            return self._time([partial(self._read_whole, path) for path in piece.paths], depth)
        except OSError:  # vanished, forbidden or broken: the replay reports that, a ceiling does without it
            return Timed(0, 0, ())

    def _read_whole(self, path: str, buffer: Buffer) -> int:
        """Open, read to the end, close; a file that has vanished reads as nothing."""
        moved = 0
        try:
            with OpenFile(path, self._way) as file:
                while got := file.read(buffer, moved):
                    moved += got
                    if got < buffer.size or self.over:
                        break
        except OSError:
            return 0
        return moved

    def _time(self, jobs: list[_Job], depth: int) -> Timed:
        queue, start = iter(jobs), self._clock()
        parts = list(self._pool.map(partial(self._drain, queue), self._buffers[:depth]))
        elapsed = self._clock() - start
        return Timed(sum(moved for moved, _ in parts), elapsed, tuple(t for _, times in parts for t in times))

    def _drain(self, queue: Iterator[_Job], buffer: Buffer) -> tuple[int, list[int]]:
        moved, times = 0, list[int]()
        while not (times and self.over):
            with self._lock:
                job = next(queue, None)
            if job is None:
                break
            start = self._clock()
            got = job(buffer)
            if got:
                times.append(self._clock() - start)
                moved += got
        return moved, times
