"""An open file, and the ways in which its bytes come.

By ``read`` calls; by a memory mapping that is copied from (page faults, as a loader would have them); or
by direct reads into aligned memory, which pass the page cache by. Closes itself when its last user lets
go of it. Times nothing; which way a place takes, and when, is left to others.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import threading
from collections.abc import Callable
from typing import Protocol

import numpy as np

from pathtrace.places.buffers import Buffers, on_a_page

FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# O_NONBLOCK: a file that has been replaced by a pipe must not hold a thread for ever.

_O_DIRECT = getattr(os, "O_DIRECT", 0)
_PAGE = mmap.PAGESIZE
_REFUSALS = frozenset({errno.EINVAL, errno.EOPNOTSUPP})
_REFUSED = "the file system refuses direct reads"


class Source(Protocol):
    """Constructing it opens the file: OSError. Then ``look`` comes first."""

    size: int

    def look(self) -> None:
        """Ask how long the file is (``size``), and map it where it is to be mapped. OSError."""
        ...

    def block(self, offset: int, length: int) -> memoryview:
        """Up to ``length`` bytes at ``offset``; fewer if the file has got shorter. OSError."""
        ...

    def skim(self, offset: int, length: int) -> int:
        """The same for whoever wants to have read them, not the bytes: how many there were. OSError."""
        ...


Opening = Callable[[str], Source]
"""One of the classes below."""


class Plain:
    """Read by read calls."""

    size = 0

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, FLAGS)

    def look(self) -> None:
        self.size = os.fstat(self._fd).st_size

    def block(self, offset: int, length: int) -> memoryview:
        data = _BUFFERS.lend(length)
        got = self._fill(data, offset)
        return data if got == length else data[:got]

    def skim(self, offset: int, length: int) -> int:
        return self._fill(_SKIMMED.memory(length), offset)

    def _fill(self, data: memoryview, offset: int) -> int:
        got = _read_into(self._fd, data, offset)
        length = len(data)
        while got < length:
            count = _read_into(self._fd, data[got:], offset + got)
            if not count:
                break
            got += count
        return got

    def __del__(self) -> None:
        if hasattr(self, "_fd"):
            os.close(self._fd)


class Mapped:
    """Copied from a mapping. A file cut off at the very moment of the copy would end the process."""

    size = 0

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, FLAGS)

    def look(self) -> None:
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

    def skim(self, offset: int, length: int) -> int:
        return len(self.block(offset, length))

    def __del__(self) -> None:
        if hasattr(self, "_fd"):
            os.close(self._fd)


class Direct:
    """Read past the page cache, in whole pages: what a block or the file's tail lacks is read with it."""

    size = 0

    def __init__(self, path: str) -> None:
        try:
            self._fd = os.open(path, FLAGS | _O_DIRECT)
        except OSError as error:
            raise _clearer(error) from error

    def look(self) -> None:
        self.size = os.fstat(self._fd).st_size

    def block(self, offset: int, length: int) -> memoryview:
        start = offset - offset % _PAGE
        want = -(-(offset + length - start) // _PAGE) * _PAGE
        data = _PAGES.lend(want)
        got = 0
        try:
            while got < want and not got % _PAGE:  # a read that ends within a page met the file's end
                count = os.preadv(self._fd, [data[got:]], start + got)
                if not count:
                    break
                got += count
        except OSError as error:
            raise _clearer(error) from error
        return data[offset - start : min(got, offset - start + length)]

    def skim(self, offset: int, length: int) -> int:
        return len(self.block(offset, length))

    def __del__(self) -> None:
        if hasattr(self, "_fd"):
            os.close(self._fd)


def direct_refusal(path: str, fstype: str | None) -> str | None:
    """Why ``path`` cannot be read directly, tried on its first page (which fills no cache); None if it can.

    OSError for what has nothing to do with the way of reading.
    """
    if not _O_DIRECT or not hasattr(os, "preadv"):
        return "this system has no direct reads"
    if fstype in ("tmpfs", "ramfs"):
        return f"{fstype} keeps its files in memory: there is nothing to read past it"
    try:
        Direct(path).block(0, _PAGE)
    except OSError as error:
        if error.errno in _REFUSALS:
            return _REFUSED
        raise
    return None


def _clearer(error: OSError) -> OSError:
    return OSError(error.errno, _REFUSED) if error.errno in _REFUSALS else error


def _read_at(fd: int, data: memoryview, offset: int) -> int:
    return os.preadv(fd, (data,), offset)


def _seek_and_read(fd: int, data: memoryview, offset: int) -> int:
    with _seeking:  # Windows: the position belongs to the open file, not to the thread
        os.lseek(fd, offset, os.SEEK_SET)
        got = os.read(fd, len(data))
        data[: len(got)] = got
        return len(got)


_read_into = _read_at if hasattr(os, "preadv") else _seek_and_read
_seeking = threading.Lock()


class _Skimmed(threading.local):
    """Memory of one thread for bytes that nobody looks at: always the same, so that it stays in the caches,
    and from a page on, since the kernel copies a page's bytes faster to a page than across two."""

    def __init__(self) -> None:
        self._memory = memoryview(b"")

    def memory(self, length: int) -> memoryview:
        if len(self._memory) != length:
            self._memory = _PAGES.lend(length)
        return self._memory


_SKIMMED = _Skimmed()
_BUFFERS = Buffers()
_PAGES = Buffers(on_a_page)
