"""Takes blocks of weights into memory, as a loader would, and answers nothing: a stand-in.

A ring of bounded size: what is loaded is really copied, however large the model is, without pushing
the files that are being measured out of the page cache.
"""

from __future__ import annotations

import mmap

import numpy as np

RING_BYTES = 256 * 1024 * 1024


class WeightsMemory:
    """Memory of its own, kept from repeat to repeat. Blocking; made for one worker thread."""

    def __init__(self, ring_bytes: int = RING_BYTES) -> None:
        self._size = ring_bytes
        self._at = 0
        self._ring: mmap.mmap | None = None

    def take(self, block: bytes | memoryview) -> int:
        """Copy ``block``; returns its bytes. numpy copies without holding up other threads."""
        if self._ring is None:
            self._ring = mmap.mmap(-1, self._size)
        source = np.frombuffer(block, dtype=np.uint8)
        target = np.frombuffer(self._ring, dtype=np.uint8)
        taken = 0
        while taken < len(source):
            length = min(len(source) - taken, self._size - self._at)
            np.copyto(target[self._at : self._at + length], source[taken : taken + length])
            taken += length
            self._at = (self._at + length) % self._size
        return taken

    def release(self) -> None:
        """Give the memory back."""
        if self._ring is not None:
            self._ring.close()
            self._ring = None
            self._at = 0
