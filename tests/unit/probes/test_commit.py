"""A commit alone, with a database whose commits take a known time."""

from __future__ import annotations

import asyncio
from itertools import cycle

from pathtrace.model.run import Ceiling
from pathtrace.probes.commit import CommitProbe

MS = 1_000_000


class Database:
    """Commits that take 8, 10 and 12 ms in turn, on a clock that only they move."""

    def __init__(self) -> None:
        self.now = 0
        self._takes = cycle((8 * MS, 10 * MS, 12 * MS))

    def clock(self) -> int:
        return self.now

    async def commit_alone(self) -> int:
        took = next(self._takes)
        self.now += took
        return took


def test_the_median_commit_is_the_ceiling_with_its_spread() -> None:
    database = Database()
    measured = asyncio.run(CommitProbe("commit:library", database, database.clock).measure())
    assert measured == Ceiling(
        resource="commit:library",
        bytes_per_s=None,
        operations_per_s=100.0,
        latency_s=0.01,
        source="measured",
        evidence="a commit of one row by the server, 101 times: p10 8 ms, p90 12 ms",
        took_s=1.008,
    )


def test_slow_commits_are_tried_five_times_whatever_the_limit() -> None:
    database = Database()
    probe = CommitProbe("commit:library", database, database.clock, limit_s=0.001)
    measured = asyncio.run(probe.measure())
    assert measured is not None
    assert (measured.evidence, measured.took_s) == (
        "a commit of one row by the server, 5 times: p10 8 ms, p90 11.2 ms",
        0.048,
    )
