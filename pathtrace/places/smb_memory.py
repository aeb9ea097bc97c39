"""Memory that this process and its SMB workers both see, lent for a read and taken back afterwards.

A loan ends by itself when the last view of it is gone, as with ``buffers``; it is then lent again, since
fresh memory costs a page fault for every 4 KiB.
"""

from __future__ import annotations

import itertools
import mmap
import os
import tempfile
import weakref
from collections import deque
from typing import NamedTuple

import numpy as np

_KEPT = 48
_KEPT_BYTES = 64 << 20
_FEWEST = 4
_SMALLEST = 1 << 16


class Region:
    """One stretch of shared memory. ``descriptor`` is how another process gets at it."""

    def __init__(self, number: int, size: int) -> None:
        self.number = number
        self.size = size
        self.descriptor = _unnamed_file()
        weakref.finalize(self, os.close, self.descriptor).atexit = False
        os.ftruncate(self.descriptor, size)
        self.memory = mmap.mmap(self.descriptor, size)


class Loan(NamedTuple):
    """A region for the time that anybody looks at ``view``."""

    region: Region
    view: memoryview


class SharedMemory:
    """Lends regions in powers of two from 64 KiB; of each size up to 48 are kept, of large ones fewer."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._free: dict[int, deque[Region]] = {}
        self._alive: weakref.WeakValueDictionary[int, Region] = weakref.WeakValueDictionary()

    def lend(self, length: int) -> Loan:
        """``length`` bytes, at least one; what is in them is undefined. OSError if there is no memory."""
        size = max(_SMALLEST, 1 << max(0, length - 1).bit_length())
        free = self._free.setdefault(size, deque(maxlen=max(_FEWEST, min(_KEPT, _KEPT_BYTES // size))))
        try:
            region = free.pop()
        except IndexError:
            region = Region(next(self._numbers), size)
            self._alive[region.number] = region
        loan = np.frombuffer(region.memory, dtype=np.uint8, count=length)
        weakref.finalize(loan, free.append, region).atexit = False
        return Loan(region, loan.data)

    def gone(self, known: set[int]) -> set[int]:
        """Which of the numbers ``known`` are of regions that are no more."""
        return known - set(self._alive.keys())


def _unnamed_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("pathtrace-smb", os.MFD_CLOEXEC)
    descriptor, path = tempfile.mkstemp(prefix="pathtrace-smb-")
    os.unlink(path)
    return descriptor
