"""Reading over a link from a disk, in virtual time: predicted, really changed, measured again.

Each read takes a round trip, then its turn at the disk, then its turn at the link, one reader at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest

from pathtrace.analysis import analyse
from pathtrace.analysis.limiting.network_evidence import efficiency
from pathtrace.analysis.predicting.prediction import predict
from pathtrace.model.network import Endpoint, PathFacts, Route
from pathtrace.model.prediction import Prediction
from pathtrace.model.run import Run
from pathtrace.model.sample import Sample, SampleTable, Window
from pathtrace.model.work import Done, Item
from pathtrace.units import seconds
from tests.replay.test_stream import stream_of
from tests.replay.virtual import FakePlace
from tests.unit.analysis import far
from tests.unit.analysis.builders import MB, MS, reached, run_of, scenario

COUNT = 200
LARGE, SMALL, MIXED = (MB,), (8_000,), (20_000, MB // 2, 3 * MB, 100_000)
SMALLS = (4_000, 12_000, 8_000, 28_000, 20_000)


@dataclass(frozen=True)
class World:
    gbit: float = 1.0
    disk: float = 200 * MB
    trip_s: float = 0.0005
    depth: int = 1
    sizes: Sequence[int] = LARGE
    known: bool = True
    """The disk was measured alone."""
    ahead: bool = False
    """The server reads the next part of the file while one crosses the link."""
    saved_up: float = 0.0
    """Bytes that pass at once after a pause."""

    @property
    def link(self) -> float:
        return self.gbit * 125 * MB * efficiency(1500)


class Shared(FakePlace):
    """A disk and a link that serve one read at a time."""

    def __init__(self, clock: Callable[[], int], world: World) -> None:
        super().__init__(clock, workers=world.depth)
        self._world, self._now = world, clock
        self._disk, self._link = asyncio.Lock(), asyncio.Lock()
        self._reading: asyncio.Task[None] | None = None
        self._saved_up, self._since = world.saved_up, 0

    async def draw(self, items: Sequence[Item]) -> Sequence[Done]:
        world, start = self._world, self._now()
        size = world.sizes[len(self.calls) % len(world.sizes)]
        opening_ns = 0 if self.calls or not world.ahead else MS
        self.calls.append((items[0],))
        await asyncio.sleep(world.trip_s + seconds(opening_ns))
        if self._reading is not None:
            await self._reading
        else:
            await self._read(size)
        if world.ahead and len(self.calls) < COUNT:
            self._reading = asyncio.ensure_future(self._read(size))
        async with self._link:
            await asyncio.sleep(max(0.0, size - self._passing(size)) / world.link)
        return [Done(start, self._now() - start, size, (items[0],), setup_ns=opening_ns)]

    def _passing(self, size: int) -> float:
        """How much of it passes at once."""
        now = self._now()
        gained = seconds(now - self._since) * self._world.link
        saved_up = min(self._world.saved_up, self._saved_up + gained)
        self._saved_up, self._since = max(0.0, saved_up - size), now
        return min(saved_up, size)

    async def _read(self, size: int) -> None:
        async with self._disk:
            await asyncio.sleep(size / self._world.disk)


def measured(world: World, repeats: int = 1) -> Run:
    passes = []
    for repeat in range(repeats):
        sink, window, _ = stream_of(
            lambda clock: [Shared(clock, world), FakePlace(clock, lambda n: 0.01)], count=COUNT
        )
        passes.append(_later(sink.samples, window, repeat))
    links = f"{{lan: {{hosts: [nas, workstation], speed: {world.gbit} Gbit/s}}}}"
    text = far.TEXT.replace("LINKS", links).replace('x.bin"', f'x.bin", depth: {world.depth}')
    place = replace(reached("weights", bytes=1), endpoint=Endpoint("nas", "10.0.0.2", 445))
    disk = (far.ceiling("disk:weights", world.disk),) if world.known else ()
    ceilings = (*far.line(world.link), *disk)
    made = run_of(scenario(text), passes, ceilings=ceilings, places=(place, reached("model")))
    way = PathFacts("nas", "10.0.0.2", (), 1500, 1500, False, world.trip_s, (), 1.0)
    return replace(made, routes=(Route("nas", "10.0.0.2", "eth0", "10.0.0.1", None, 1500),), paths=(way,))


def _later(samples: list[Sample], window: Window, repeat: int) -> tuple[list[Sample], Window]:
    """As the given repeat, long after the one before."""
    by = repeat * 100_000 * MS
    moved = [
        each._replace(repeat=repeat, start_ns=each.start_ns + by, intended_ns=each.intended_ns + by)
        for each in samples
    ]
    ends = {"start_ns": window.start_ns + by, "end_ns": window.end_ns + by}
    return moved, replace(window, repeat=repeat, **ends)


def foretold(before: World, after: World, *texts: str, repeats: int = 1) -> tuple[Prediction, float]:
    """The prediction, and what the changed world really takes."""
    run, [window] = measured(before, repeats), measured(after).windows
    return predict(run, analyse(run), texts), seconds(window.end_ns - window.start_ns)


@pytest.mark.parametrize("depth", [1, 4, 16])
@pytest.mark.parametrize("disk", [200 * MB, 2000 * MB])
@pytest.mark.parametrize(("now", "then"), [(1, 2.5), (1, 10), (10, 1)])
def test_another_link_in_front_of_a_known_disk(now: float, then: float, disk: float, depth: int) -> None:
    world = World(now, disk, depth=depth)
    prediction, truth = foretold(world, replace(world, gbit=then), f"lan={then}GbE")
    [flow] = prediction.flows
    assert flow.after_s.expected == pytest.approx(truth, rel=0.1)
    assert flow.after_s.high <= 1.3 * flow.after_s.low
    assert abs(prediction.self_check.error) < 0.05
    assert prediction.unknowns == ()


@pytest.mark.parametrize("depth", [1, 4, 16])
@pytest.mark.parametrize("disk", [130 * MB, 200 * MB, 2000 * MB])
def test_a_range_holds_the_truth_where_the_disk_is_hidden(disk: float, depth: int) -> None:
    world = World(1, disk, depth=depth, known=False)
    prediction, truth = foretold(world, replace(world, gbit=10), "lan=10GbE")
    [flow] = prediction.flows
    assert flow.after_s.low * 0.98 <= truth <= flow.after_s.high * 1.02
    assert [each.measure for each in prediction.unknowns] == [
        "pathtrace run SCENARIO, with `ssh:` of host nas and `there:` of weights, or --set disk:weights=…"
    ]


@pytest.mark.parametrize("then", [2.5, 10])
@pytest.mark.parametrize("disk", [150 * MB, 200 * MB, 300 * MB, 500 * MB])
def test_the_first_read_of_a_file_tells_of_a_disk_that_a_full_link_hides(disk: float, then: float) -> None:
    """Of one that is read ahead, the later ones show nothing."""
    world = World(1, disk, known=False, ahead=True)
    prediction, truth = foretold(world, replace(world, gbit=then), f"lan={then}GbE", repeats=3)
    [flow] = prediction.flows
    assert flow.after_s.low <= truth <= flow.after_s.high
    assert flow.after_s.high <= 2 * flow.after_s.low


def test_a_disk_that_a_full_link_hides_and_that_makes_no_difference_is_not_asked_for() -> None:
    world = World(1, 20_000 * MB, known=False, ahead=True)
    prediction, truth = foretold(world, replace(world, gbit=2.5), "lan=2.5GbE", repeats=3)
    assert prediction.flows[0].after_s.expected == pytest.approx(truth, rel=0.05)
    assert prediction.unknowns == ()


@pytest.mark.parametrize("sizes", [LARGE, SMALL, MIXED])
def test_more_reads_at_once(sizes: Sequence[int]) -> None:
    world = World(disk=500 * MB, trip_s=0.001, sizes=sizes)
    prediction, truth = foretold(world, replace(world, depth=16), "weights.depth=16")
    [flow] = prediction.flows
    assert flow.after_s.expected == pytest.approx(truth, rel=0.1)


def test_small_reads_gain_next_to_nothing_from_a_faster_link() -> None:
    world = World(disk=2000 * MB, trip_s=0.001, sizes=SMALL)
    prediction, truth = foretold(world, replace(world, gbit=10), "lan=10GbE")
    [flow] = prediction.flows
    assert flow.after_s.expected == pytest.approx(truth, rel=0.02)
    assert flow.speedup == pytest.approx(1.06, abs=0.02)


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize(("saved_up", "speedup"), [(0.0, 1.2), (256_000.0, 1.0)])
def test_small_reads_gain_nothing_from_a_link_that_lets_them_pass_at_once(
    saved_up: float, speedup: float, depth: int
) -> None:
    """Of a wire they gain what it takes for their bytes."""
    world = World(disk=2000 * MB, sizes=SMALLS, saved_up=saved_up, depth=depth)
    prediction, truth = foretold(world, replace(world, gbit=10), "lan=10GbE")
    [flow] = prediction.flows
    assert flow.after_s.expected == pytest.approx(truth, rel=0.02)
    assert flow.speedup == pytest.approx(speedup, abs=0.05)


def test_a_faster_disk_until_the_link_is_full() -> None:
    world = World(disk=50 * MB, depth=4)
    prediction, truth = foretold(world, replace(world, disk=500 * MB), "disk:weights=500MB/s")
    [flow] = prediction.flows
    assert flow.after_s.expected == pytest.approx(truth, rel=0.05)
    assert flow.bottleneck_after == "link:lan"


def test_two_changes_together() -> None:
    world = World(disk=200 * MB)
    changed = replace(world, gbit=10, depth=4)
    prediction, truth = foretold(world, changed, "lan=10GbE", "weights.depth=4")
    [flow] = prediction.flows
    assert flow.after_s.expected == pytest.approx(truth, rel=0.05)
    assert flow.bottleneck_after == "disk:weights"


@pytest.mark.parametrize("depth", [1, 4])
@pytest.mark.parametrize("trip_s", [0.0002, 0.002])
def test_another_round_trip_for_small_reads(trip_s: float, depth: int) -> None:
    world = World(trip_s=0.001, sizes=SMALL, depth=depth)
    prediction, truth = foretold(world, replace(world, trip_s=trip_s), f"lan.latency={trip_s * 1e3}ms")
    [flow] = prediction.flows
    assert flow.after_s.expected == pytest.approx(truth, rel=0.1)


@pytest.mark.parametrize("now", [World(), World(depth=4), World(disk=2000 * MB, sizes=MIXED, depth=4)])
def test_a_faster_link_never_predicts_a_slower_flow(now: World) -> None:
    run = measured(now)
    report = analyse(run)
    speeds = ("1", "1.5", "2.5", "5", "10", "25", "100")
    times = [predict(run, report, [f"lan={speed}GbE"]).flows[0].after_s for speed in speeds]
    for slower, faster in pairwise(times):
        assert faster.expected <= slower.expected * (1 + 1e-9)
    assert times[0].expected <= seconds(run.windows[0].end_ns)


def test_a_repeat_that_stalled_does_not_stall_ten_times_as_long_on_a_slower_link() -> None:
    world = World(10, 20_000 * MB)
    run = measured(world, repeats=3)
    stalled = run.samples.rows.copy()
    stalled["elapsed_ns"][(stalled["repeat"] == 2) & (stalled["operation"] == 0)] += 1000 * MS
    disturbed = replace(run, samples=SampleTable(stalled))
    [calm], [also] = (predict(each, analyse(each), ["lan=1GbE"]).flows for each in (run, disturbed))
    assert also.after_s.expected == pytest.approx(calm.after_s.expected, rel=0.01)
    assert also.after_s.high <= calm.after_s.high + 1.1


def test_a_server_that_reads_ahead_hides_a_quick_disk_behind_a_slow_link_and_behind_a_fast_one() -> None:
    """Of little to hide, too: 0.05 ms of 8.5 ms."""
    world = World(1, 20_000 * MB, trip_s=0.00001, ahead=True)
    prediction, truth = foretold(world, replace(world, gbit=10), "lan=10GbE")
    assert prediction.flows[0].after_s.expected == pytest.approx(truth, rel=0.02)
