"""Reads files, one operation at a time, in the calling thread, and times open, first byte and close.

Two ways to count. A *document* is one operation: open, read, close. A *block* is one operation of a
file that several threads read together: the first opens it, the last closes it. How the bytes come
(``sources``), and which way a place takes when, is left to others.

An operation reads up to the size that the file had when it was opened. Bytes are those that the
kernel returned. A file that got shorter gives what was left of it, and a fault.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pathtrace.model.work import Clock, Done, Item
from pathtrace.places.file_list import shown
from pathtrace.places.sources import FLAGS, Direct, Mapped, Opening, Plain, Source

_SMALL_BYTES = 64 << 10
WHOLE_BYTES = 64 << 20
"""Up to this size a document is handed on in memory; a longer one as a mapping of its file."""


def read_document(item: Item, block_bytes: int, clock: Clock) -> Done:
    """One document by read calls."""
    if item.size_bytes > _SMALL_BYTES:
        return _read_blockwise(item, Plain, block_bytes, clock)
    return _read_small(item, block_bytes, clock)


def map_document(item: Item, block_bytes: int, clock: Clock) -> Done:
    """One document by a mapping."""
    return _read_blockwise(item, Mapped, block_bytes, clock)


def read_document_directly(item: Item, block_bytes: int, clock: Clock) -> Done:
    """One document past the page cache."""
    return _read_blockwise(item, Direct, block_bytes, clock)


def _read_small(item: Item, block_bytes: int, clock: Clock) -> Done:
    """What ``_read_blockwise`` does, with as little around the system calls as there can be."""
    name, listed, path = item[:3]
    cpu = time.thread_time_ns()
    start = clock()
    fd = -1
    whole = b""
    try:
        fd = os.open(path, FLAGS)  # type: ignore[arg-type]  # items of ours have a path
        asking = clock()
        size = os.fstat(fd).st_size
        opened = clock()
        whole = os.read(fd, min(size, block_bytes))
        first = clock()
        while len(whole) < size and (more := os.read(fd, min(size - len(whole), block_bytes))):
            whole += more
        closing = clock()
        os.close(fd)
        end = clock()
    except OSError as error:
        return _failed(item, start, clock(), len(whole), fd, error)
    got = len(whole)
    cpu = time.thread_time_ns() - cpu
    times = opened - start, first - start, end - closing, cpu
    stat = opened - asking
    if got < size or size < listed:
        return Done(start, end - start, got, (), *times, fault=_shrank(item, got), stat_ns=stat)
    return Done(start, end - start, got, (Item(name, got, path, 0, whole),), *times, stat_ns=stat)


def _read_blockwise(item: Item, kind: Opening, block_bytes: int, clock: Clock) -> Done:
    assert item.path is not None
    cpu = time.thread_time_ns()
    start = clock()
    got, first = 0, -1
    parts: list[memoryview] = []
    try:
        source = kind(item.path)
        asking = clock()
        source.look()
        size = source.size
        opened = clock()
        while got < size and (data := source.block(got, min(block_bytes, size - got))):
            first = clock() - start if first < 0 else first
            got += len(data)
            if size <= WHOLE_BYTES:
                parts.append(data)
        closing = clock()
        del source
        end = clock()
    except (OSError, ValueError, MemoryError) as error:
        return _failed(item, start, clock(), got, -1, error)
    times = opened - start, first, end - closing, time.thread_time_ns() - cpu
    stat = opened - asking
    if got < size or size < item.size_bytes:
        return Done(start, end - start, got, (), *times, fault=_shrank(item, got), stat_ns=stat)
    whole = _joined(parts) if size <= WHOLE_BYTES else _mapping(item.path, got)
    return Done(start, end - start, got, (Item(item.name, got, item.path, 0, whole),), *times, stat_ns=stat)


def _joined(parts: Sequence[memoryview]) -> bytes | memoryview:
    return parts[0] if len(parts) == 1 else b"".join(parts)


_NOTHING = memoryview(b"")


class Block(Item):
    """A stretch of a file, which knows the reading that it is part of."""

    reading: Reading


class Plan(NamedTuple):
    """What one execution reads of one file: the file, in how many blocks, and what is handed on."""

    name: str
    path: str
    size: int
    blocks: int
    opening: Opening
    whole: bool
    """True: the block that completes the file hands on all of it; False: each block hands on itself."""


class Reading:
    """One file while it is read in blocks, by as many threads as there are."""

    def __init__(self, plan: Plan, clock: Clock) -> None:
        self.plan = plan
        self._clock = clock
        self._lock = threading.Lock()
        self._source: Source | None = None
        self._left = plan.blocks
        self._parts: dict[int, memoryview] = {}

    def read(self, block: Item) -> Done:
        """One block: the first call opens the file, the last one lets go of it.

        Little is done here around the system call: after 1 MiB was copied, code and data come from far.
        """
        cpu = time.thread_time_ns()
        start = opened = self._clock()
        name, size, _, offset = block[:4]
        data = memoryview(b"")
        try:
            source = self._source
            if source is None:
                source = self._open()
                opened = self._clock()
            data = source.block(offset, size)
            end = closed = self._clock()
            del source
        except (OSError, ValueError, MemoryError) as error:
            self._passed(block, data)
            return _failed(block, start, self._clock(), 0, -1, error)
        if last := self._passed(block, data):
            closed = self._clock()
        got = len(data)
        times = opened - start, end - start if got else -1, closed - end
        if got < size:
            cpu, fault = time.thread_time_ns() - cpu, _shrank(block, offset + got)
            return Done(start, closed - start, got, (), *times, cpu, fault=fault)
        handed = self._whole(name, last) if self.plan.whole else (Item(name, got, None, offset, data),)
        return Done(start, closed - start, got, handed, *times, time.thread_time_ns() - cpu)

    def skim(self, block: Item) -> Done:
        """As ``read``, and hands nothing on.

        Its CPU time goes from the thread's last block to this one: what lies between is ours too, and the
        clock of a thread is slow to ask.
        """
        start = opened = self._clock()
        size, offset = block[1], block[3]
        try:
            source = self._source
            if source is None:
                source = self._open()
                opened = self._clock()
            got = source.skim(offset, size)
            end = closed = self._clock()
            del source
        except (OSError, ValueError, MemoryError) as error:
            self._passed(block, _NOTHING)
            return _failed(block, start, self._clock(), 0, -1, error)
        if self._passed(block, _NOTHING):
            closed = self._clock()
        cpu = min(_CPU.since_last(), closed - start)  # a thread may have done other work in between
        times = opened - start, end - start if got else -1, closed - end, cpu
        fault = None if got == size else _shrank(block, offset + got)
        return Done(start, closed - start, got, (), *times, fault=fault)

    def let_go(self) -> None:
        """Close the file once no thread is in it any more."""
        with self._lock:
            self._source = None
            self._left = self.plan.blocks
            self._parts = {}

    def _open(self) -> Source:
        with self._lock:
            if self._source is None:
                source = self.plan.opening(self.plan.path)
                source.look()
                self._source = source
            return self._source

    def _passed(self, block: Item, data: memoryview) -> bool:
        """Note that a block is done; True (and the file closed) if it was the last."""
        with self._lock:
            if self.plan.whole:
                self._parts[block.offset] = data
            self._left -= 1
            if self._left > 0:
                return False
            self._left = self.plan.blocks
            self._source = None
            return True

    def _whole(self, name: str, last: bool) -> tuple[Item, ...]:
        if not last:
            return ()
        plan = self.plan
        with self._lock:
            parts, self._parts = self._parts, {}
        whole = _joined([parts[offset] for offset in sorted(parts)])
        return (Item(name, plan.size, plan.path, 0, whole),) if len(whole) == plan.size else ()


class _Cpu(threading.local):
    """What a thread's CPU clock said last."""

    def __init__(self) -> None:
        self._last_ns = time.thread_time_ns()

    def since_last(self) -> int:
        now_ns = time.thread_time_ns()
        grown_ns, self._last_ns = now_ns - self._last_ns, now_ns
        return grown_ns


_CPU = _Cpu()


class Burst(NamedTuple):
    """How much one thread hop may read on, whichever comes first."""

    time_ns: int
    bytes: int


BURST = Burst(4_000_000, 8 << 20)
"""A hop takes a tenth of a millisecond, more on a busy machine. In more buffers than fit into the
processor's caches, copies out of memory would be slower than what the hop costs: 16 cost a fifth more
than 8 where neighbours use the caches too."""
UNHELD_BURST = Burst(4_000_000, 32 << 20)
"""Of reads whose memory is used again at once, so that it costs nothing to let more of them pass."""
DIRECT_BURST = Burst(32_000_000, 8 << 20)
"""Longer, since nobody reads ahead for direct reads: without a ``lane`` the disk is idle in a hop."""


def read_burst(items: Sequence[Item], one: Callable[[Item], Done], clock: Clock, worth: Burst) -> list[Done]:
    """``one(item)`` for the front of ``items``, at least once, while it is ``worth`` it."""
    burst: list[Done] = []
    until, held = clock() + worth.time_ns, 0
    for item in items:
        burst.append(done := one(item))
        held += done.bytes
        if held >= worth.bytes or clock() >= until:
            break
    return burst


def _mapping(path: str, size: int) -> memoryview | bytes | None:
    """The file's bytes without holding them; None if it is gone again (a command may still say so)."""
    try:
        fd = os.open(path, FLAGS)
    except OSError:
        return None
    try:
        return memoryview(mmap.mmap(fd, size, access=mmap.ACCESS_READ))
    except (OSError, ValueError):
        return None
    finally:
        os.close(fd)


def _failed(
    item: Item, start: int, end: int, got: int, fd: int, error: OSError | ValueError | MemoryError
) -> Done:
    if fd >= 0:
        with contextlib.suppress(OSError):
            os.close(fd)
    why = getattr(error, "strerror", None) or error
    if isinstance(error, MemoryError):
        why = "no memory for a block of this size"
    return Done(start, end - start, got, fault=f"{shown(item.name)}: {why}")


def _shrank(item: Item, got: int) -> str:
    return f"{shown(item.name)}: got shorter while the run read it; it ends after {got:,} bytes"
