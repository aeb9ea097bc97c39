"""Lends memory for reads and takes it back once nobody looks at it any more.

Fresh memory costs a page fault for every 4 KiB, which made large reads eight times slower than the
copy itself. A loan ends by itself when the last view of it is gone, wherever that was handed on to.
"""

from __future__ import annotations

import mmap
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

_KEPT = 48
_KEPT_BYTES = 64 << 20
_FEWEST = 4
_SMALLEST = 1 << 16


Memory = npt.NDArray[np.uint8]


def anywhere(size: int) -> Memory:
    """Memory that may begin at any address."""
    return np.empty(size, dtype=np.uint8)


def on_a_page(size: int) -> Memory:
    """Memory that begins with a page, as direct I/O wants it."""
    return np.frombuffer(mmap.mmap(-1, size), dtype=np.uint8)


class _Loan(np.ndarray[Any, np.dtype[np.uint8]]):
    """A look at lent memory. Nobody holds it but the views that were made of it (a memoryview's ``obj``)."""

    lender: deque[Memory] | None = None
    memory: Memory

    def __del__(self) -> None:
        if self.lender is not None:  # a look at this look is no loan
            self.lender.append(self.memory)


class Buffers:
    """Loans in powers of two from 64 KiB. Of each size up to 48 are kept, of large ones fewer."""

    def __init__(self, allocate: Callable[[int], Memory] = anywhere) -> None:
        self._free: dict[int, deque[Memory]] = {}
        self._allocate = allocate

    def lend(self, length: int) -> memoryview:
        """``length`` bytes of memory; what is in them is undefined."""
        size = max(_SMALLEST, 1 << max(0, length - 1).bit_length())
        free = self._free.setdefault(size, deque(maxlen=max(_FEWEST, min(_KEPT, _KEPT_BYTES // size))))
        try:
            memory = free.pop()
        except IndexError:
            memory = self._allocate(size)
        loan = (memory if length == size else memory[:length]).view(
            _Loan
        )  # a third of what a weak reference's callback would cost
        loan.memory, loan.lender = memory, free
        return loan.data
