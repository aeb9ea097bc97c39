"""Rows alone, with a database in which each row and each statement takes a known time."""

from __future__ import annotations

import asyncio

import pytest

from pathtrace.probes.rows import RowsProbe

US = 1_000


class Database:
    """A statement takes 2 ms and each of its rows 0.1 ms, on a clock that only they move."""

    def __init__(self, empty: bool = False) -> None:
        self.now = 0
        self._empty = empty

    def clock(self) -> int:
        return self.now

    async def rows_alone(self, count: int) -> int | None:
        if self._empty:
            return None
        took = (2000 + 100 * count) * US
        self.now += took
        return took


def test_a_row_costs_what_many_take_more_than_one() -> None:
    database = Database()
    measured = asyncio.run(RowsProbe("database:library", database, database.clock).measure())
    assert measured is not None
    assert measured.operations_per_s == pytest.approx(10_000)
    assert measured.evidence == (
        "500 rows in one statement, 1 at once, 19 times, taken back: 100 µs a row (10000/s); "
        "one alone takes 2.1 ms"
    )


def test_as_many_connections_as_there_are_workers_are_kept_busy() -> None:
    database = Database()
    measured = asyncio.run(RowsProbe("database:library", database, database.clock, 4).measure())
    assert measured is not None
    assert "4 at once, 20 times" in measured.evidence


def test_a_place_that_has_had_no_row_cannot_tell() -> None:
    database = Database(empty=True)
    assert asyncio.run(RowsProbe("database:library", database, database.clock).measure()) is None
