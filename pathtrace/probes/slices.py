"""What a disk probe reads: seeded slices of the files, and the figures of slices once read.

A slice is timed as a whole; the median over slices stands against a lucky head of a file, a cache
in the device and a hiccup. Does no I/O.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pathtrace.units import NANOSECONDS_PER_SECOND, format_count_rate, format_rate

BLOCKS_PER_SLICE = 16
FILES_PER_SLICE = 64


class Stretch(NamedTuple):
    """Consecutive blocks of one file."""

    path: str
    offsets: tuple[int, ...]


class Group(NamedTuple):
    """Whole files."""

    paths: tuple[str, ...]


Slice = Stretch | Group


@dataclass(frozen=True, slots=True)
class Timed:
    """One slice as read. ``read_ns`` has the time of each of its reads."""

    bytes: int
    elapsed_ns: int
    read_ns: tuple[int, ...]

    @property
    def bytes_per_s(self) -> float:
        return self.bytes * NANOSECONDS_PER_SECOND / max(1, self.elapsed_ns)

    @property
    def reads_per_s(self) -> float:
        return len(self.read_ns) * NANOSECONDS_PER_SECOND / max(1, self.elapsed_ns)


def stretches(files: Sequence[tuple[str, int]], block_bytes: int, rng: random.Random) -> list[Stretch]:
    """Every stretch of 16 blocks in random order; short rests last, whose time is mostly start-up."""
    length = block_bytes * BLOCKS_PER_SLICE
    found = [(path, at, min(at + length, size)) for path, size in files for at in range(0, size, length)]
    rng.shuffle(found)
    found.sort(key=lambda stretch: stretch[2] - stretch[1] < length)
    return [Stretch(path, tuple(range(at, end, block_bytes))) for path, at, end in found]


def groups(files: Sequence[tuple[str, int]], rng: random.Random) -> list[Group]:
    """All files in random order, 64 together."""
    paths = [path for path, _ in files]
    rng.shuffle(paths)
    return [
        Group(tuple(paths[first : first + FILES_PER_SLICE]))
        for first in range(0, len(paths), FILES_PER_SLICE)
    ]


@dataclass(frozen=True, slots=True)
class Figures:
    """Slices read at one depth: how many reads were in flight."""

    depth: int
    slices: tuple[Timed, ...]

    @property
    def bytes_per_s(self) -> float:
        return statistics.median(timed.bytes_per_s for timed in self.slices)

    @property
    def reads_per_s(self) -> float:
        return statistics.median(timed.reads_per_s for timed in self.slices)

    @property
    def latency_s(self) -> float:
        """Median time of one read, in flight with ``depth - 1`` others."""
        times = [taken for timed in self.slices for taken in timed.read_ns]
        return statistics.median(times) / NANOSECONDS_PER_SECOND

    def text(self) -> str:
        """``depth 4: 512 MB/s, 488/s (480 MB/s to 530 MB/s over 9 slices)``."""
        rates = [timed.bytes_per_s for timed in self.slices]
        spread = f"{format_rate(min(rates))} to {format_rate(max(rates))} over {len(rates)} slices"
        if len(rates) == 1:
            spread = "one slice: how much it varies was not seen"
        middle = f"{format_rate(self.bytes_per_s)}, {format_count_rate(self.reads_per_s)}"
        return f"depth {self.depth}: {middle} ({spread})"
