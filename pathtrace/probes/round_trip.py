"""What one small read costs where every request crosses a line: a page that is not in memory here.

Knows nothing of what lies behind the mount; its rate is not measured, only how long one request takes.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import sys
from collections.abc import Sequence

from pathtrace.model.run import Ceiling
from pathtrace.model.work import Clock
from pathtrace.probes.latency import spread
from pathtrace.units import KIB, format_bytes, nanoseconds, seconds

_PAGE_BYTES = 4096
_AT_LEAST = 5
_AT_MOST = 50


class RoundTripProbe:
    """Reads single pages at seeded places for about ``limit_s``, each without reading ahead."""

    def __init__(
        self,
        resource: str,
        files: Sequence[tuple[str, int]],
        clock: Clock,
        limit_s: float = 0.5,
        seed: int = 1,
    ) -> None:
        self._resource = resource
        self._files = [(path, size) for path, size in files if size >= _PAGE_BYTES]
        self._clock = clock
        self._limit_s = limit_s
        self._seed = seed

    async def measure(self) -> Ceiling | None:
        """Median latency of a request, and the rate of one that is asked for after the other, each with
        what the kernel reads ahead; None where the page cache cannot be got round or nothing is read."""
        if not self._files or not sys.platform.startswith("linux"):
            return None
        start = self._clock()
        try:
            times = await asyncio.to_thread(self._times, start + nanoseconds(self._limit_s))
        except OSError:
            return None
        middle_s = seconds(statistics.median(times))
        ahead = _read_ahead(self._files[0][0])
        return Ceiling(
            resource=self._resource,
            bytes_per_s=ahead / middle_s if ahead and middle_s else None,
            operations_per_s=None,
            latency_s=middle_s,
            source="measured",
            evidence=f"one page read alone, {len(times)} times: {spread(times)}{_together(ahead)}",
            took_s=seconds(self._clock() - start),
        )

    def _times(self, deadline_ns: int) -> list[int]:
        draw = random.Random(self._seed)
        times: list[int] = []
        while len(times) < _AT_MOST and (len(times) < _AT_LEAST or self._clock() < deadline_ns):
            path, size = draw.choice(self._files)
            times.append(self._one(path, draw.randrange(size // _PAGE_BYTES) * _PAGE_BYTES))
        return times

    def _one(self, path: str, offset: int) -> int:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
            os.posix_fadvise(fd, offset, _PAGE_BYTES, os.POSIX_FADV_DONTNEED)
            start = self._clock()
            os.pread(fd, _PAGE_BYTES, offset)
            return self._clock() - start
        finally:
            os.close(fd)


def _read_ahead(path: str) -> int | None:
    """Bytes that the kernel reads at once for a page that is missing on this mount; None if untold."""
    try:
        device = os.stat(path).st_dev
        with open(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb", "rb") as file:
            return max(_PAGE_BYTES, int(file.read()) * KIB)
    except (OSError, ValueError):
        return None


def _together(ahead: int | None) -> str:
    return f"; {format_bytes(ahead)} are read for each page that is missing" if ahead else ""
