"""What a commit costs in a folder: a small append, made durable.

That is the least that any database pays there; its own work comes on top and is not measured here.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import threading
from pathlib import Path

from pathtrace.model.run import Ceiling
from pathtrace.model.work import Clock
from pathtrace.probes.latency import spread
from pathtrace.units import nanoseconds, seconds

_RECORD = bytes(4096)
_AT_LEAST = 5
_AT_MOST = 200
_sync = getattr(os, "fdatasync", os.fsync)
"""macOS and Windows have no fdatasync."""


class FsyncProbe:
    """Appends 4 KiB and syncs, again and again for about ``limit_s``, in a file that is removed."""

    def __init__(self, resource: str, folder: Path, clock: Clock, limit_s: float = 1.0) -> None:
        self._resource = resource
        self._folder = folder
        self._clock = clock
        self._limit_s = limit_s
        self._stop = threading.Event()

    async def measure(self) -> Ceiling | None:
        """Median latency of a commit, or None if the folder cannot be written."""
        try:
            return await asyncio.to_thread(self._measure)
        except OSError:
            return None
        finally:
            self._stop.set()

    def _measure(self) -> Ceiling:
        start = self._clock()
        descriptor, name = tempfile.mkstemp(prefix=".pathtrace-commit-", dir=self._folder)
        try:
            times = self._commits(descriptor, start + nanoseconds(self._limit_s))
        finally:
            os.close(descriptor)
            os.unlink(name)
        return self._ceiling(times, seconds(self._clock() - start))

    def _commits(self, descriptor: int, deadline: int) -> list[int]:
        times: list[int] = []
        while len(times) < _AT_MOST and not self._stop.is_set():
            before = self._clock()
            if len(times) >= _AT_LEAST and before >= deadline:
                break
            os.write(descriptor, _RECORD)
            _sync(descriptor)
            times.append(self._clock() - before)
        return times

    def _ceiling(self, times: list[int], took_s: float) -> Ceiling:
        median_s = seconds(statistics.median(times))
        return Ceiling(
            resource=self._resource,
            bytes_per_s=None,
            operations_per_s=1 / median_s,
            latency_s=median_s,
            source="measured",
            evidence=f"append of 4 KiB and {_sync.__name__}, {len(times)} times: {spread(times)}",
            took_s=took_s,
        )
