"""How long one thing takes that is done again and again, with nothing else going on."""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable, Sequence

from pathtrace.model.run import Ceiling
from pathtrace.model.work import Clock
from pathtrace.units import format_duration, nanoseconds, seconds

_AT_LEAST = 5


class LatencyProbe:
    """Does ``once``, which tells the nanoseconds that it took, for about ``limit_s``. ``what``: in words."""

    def __init__(
        self,
        resource: str,
        once: Callable[[], Awaitable[int]],
        what: str,
        clock: Clock,
        limit_s: float,
        at_most: int,
    ) -> None:
        self._resource = resource
        self._once = once
        self._what = what
        self._clock = clock
        self._limit_s = limit_s
        self._at_most = at_most

    async def measure(self) -> Ceiling | None:
        """Median latency. Errors of ``once`` pass through."""
        start = self._clock()
        deadline = start + nanoseconds(self._limit_s)
        times: list[int] = []
        while len(times) < self._at_most and (len(times) < _AT_LEAST or self._clock() < deadline):
            times.append(await self._once())
        median_s = seconds(statistics.median(times))
        return Ceiling(
            resource=self._resource,
            bytes_per_s=None,
            operations_per_s=1 / median_s if median_s else None,
            latency_s=median_s,
            source="measured",
            evidence=f"{self._what}, {len(times)} times: {spread(times)}",
            took_s=seconds(self._clock() - start),
        )


def spread(times_ns: Sequence[int]) -> str:
    """``p10 1 ms, p90 3 ms``, of two or more."""
    tenths = statistics.quantiles(times_ns, n=10, method="inclusive")
    return f"p10 {format_duration(seconds(tenths[0]))}, p90 {format_duration(seconds(tenths[-1]))}"
