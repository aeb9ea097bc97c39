"""The tracer itself: how fast the very code that measures can go when memory answers.

Knows nothing of places or stages: it times passes of what it is given.
"""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable

from pathtrace.model.run import Ceiling
from pathtrace.model.work import Clock
from pathtrace.units import format_count_rate, format_rate, nanoseconds, seconds

Exercise = Callable[[], Awaitable[tuple[int, int]]]
"""One pass of a stage's work against memory; returns (bytes, operations)."""

_PASSES_AT_LEAST = 3
_PASSES_AT_MOST = 25


class TracerProbe:
    """Times ``exercise`` until ``limit_s`` is over. The first pass fills caches and does not count."""

    def __init__(self, resource: str, exercise: Exercise, clock: Clock, limit_s: float = 0.5) -> None:
        self._resource = resource
        self._exercise = exercise
        self._clock = clock
        self._limit_s = limit_s

    async def measure(self) -> Ceiling | None:
        """Median over passes, or None if a pass moves nothing. Errors of ``exercise`` pass through."""
        start = self._clock()
        deadline = start + nanoseconds(self._limit_s)
        await self._exercise()
        passes: list[tuple[float, float]] = []
        while len(passes) < _PASSES_AT_LEAST or (len(passes) < _PASSES_AT_MOST and self._clock() < deadline):
            before = self._clock()
            moved, operations = await self._exercise()
            if operations == 0:
                return None
            taken_s = seconds(max(1, self._clock() - before))
            passes.append((moved / taken_s, operations / taken_s))
        return self._ceiling(passes, seconds(self._clock() - start))

    def _ceiling(self, passes: list[tuple[float, float]], took_s: float) -> Ceiling:
        rates = [rate for rate, _ in passes]
        operations_per_s = statistics.median(count for _, count in passes)
        spread = (
            f"{format_rate(min(rates))} to {format_rate(max(rates))}, {format_count_rate(operations_per_s)}"
        )
        return Ceiling(
            resource=self._resource,
            bytes_per_s=statistics.median(rates) or None,
            operations_per_s=operations_per_s,
            latency_s=1 / operations_per_s,
            source="measured",
            evidence=f"the same code path against memory, {len(passes)} passes: {spread}",
            took_s=took_s,
        )
