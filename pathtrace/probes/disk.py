"""The disk under a place: the very files that a hop reads, read past the page cache.

Knows what one kernel can see. Behind a network mount the figure is of link, server and disk
together; whoever builds the probe decides whether that makes sense.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Sequence
from itertools import cycle
from typing import Literal

from pathtrace.model.run import Ceiling
from pathtrace.model.work import Clock
from pathtrace.probes.direct_read import Way, choose_way
from pathtrace.probes.slice_reader import DEPTHS, SliceReader
from pathtrace.probes.slices import Figures, Slice, Timed, groups, stretches
from pathtrace.units import GIB, MIB, format_bytes, nanoseconds, seconds

Pattern = Literal["sequential", "files"]

_FILES_TRIED = 16


class DiskProbe:
    """Reads for about ``limit_s``, by turns one read at a time and four, and takes the faster.

    ``pattern`` is how the hop reads: "sequential" in blocks of at least 1 MiB, "files" open, read,
    close of whole small files (an operation is then a file). Nothing is left in the page cache.
    """

    def __init__(
        self,
        resource: str,
        files: Sequence[tuple[str, int]],
        block_bytes: int,
        pattern: Pattern,
        clock: Clock,
        *,
        limit_s: float = 2.0,
        limit_bytes: int = GIB,
        seed: int = 1,
    ) -> None:
        self._resource = resource
        self._files = [(path, size) for path, size in files if size > 0]
        # Direct I/O moves whole pages, and a ceiling is wanted, not the cost of small blocks.
        self._block_bytes = -(-max(block_bytes, MIB) // MIB) * MIB
        self._pattern = pattern
        self._clock = clock
        self._limit_s = limit_s
        self._limit_bytes = limit_bytes
        self._rng = random.Random(seed)
        self._stop = threading.Event()

    async def measure(self) -> Ceiling | None:
        """The disk's ceiling, or None: no files, files in memory, or none that can be read."""
        try:
            return await asyncio.to_thread(self._measure)
        finally:
            self._stop.set()  # a cancelled wait leaves the thread behind: it ends with its next read

    def _measure(self) -> Ceiling | None:
        way = self._way()
        if way is None:
            return None
        start = self._clock()
        reader = SliceReader(
            way, self._block_bytes, self._clock, start + nanoseconds(self._limit_s), self._stop
        )
        try:
            figures = self._read_by_turns(reader)
        finally:
            reader.close()
        return self._ceiling(way, figures, seconds(self._clock() - start)) if figures else None

    def _way(self) -> Way | None:
        """The way that one of a few files can be read; a file that has vanished says nothing."""
        tried = self._rng.sample(self._files, min(_FILES_TRIED, len(self._files)))
        return next((way for path, _ in tried if (way := choose_way(path)) is not None), None)

    def _read_by_turns(self, reader: SliceReader) -> list[Figures]:
        """The first slice also where opening took all the time: a slow disk is to have a figure."""
        timed: dict[int, list[Timed]] = {depth: [] for depth in DEPTHS}
        budget = self._limit_bytes
        for depth, piece in zip(cycle(DEPTHS), self._slices(), strict=False):
            begun = any(timed.values()) or self._stop.is_set()
            if (begun and reader.over) or budget <= 0:
                break
            result = reader.read(piece, depth)
            budget -= result.bytes
            if result.bytes:
                timed[depth].append(result)
        return [Figures(depth, tuple(slices)) for depth, slices in timed.items() if slices]

    def _slices(self) -> Sequence[Slice]:
        """Every slice once, so that a cache below is not met; a single one serves for all depths."""
        slices: Sequence[Slice]
        if self._pattern == "files":
            slices = groups(self._files, self._rng)
        else:
            slices = stretches(self._files, self._block_bytes, self._rng)
        return slices if len(slices) > 1 else [*slices] * len(DEPTHS)

    def _ceiling(self, way: Way, figures: list[Figures], took_s: float) -> Ceiling:
        best = max(figures, key=lambda figure: figure.bytes_per_s)
        what = "whole files" if self._pattern == "files" else f"blocks of {format_bytes(self._block_bytes)}"
        total = format_bytes(sum(timed.bytes for figure in figures for timed in figure.slices))
        evidence = f"{way.text}, {what}, {total}; " + "; ".join(figure.text() for figure in figures)
        return Ceiling(
            resource=self._resource,
            bytes_per_s=best.bytes_per_s,
            operations_per_s=best.reads_per_s,
            latency_s=figures[0].latency_s,
            source="measured",
            evidence=evidence,
            took_s=took_s,
        )
