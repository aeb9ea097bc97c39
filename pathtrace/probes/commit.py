"""What a commit costs at a database whose folder nobody else may write to: one row, made durable, alone.

The server's own work is in it; where the folder may be written to, ``fsync`` measures what lies beneath.
"""

from __future__ import annotations

import statistics

from pathtrace.model.run import Ceiling
from pathtrace.model.work import Clock
from pathtrace.ports import Commits
from pathtrace.units import format_duration, nanoseconds, seconds

_AT_LEAST = 5
_AT_MOST = 200


class CommitProbe:
    """Commits one row again and again for about ``limit_s``, with nothing else going on."""

    def __init__(self, resource: str, place: Commits, clock: Clock, limit_s: float = 1.0) -> None:
        self._resource = resource
        self._place = place
        self._clock = clock
        self._limit_s = limit_s

    async def measure(self) -> Ceiling | None:
        """Median latency of a commit."""
        start = self._clock()
        deadline = start + nanoseconds(self._limit_s)
        times: list[int] = []
        while len(times) < _AT_MOST and (len(times) < _AT_LEAST or self._clock() < deadline):
            times.append(await self._place.commit_alone())
        median_s = seconds(statistics.median(times))
        tenths = statistics.quantiles(times, n=10, method="inclusive")
        spread = f"p10 {format_duration(seconds(tenths[0]))}, p90 {format_duration(seconds(tenths[-1]))}"
        return Ceiling(
            resource=self._resource,
            bytes_per_s=None,
            operations_per_s=1 / median_s if median_s else None,
            latency_s=median_s,
            source="measured",
            evidence=f"a commit of one row by the server, {len(times)} times: {spread}",
            took_s=seconds(self._clock() - start),
        )
