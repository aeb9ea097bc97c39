"""What a database takes for a query that asks for nothing: its round trips, without the server's own work."""

from __future__ import annotations

import statistics

from pathtrace.model.run import Ceiling
from pathtrace.model.work import Clock
from pathtrace.ports import AnswersNothing
from pathtrace.units import format_count, format_duration, nanoseconds, seconds

_AT_LEAST = 5
_AT_MOST = 50


class QueryProbe:
    """Asks for nothing again and again for about ``limit_s``, with nothing else going on."""

    def __init__(self, resource: str, place: AnswersNothing, clock: Clock, limit_s: float = 0.5) -> None:
        self._resource = resource
        self._place = place
        self._clock = clock
        self._limit_s = limit_s

    async def measure(self) -> Ceiling | None:
        """Median latency."""
        start = self._clock()
        deadline = start + nanoseconds(self._limit_s)
        times: list[int] = []
        while len(times) < _AT_MOST and (len(times) < _AT_LEAST or self._clock() < deadline):
            times.append(await self._place.answer_nothing())
        median_s = seconds(statistics.median(times))
        return Ceiling(
            resource=self._resource,
            bytes_per_s=None,
            operations_per_s=1 / median_s if median_s else None,
            latency_s=median_s,
            source="measured",
            evidence=f"a query for nothing, {format_count(len(times), 'time')}: {format_duration(median_s)}",
            took_s=seconds(self._clock() - start),
        )
