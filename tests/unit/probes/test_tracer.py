from __future__ import annotations

import asyncio

import pytest

from pathtrace.model.run import Ceiling
from pathtrace.probes.tracer import TracerProbe

MILLISECOND = 1_000_000


class Stopwatch:
    """A clock that moves only when told."""

    now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


def test_the_first_pass_does_not_count_and_the_median_of_the_others_does() -> None:
    clock = Stopwatch()
    lasts = iter((500, 10, 20, 10, 10))

    async def exercise() -> tuple[int, int]:
        clock.now_ns += next(lasts) * MILLISECOND
        return 1_000_000, 4

    assert asyncio.run(TracerProbe("tracer:index/0", exercise, clock, limit_s=0.55).measure()) == Ceiling(
        resource="tracer:index/0",
        bytes_per_s=100_000_000.0,
        operations_per_s=400.0,
        latency_s=0.0025,
        source="measured",
        evidence="the same code path against memory, 4 passes: 50 MB/s to 100 MB/s, 400/s",
        took_s=0.55,
    )


def test_a_pass_that_moves_nothing_gives_no_ceiling() -> None:
    async def exercise() -> tuple[int, int]:
        return 0, 0

    assert asyncio.run(TracerProbe("tracer:index/0", exercise, Stopwatch()).measure()) is None


def test_an_error_of_the_exercise_is_not_hidden() -> None:
    async def exercise() -> tuple[int, int]:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        asyncio.run(TracerProbe("tracer:index/0", exercise, Stopwatch()).measure())
