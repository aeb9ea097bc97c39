"""The client's page cache: what of a file is in memory, and how to empty or fill it, with proof.

Proof is the cachestat system call (Linux 6.5), else mincore. Where neither may answer, the state is
``unknown`` and says why; nothing is guessed. Not Linux: always unknown. The cache of a file server,
of ZFS (ARC) or below a loop device lies outside of what is seen here.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import mmap
import os
import sys
from collections.abc import Callable
from typing import NamedTuple

from pathtrace.units import format_count

_CACHESTAT = 451  # the same number on every architecture
_NEARLY = 0.01  # a share of pages too small to change a figure; our own look at a header stays below it
_WARM_BLOCK = 1 << 20


class Residency(NamedTuple):
    """Pages of one file: how many it has, how many are in memory, how many of those are unwritten."""

    pages: int
    resident: int
    dirty: int
    """-1: not known."""
    how: str


class Look(NamedTuple):
    """Sum over files. ``unproved`` files could not be asked."""

    files: int = 0
    pages: int = 0
    resident: int = 0
    unproved: int = 0
    how: str = ""

    def plus(self, other: Look) -> Look:
        """Both together."""
        how = " and ".join(sorted({*filter(None, self.how.split(" and ")), *filter(None, [other.how])}))
        return Look(
            self.files + other.files,
            self.pages + other.pages,
            self.resident + other.resident,
            self.unproved + other.unproved,
            how,
        )

    @property
    def state(self) -> str:
        """cold, warm or unknown: cold and warm up to one page in a thousand."""
        if self.unproved or not self.pages:
            return "unknown"
        share = self.resident / self.pages
        return "cold" if share <= _NEARLY else "warm" if share >= 1 - _NEARLY else "unknown"

    @property
    def evidence(self) -> str:
        """``cachestat: 0 of 65,733 pages resident in 4,213 files``."""
        unproved = format_count(self.unproved, "file")
        if not self.how:
            return f"neither cachestat nor mincore could tell for {unproved}"
        files = format_count(self.files, "file")
        text = f"{self.how}: {self.resident:,} of {self.pages:,} pages resident in {files}"
        return f"{text}; {unproved} could not be asked" if self.unproved else text


class _Range(ctypes.Structure):
    _fields_ = [("off", ctypes.c_uint64), ("len", ctypes.c_uint64)]


class _Cachestat(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint64) for name in ("cache", "dirty", "writeback", "evicted", "recently_evicted")
    ]


def residency(fd: int, size: int) -> Residency | None:
    """How much of an open file is in memory, or None where the kernel will not say."""
    if sys.platform != "linux":
        return None
    if size == 0:
        return Residency(0, 0, 0, "")
    return _by_cachestat(fd, size) or _by_mincore(fd, size)


def look(path: bytes, size: int) -> Look:
    """What of one file is in memory; changes nothing."""
    return _visit(path, size, lambda fd: None)


def empty(path: bytes, size: int) -> Look:
    """Drop one file from memory, then look. Unwritten pages are written first, since they would stay."""
    return _visit(path, size, lambda fd: _drop(fd, size))


def fill(path: bytes, size: int, stopped: Callable[[], bool]) -> Look:
    """Read one file once (until told to stop), then look."""
    return _visit(path, size, lambda fd: _read_through(fd, stopped))


def _visit(path: bytes, size: int, act: Callable[[int], None]) -> Look:
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError:
        return Look(files=1, unproved=1)
    try:
        act(fd)
        seen = residency(fd, size)
    except OSError:
        seen = None
    finally:
        os.close(fd)
    return Look(1, seen.pages, seen.resident, 0, seen.how) if seen else Look(files=1, unproved=1)


def _drop(fd: int, size: int) -> None:
    if not hasattr(os, "posix_fadvise"):
        return
    for _ in range(2):  # a page under writeback stays the first time
        seen = residency(fd, size)
        if seen is not None and seen.resident == 0:
            return
        if seen is None or seen.dirty:
            _write_back(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def _write_back(fd: int) -> None:
    try:
        os.fsync(fd)
    except OSError as error:  # a read-only mount has nothing to write
        if error.errno not in (errno.EROFS, errno.EINVAL):
            raise


def _read_through(fd: int, stopped: Callable[[], bool]) -> None:
    while not stopped() and os.read(fd, _WARM_BLOCK):
        pass


def _pages(size: int) -> int:
    return -(-size // mmap.PAGESIZE)


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _by_cachestat(fd: int, size: int) -> Residency | None:
    counts = _Cachestat()
    asked = ctypes.byref(_Range(0, 0)), ctypes.byref(counts)
    if _libc().syscall(ctypes.c_long(_CACHESTAT), ctypes.c_long(fd), *asked, ctypes.c_long(0)) != 0:
        return None
    pages = _pages(size)
    return Residency(pages, min(counts.cache, pages), counts.dirty + counts.writeback, "cachestat")


def _by_mincore(fd: int, size: int) -> Residency | None:
    """mincore says "all resident" of files that the caller neither owns nor may write: not asked then."""
    import numpy as np

    status = os.fstat(fd)
    if status.st_uid != os.geteuid() and os.geteuid() != 0:
        return None
    length = min(size, status.st_size)
    if length == 0:
        return Residency(_pages(size), 0, -1, "mincore")
    with mmap.mmap(fd, length, access=mmap.ACCESS_READ) as mapped:
        view = np.frombuffer(mapped, dtype=np.uint8)
        seen = np.zeros(_pages(length), dtype=np.uint8)
        address = ctypes.c_void_p(view.ctypes.data)
        failed = _libc().mincore(address, ctypes.c_size_t(length), ctypes.c_void_p(seen.ctypes.data))
        del view
    return None if failed else Residency(_pages(size), int((seen & 1).sum()), -1, "mincore")
