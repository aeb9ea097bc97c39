"""What each row costs a database when many come in one statement, apart from the statement and the commit."""

from __future__ import annotations

import asyncio
import statistics

from pathtrace.model.run import Ceiling
from pathtrace.model.work import Clock
from pathtrace.ports import TakesRows
from pathtrace.units import format_count, format_count_rate, format_duration, nanoseconds, seconds

MANY = 500
_AT_LEAST = 3
_AT_MOST = 20


class RowsProbe:
    """Inserts many rows, over ``at_once`` connections, and a single one by turns for about ``limit_s``, with
    nothing else going on."""

    def __init__(
        self, resource: str, place: TakesRows, clock: Clock, at_once: int = 1, limit_s: float = 1.0
    ) -> None:
        self._resource = resource
        self._place = place
        self._clock = clock
        self._at_once = at_once
        self._limit_s = limit_s

    async def measure(self) -> Ceiling | None:
        """Rows per second of one connection, by what many take more than one; None if the place has had no
        row yet."""
        start = self._clock()
        deadline = start + nanoseconds(self._limit_s)
        many: list[int] = []
        one: list[int] = []
        while len(many) < _AT_MOST and (len(many) < _AT_LEAST or self._clock() < deadline):
            taken = await asyncio.gather(*(self._place.rows_alone(MANY) for _ in range(self._at_once)))
            single = await self._place.rows_alone(1)
            if single is None:
                return None
            many += [each for each in taken if each is not None]
            one.append(single)
        whole_s, alone_s = seconds(statistics.median(many)), seconds(statistics.median(one))
        row_s = max(0.0, whole_s - alone_s) / (MANY - 1)
        if not row_s:
            return None
        how = f"{self._at_once} at once, {format_count(len(many), 'time')}, taken back"
        rate = f"{format_duration(row_s)} a row ({format_count_rate(1 / row_s)})"
        alone = f"one alone takes {format_duration(alone_s)}"
        return Ceiling(
            resource=self._resource,
            bytes_per_s=None,
            operations_per_s=1 / row_s,
            latency_s=None,
            source="measured",
            evidence=f"{MANY} rows in one statement, {how}: {rate}; {alone}",
            took_s=seconds(self._clock() - start),
        )
