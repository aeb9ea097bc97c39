"""Writes samples and readings as they come, so that a crash costs at most the last second.

Taking one packs it at once into memory; a task of the recorder's own appends what has gathered
to the files, a few times a second, in a worker thread. A disk that refuses ends the recording,
not the program: whoever runs the replay asks ``check_healthy`` and ends the run as partial.
"""

from __future__ import annotations

import asyncio
import io
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiofiles.threadpool import wrap

from pathtrace.errors import StoreError
from pathtrace.model.sample import SAMPLE_COLUMNS, Reading, Sample, Window
from pathtrace.store import files, records
from pathtrace.store.codec import Scrub
from pathtrace.store.records import PACK, Recorded

_FLUSH_S = 0.25
_TRIALS = 500
_TRIAL_SAMPLE = Sample(*(10**11 if code == "i8" else 1 for _, code in SAMPLE_COLUMNS))
"""Numbers as large as real ones: they take longer to pack than small ones."""
_TRIAL_READING = Reading(1, "disk", "disk", "read_bytes", 1.5)


class Recorder:
    """A ``ports.Sink`` into a run's folder. ``start`` it, give it samples, ``close`` it.

    All texts pass through ``scrub``. ``failure`` is set, and ``broken`` with it, once the disk has
    refused; from then on samples are taken and dropped, and what was written stays readable.
    """

    def __init__(self, folder: Path, scrub: Scrub) -> None:
        self._folder = folder
        self._scrub = scrub
        self._faults: dict[str, int] = {}
        self._prefixes: dict[tuple[str, str, str], bytes] = {}
        self._buffers = _Buffers()
        self._files: dict[str, tuple[_CountedFile, Any]] = {}
        self._task: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()
        self._readings = 0
        self._recorded = 0
        self.failure: StoreError | None = None
        self.broken = asyncio.Event()
        self.sample_ns, self._reading_ns = self._calibrate()

    @classmethod
    async def start(cls, folder: Path, scrub: Scrub) -> Recorder:
        """A recorder that has its files open and its task running. StoreError."""
        recorder = cls(folder, scrub)
        try:
            recorder._open()
        except OSError as error:
            raise files.store_error(folder, error) from error
        recorder._task = asyncio.create_task(recorder._keep_writing(), name="recorder")
        return recorder

    def sample(self, sample: Sample) -> None:
        """Take one sample."""
        self._buffers.samples += PACK.pack(*sample)

    def reading(self, reading: Reading) -> None:
        """Take one reading."""
        at_ns, observer, subject, metric, value = reading
        prefix = self._prefixes.get((observer, subject, metric))
        if prefix is None:
            scrub = self._scrub
            prefix = records.reading_prefix(scrub(observer), scrub(subject), scrub(metric))
            self._prefixes[observer, subject, metric] = prefix
        self._buffers.readings += b"%d,%b,%b\n" % (at_ns, prefix, repr(value).encode())
        self._readings += 1

    def fault(self, text: str) -> int:
        """Store a failure's text, once, and return its number."""
        text = self._scrub(text)
        if text not in self._faults:
            self._faults[text] = len(self._faults)
            self._buffers.faults += records.fault_line(text)
        return self._faults[text]

    def window(self, window: Window) -> None:
        """Take the bounds of one execution of a flow."""
        self._buffers.windows += records.window_line(window)

    def check_healthy(self) -> None:
        """Raise the StoreError that ended the recording, if one did."""
        if self.failure is not None:
            raise self.failure

    @property
    def faults(self) -> tuple[str, ...]:
        """The texts so far, redacted, by number."""
        return tuple(self._faults)

    @property
    def recording_ns(self) -> int:
        """CPU time spent on recording so far: what taking costs, as measured at the start, and the writes."""
        taken = self._recorded + len(self._buffers.samples) // PACK.size
        writes = sum(file.cpu_ns for file, _ in self._files.values())
        return round(taken * self.sample_ns + self._readings * self._reading_ns) + writes

    async def flush(self) -> None:
        """Append what has gathered. A refusal is kept in ``failure``, not raised."""
        async with self._writing:
            buffers, self._buffers = self._buffers, _Buffers()
            self._recorded += len(buffers.samples) // PACK.size
            if self.failure is None:
                await self._append(buffers)

    async def close(self) -> None:
        """Write the rest, say that this was the end, and close the files. ``check_healthy`` afterwards."""
        if self._task is None:
            return
        task, self._task = self._task, None
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled() and (bug := task.exception()) is not None:
            raise bug
        await self.flush()
        end = Recorded(self._recorded, self._readings, len(self._faults))
        self._buffers.windows += records.end_line(end)
        await self.flush()
        await asyncio.to_thread(self._sync_and_close)
        files.release_reserve(self._folder)

    async def _keep_writing(self) -> None:
        while True:
            await asyncio.sleep(_FLUSH_S)
            # Shielded: a cancel in mid-write must not lose what has left the buffers already.
            await asyncio.shield(self.flush())

    async def _append(self, buffers: _Buffers) -> None:
        # In this order, so that what is pointed to is there before what points to it.
        parts = (
            (files.FAULTS, buffers.faults),
            (files.SAMPLES, buffers.samples),
            (files.READINGS, buffers.readings),
            (files.WINDOWS, buffers.windows),
        )
        try:
            for name, content in parts:
                rest = memoryview(content)
                while rest:
                    rest = rest[await self._files[name][1].write(rest) :]
        except OSError as error:
            self._fail(error)
            self.broken.set()

    def _sync_and_close(self) -> None:
        """Only now: a sync in the middle would disturb the disks that are being measured."""
        for file, _ in self._files.values():
            try:
                os.fsync(file.fileno())
                file.close()
            except OSError as error:
                self._fail(error)

    def _fail(self, error: OSError) -> None:
        self.failure = self.failure or files.store_error(self._folder, error)
        files.release_reserve(self._folder)

    def _open(self) -> None:
        headers = ((files.SAMPLES, records.SAMPLES_HEADER), (files.READINGS, records.READINGS_HEADER))
        for name in (files.FAULTS, files.SAMPLES, files.READINGS, files.WINDOWS):
            file = _CountedFile(self._folder / name, "xb", opener=_private)
            self._files[name] = (file, wrap(file))
        for name, header in headers:
            self._files[name][0].write(header)

    def _calibrate(self) -> tuple[float, float]:
        """Cost of taking a sample and a reading, by taking some that go nowhere."""
        takes: tuple[Callable[[], None], ...] = (
            lambda: self.sample(_TRIAL_SAMPLE),
            lambda: self.reading(_TRIAL_READING),
        )
        costs = []
        for take in takes:
            start = time.thread_time_ns()
            for _ in range(_TRIALS):
                take()
            costs.append((time.thread_time_ns() - start) / _TRIALS)
        self._buffers, self._readings = _Buffers(), 0
        return costs[0], costs[1]


class _Buffers:
    """What was taken and not yet written."""

    __slots__ = ("faults", "readings", "samples", "windows")

    def __init__(self) -> None:
        self.samples = bytearray()
        self.readings = bytearray()
        self.faults = bytearray()
        self.windows = bytearray()


class _CountedFile(io.FileIO):
    """An unbuffered file that knows the CPU time of its writes."""

    cpu_ns = 0

    def write(self, data: Any) -> int:
        """Append, in whatever thread; may write less than all."""
        start = time.thread_time_ns()
        try:
            return super().write(data) or 0
        finally:
            self.cpu_ns += time.thread_time_ns() - start


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, files.PRIVATE_FILE)
