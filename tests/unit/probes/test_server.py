"""A server is timed only once it has the files in memory, with nothing answering in its place."""

from __future__ import annotations

import asyncio

from pathtrace.model.run import Ceiling
from pathtrace.probes.server import ServerProbe


class Served:
    """Reads 10 MB in 20 files: 1 s the first time, then as ``passes_s`` says. Its own clock."""

    def __init__(self, *passes_s: float, moved: int = 10_000_000) -> None:
        self._times = [1.0, *passes_s]
        self._moved = moved
        self.now_s = 0.0
        self.story: list[str] = []

    def clock(self) -> int:
        return round(self.now_s * 1e9)

    async def forget(self) -> None:
        self.story.append("forget")
        self.now_s += 5.0

    async def read(self) -> tuple[int, int]:
        self.story.append("read")
        self.now_s += self._times.pop(0)
        return self._moved, 20


def measured(served: Served, limit_s: float = 2.0) -> Ceiling | None:
    probe = ServerProbe("server:archive", served.read, served.forget, served.clock, limit_s)
    return asyncio.run(probe.measure())


def test_the_pass_that_fills_the_server_s_memory_does_not_count_and_each_starts_without_ours() -> None:
    served = Served(0.1, 0.2, 0.1, 0.1, 0.1)
    found = measured(served, limit_s=60)
    assert served.story == ["forget", "read"] * 6
    assert found == Ceiling(
        resource="server:archive",
        bytes_per_s=1e8,
        operations_per_s=200.0,
        latency_s=None,
        source="measured",
        evidence="the same files once the server has them in memory, 5 times: 50 MB/s to 100 MB/s, 200/s",
        took_s=31.6,
    )


def test_one_pass_is_made_however_long_it_takes() -> None:
    served = Served(60.0)
    found = measured(served)
    assert found is not None
    assert served.story == ["forget", "read"] * 2


def test_what_moves_nothing_has_no_ceiling() -> None:
    assert measured(Served(0.1, moved=0)) is None
