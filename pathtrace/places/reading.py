"""Reads files, one operation at a time, in the calling thread, and times open, first byte and close.

Two ways to count. A *document* is one operation: open, read, close. A *block* is one operation of a
file that several threads read together: the first opens it, the last closes it. Each way comes by
``read`` calls or by a memory mapping that is copied from (page faults, as a loader would have them).
Which of these a place uses, and when, is the place's affair.

An operation reads up to the size that the file had when it was opened. Bytes are those that the
kernel returned. A file that got shorter gives what was left of it, and a fault.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from pathtrace.model.work import Clock, Done, Item
from pathtrace.places.buffers import Buffers
from pathtrace.places.file_list import shown

_SMALL_BYTES = 64 << 10
WHOLE_BYTES = 64 << 20
"""Up to this size a document is handed on in memory; a longer one as a mapping of its file."""

_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# O_NONBLOCK: a file that has been replaced by a pipe must not hold a thread for ever.


class Source(Protocol):
    """An open file. It closes itself when its last user lets go of it."""

    size: int

    def block(self, offset: int, length: int) -> memoryview:
        """Up to ``length`` bytes at ``offset``; fewer if the file has got shorter. OSError."""
        ...


class Plain:
    """Read by read calls."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, _FLAGS)
        self.size = os.fstat(self._fd).st_size

    def block(self, offset: int, length: int) -> memoryview:
        data = _BUFFERS.lend(length)
        got = 0
        while got < length:
            count = _read_into(self._fd, data[got:], offset + got)
            if not count:
                break
            got += count
        return data[:got]

    def __del__(self) -> None:
        if hasattr(self, "_fd"):
            os.close(self._fd)


class Mapped:
    """Copied from a mapping. A file cut off at the very moment of the copy would end the process."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, _FLAGS)
        self.size = os.fstat(self._fd).st_size
        if self.size:
            self._map = mmap.mmap(self._fd, self.size, access=mmap.ACCESS_READ)
            self._view = np.frombuffer(self._map, dtype=np.uint8)
            self._address = self._view.ctypes.data

    def block(self, offset: int, length: int) -> memoryview:
        there = min(self.size, os.fstat(self._fd).st_size)  # touching what is gone would be fatal
        length = max(0, min(length, there - offset))
        copy = _BUFFERS.lend(length)
        if length:
            # memmove through ctypes lets other threads run while the kernel reads in the pages.
            ctypes.memmove(ctypes.byref(ctypes.c_char.from_buffer(copy)), self._address + offset, length)
        return copy

    def __del__(self) -> None:
        if hasattr(self, "_fd"):
            os.close(self._fd)


def _read_into(fd: int, data: memoryview, offset: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(fd, [data], offset)
    with _seeking:  # Windows: the position belongs to the open file, not to the thread
        os.lseek(fd, offset, os.SEEK_SET)
        got = os.read(fd, len(data))
        data[: len(got)] = got
        return len(got)


_seeking = threading.Lock()
_BUFFERS = Buffers()


def read_document(item: Item, block_bytes: int, clock: Clock) -> Done:
    """One document by read calls."""
    if item.size_bytes > _SMALL_BYTES:
        return _read_blockwise(item, Plain, block_bytes, clock)
    return _read_small(item, block_bytes, clock)


def map_document(item: Item, block_bytes: int, clock: Clock) -> Done:
    """One document by a mapping."""
    return _read_blockwise(item, Mapped, block_bytes, clock)


def _read_small(item: Item, block_bytes: int, clock: Clock) -> Done:
    """What ``_read_blockwise`` does, with as little around the system calls as there can be."""
    name, listed, path = item[:3]
    cpu = time.thread_time_ns()
    start = clock()
    fd = -1
    whole = b""
    try:
        fd = os.open(path, _FLAGS)  # type: ignore[arg-type]  # items of ours have a path
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
    if got < size or size < listed:
        return Done(start, end - start, got, (), *times, fault=_shrank(item, got))
    return Done(start, end - start, got, (Item(name, got, path, 0, whole),), *times)


def _read_blockwise(item: Item, kind: type[Plain] | type[Mapped], block_bytes: int, clock: Clock) -> Done:
    assert item.path is not None
    cpu = time.thread_time_ns()
    start = clock()
    got, first = 0, -1
    parts: list[memoryview] = []
    try:
        source = kind(item.path)
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
    except (OSError, ValueError) as error:
        return _failed(item, start, clock(), got, -1, error)
    times = opened - start, first, end - closing, time.thread_time_ns() - cpu
    if got < size or size < item.size_bytes:
        return Done(start, end - start, got, (), *times, fault=_shrank(item, got))
    whole = _joined(parts) if size <= WHOLE_BYTES else _mapping(item.path, got)
    return Done(start, end - start, got, (Item(item.name, got, item.path, 0, whole),), *times)


def _joined(parts: Sequence[memoryview]) -> bytes | memoryview:
    return parts[0] if len(parts) == 1 else b"".join(parts)


class Block(Item):
    """A stretch of a file, which knows the reading that it is part of."""

    reading: Reading


class Plan(NamedTuple):
    """What one execution reads of one file: the file, in how many blocks, and what is handed on."""

    name: str
    path: str
    size: int
    blocks: int
    mapped: bool
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
        """One block: the first call opens the file, the last one lets go of it."""
        cpu = time.thread_time_ns()
        start = self._clock()
        data = memoryview(b"")
        try:
            source = self._open()
            opened = self._clock()
            data = source.block(block.offset, block.size_bytes)
            end = self._clock()
            del source
        except (OSError, ValueError) as error:
            self._passed(block, data)
            return _failed(block, start, self._clock(), 0, -1, error)
        first = end - start if data else -1
        last = self._passed(block, data)
        closed = self._clock() if last else end
        cpu = time.thread_time_ns() - cpu
        got, elapsed, times = len(data), closed - start, (opened - start, first, closed - end, cpu)
        if got < block.size_bytes:
            return Done(start, elapsed, got, (), *times, fault=_shrank(block, block.offset + got))
        return Done(start, elapsed, got, self._handed(block, data, last), *times)

    def let_go(self) -> None:
        """Close the file once no thread is in it any more."""
        with self._lock:
            self._source = None
            self._left = self.plan.blocks
            self._parts = {}

    def _open(self) -> Source:
        with self._lock:
            if self._source is None:
                self._source = Mapped(self.plan.path) if self.plan.mapped else Plain(self.plan.path)
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

    def _handed(self, block: Item, data: memoryview, last: bool) -> tuple[Item, ...]:
        plan = self.plan
        if not plan.whole:
            return (Item(block.name, len(data), None, block.offset, data),)
        if not last:
            return ()
        with self._lock:
            parts, self._parts = self._parts, {}
        whole = _joined([parts[offset] for offset in sorted(parts)])
        return (Item(block.name, plan.size, plan.path, 0, whole),) if len(whole) == plan.size else ()


def read_burst(items: Sequence[Item], one: Callable[[Item], Done], clock: Clock, worth_ns: int) -> list[Done]:
    """``one(item)`` for the front of ``items`` until ``worth_ns`` have passed."""
    burst: list[Done] = []
    until = clock() + worth_ns
    for item in items:
        burst.append(one(item))
        if clock() >= until:
            break
    return burst


def _mapping(path: str, size: int) -> memoryview | bytes | None:
    """The file's bytes without holding them; None if it is gone again (a command may still say so)."""
    try:
        fd = os.open(path, _FLAGS)
    except OSError:
        return None
    try:
        return memoryview(mmap.mmap(fd, size, access=mmap.ACCESS_READ))
    except (OSError, ValueError):
        return None
    finally:
        os.close(fd)


def _failed(item: Item, start: int, end: int, got: int, fd: int, error: OSError | ValueError) -> Done:
    if fd >= 0:
        with contextlib.suppress(OSError):
            os.close(fd)
    return Done(
        start, end - start, got, fault=f"{shown(item.name)}: {getattr(error, 'strerror', None) or error}"
    )


def _shrank(item: Item, got: int) -> str:
    return f"{shown(item.name)}: got shorter while the run read it; it ends after {got:,} bytes"
