"""Protocol and server together: the same files read again, which the server has in memory by then.

Knows nothing of protocols: it times passes of what it is given, with this host's cache emptied before each.
"""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable

from pathtrace.model.run import Ceiling
from pathtrace.model.work import Clock
from pathtrace.probes.tracer import Exercise
from pathtrace.units import format_count, format_count_rate, format_rate, nanoseconds, seconds

_PASSES_AT_MOST = 5


class ServerProbe:
    """Times ``exercise`` after ``forget`` until ``limit_s`` is over. The first pass, which fills the server's
    memory, does not count."""

    def __init__(
        self,
        resource: str,
        exercise: Exercise,
        forget: Callable[[], Awaitable[None]],
        clock: Clock,
        limit_s: float = 2.0,
    ) -> None:
        self._resource = resource
        self._exercise = exercise
        self._forget = forget
        self._clock = clock
        self._limit_s = limit_s

    async def measure(self) -> Ceiling | None:
        """Median over passes, or None if a pass moves nothing. Errors of both callables pass through."""
        start = self._clock()
        await self._forget()
        await self._exercise()
        deadline = self._clock() + nanoseconds(self._limit_s)
        passes: list[tuple[float, float]] = []
        while not passes or (len(passes) < _PASSES_AT_MOST and self._clock() < deadline):
            await self._forget()
            before = self._clock()
            moved, operations = await self._exercise()
            if operations == 0 or moved == 0:
                return None
            taken_s = seconds(max(1, self._clock() - before))
            passes.append((moved / taken_s, operations / taken_s))
        return self._ceiling(passes, seconds(self._clock() - start))

    def _ceiling(self, passes: list[tuple[float, float]], took_s: float) -> Ceiling:
        rates = [rate for rate, _ in passes]
        operations_per_s = statistics.median(count for _, count in passes)
        return Ceiling(
            resource=self._resource,
            bytes_per_s=statistics.median(rates),
            operations_per_s=operations_per_s,
            latency_s=None,
            source="measured",
            evidence="the same files once the server has them in memory, "
            f"{format_count(len(passes), 'time')}: "
            f"{format_rate(min(rates))} to {format_rate(max(rates))}, {format_count_rate(operations_per_s)}",
            took_s=took_s,
        )
