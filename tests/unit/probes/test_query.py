"""Queries for nothing, at a database that takes a known time for one."""

from __future__ import annotations

import asyncio
from itertools import cycle

from pathtrace.model.run import Ceiling
from pathtrace.probes.query import QueryProbe

MS = 1_000_000


class Database:
    """Takes 18, 20 and 22 ms in turn, on a clock that only that moves."""

    def __init__(self) -> None:
        self.now = 0
        self._takes = cycle((18 * MS, 20 * MS, 22 * MS))

    def clock(self) -> int:
        return self.now

    async def answer_nothing(self) -> int:
        took = next(self._takes)
        self.now += took
        return took


def test_the_median_of_queries_for_nothing_is_what_the_way_takes() -> None:
    database = Database()
    measured = asyncio.run(QueryProbe("query:library", database, database.clock).measure())
    assert measured == Ceiling(
        resource="query:library",
        bytes_per_s=None,
        operations_per_s=50.0,
        latency_s=0.02,
        source="measured",
        evidence="a query for nothing, 26 times: p10 18 ms, p90 22 ms",
        took_s=0.518,
    )
