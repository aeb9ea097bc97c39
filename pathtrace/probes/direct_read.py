"""Reads files past the page cache: the system calls under the disk probe, and which way was open.

``O_DIRECT`` into page-aligned memory where the file system takes it; else through the cache,
emptied for that file before and after. Times nothing and chooses nothing.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import sys
from dataclasses import dataclass
from types import TracebackType

_IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})
_REFUSALS = frozenset({errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTTY})


@dataclass(frozen=True, slots=True)
class Way:
    """How files of one place can be read past the cache: flags for ``open``, and words for people."""

    flags: int
    evicts: bool
    text: str


DIRECT = Way(getattr(os, "O_DIRECT", 0), evicts=False, text="direct reads")
BUFFERED = Way(0, evicts=True, text="reads through the emptied page cache (direct I/O refused)")


def choose_way(path: str) -> Way | None:
    """The way that works for this file, tried on its first page; None if in memory or unreadable."""
    if not hasattr(os, "preadv"):
        return None
    try:
        if _file_system(path) in _IN_MEMORY:
            return None
        return DIRECT if DIRECT.flags and _takes_direct(path) else _buffered()
    except OSError:
        return None


def _takes_direct(path: str) -> bool:
    """True if a direct read works; some file systems refuse at open, others at the first read."""
    buffer = Buffer(mmap.PAGESIZE)
    try:
        with OpenFile(path, DIRECT) as file:
            file.read(buffer, 0)
    except OSError as error:
        if error.errno in _REFUSALS:
            return False
        raise
    finally:
        buffer.close()
    return True


def _buffered() -> Way | None:
    return BUFFERED if hasattr(os, "posix_fadvise") else None


def _file_system(path: str) -> str | None:
    """The type of the file system that holds ``path``, by device number; None if the system does not say."""
    if not sys.platform.startswith("linux"):
        return None
    device = os.stat(path).st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as mounts:
        for line in mounts:
            fields = line.split()
            if fields[2] == number:
                return fields[fields.index("-") + 1]
    return None


class Buffer:
    """Page-aligned memory, as direct I/O wants it; ``close`` once nobody reads into it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._map = mmap.mmap(-1, size)
        self.view = memoryview(self._map)

    def close(self) -> None:
        """Give the memory back."""
        self.view.release()
        self._map.close()


class OpenFile:
    """One file opened a given way; its pages are dropped from the cache where that way fills it."""

    def __init__(self, path: str, way: Way) -> None:
        self._path = path
        self._way = way
        self._descriptor = -1

    def __enter__(self) -> OpenFile:
        # Not waiting for the other end, should a pipe lie where a file was listed.
        self._descriptor = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | self._way.flags)
        self._evict()
        return self

    def read(self, buffer: Buffer, offset: int) -> int:
        """One read of up to the buffer's size; 0 at the end of the file."""
        return os.preadv(self._descriptor, [buffer.view], offset)

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._evict()
        os.close(self._descriptor)

    def _evict(self) -> None:
        if self._way.evicts:
            with contextlib.suppress(OSError):  # FUSE may refuse the advice
                os.posix_fadvise(self._descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
