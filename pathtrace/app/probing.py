"""Measures each resource that a run's hops need alone: the disk, the commit, the tracer itself.

Runs after the timed part, so that nothing it reads can warm what is being measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.run import Ceiling
from pathtrace.model.sample import Reading, Sample, Window
from pathtrace.model.scenario import Access, Action, FilesSpec, Flow, Place, Scenario
from pathtrace.model.work import Clock, Item
from pathtrace.ports import Commits, Probe, Sources
from pathtrace.ports import Place as PlacePort
from pathtrace.probes.commit import CommitProbe
from pathtrace.probes.disk import DiskProbe
from pathtrace.probes.fsync import FsyncProbe
from pathtrace.probes.round_trip import RoundTripProbe
from pathtrace.probes.tracer import TracerProbe
from pathtrace.replay.budget import Budget
from pathtrace.replay.operations import Execution, Recording, StageSetup
from pathtrace.replay.stop import StopRequest
from pathtrace.replay.stream import Stream
from pathtrace.units import MIB

FILES_PROBED = 4096
"""Of a larger tree, as many seeded ones are probed."""

TRACER_BYTES = 128 * MIB
"""How much of a place the tracer probe reads again and again from memory."""


async def measure_ceilings(
    scenario: Scenario, places: Mapping[str, PlacePort], clock: Clock, stop: StopRequest
) -> tuple[Ceiling, ...]:
    """The ceilings of what the scenario's flows use; one that cannot be known is left out."""
    ceilings: dict[str, Ceiling] = {}
    for flow in scenario.flows:
        if not all(name in places for name in flow.path):
            continue
        for resource, probe in await _probes(scenario, flow, places, clock):
            if stop.asked or resource in ceilings:
                continue
            ceiling = await _measure(probe)
            if ceiling is not None:
                ceilings[resource] = ceiling
    return tuple(ceilings.values())


async def _measure(probe: Probe) -> Ceiling | None:
    """A ceiling that cannot be had is missing evidence, not a reason to lose the run."""
    try:
        return await probe.measure()
    except (PlaceError, OperationError):
        return None


async def _probes(
    scenario: Scenario, flow: Flow, places: Mapping[str, PlacePort], clock: Clock
) -> list[tuple[str, Probe]]:
    probes: list[tuple[str, Probe]] = []
    for stage in flow.stages:
        place, port = scenario.place(stage.place), places[stage.place]
        if stage.action is Action.READ:
            items = await _supply(port)
            if items:
                probes += _read_probes(flow, place, port, items, clock)
        if stage.action in (Action.INSERT, Action.WRITE):
            probes += _commit_probes(f"commit:{place.name}", port, clock)
    return probes


def _commit_probes(resource: str, port: PlacePort, clock: Clock) -> list[tuple[str, Probe]]:
    """In the folder beneath; where that is the server's alone, by the server itself."""
    if port.scratch_folder is not None:
        return [(resource, FsyncProbe(resource, port.scratch_folder, clock))]
    return [(resource, CommitProbe(resource, port, clock))] if isinstance(port, Commits) else []


async def _supply(port: PlacePort) -> Sequence[Item]:
    try:
        return await port.supply(Action.READ)
    except PlaceError:
        return ()


def _read_probes(
    flow: Flow, place: Place, port: PlacePort, items: Sequence[Item], clock: Clock
) -> list[tuple[str, Probe]]:
    probes: list[tuple[str, Probe]] = []
    if isinstance(port, Sources) and not (port.mount and port.mount.network):
        disk = f"disk:{place.name}"
        probes.append((disk, _disk_probe(disk, place, port.sources(FILES_PROBED), clock)))
    if isinstance(port, Sources) and port.mount and port.mount.far:
        trips = f"round-trips:{place.name}"
        probes.append((trips, RoundTripProbe(trips, port.sources(FILES_PROBED), clock)))
    if isinstance(place.spec, FilesSpec) and place.spec.access is Access.DIRECT:
        return probes  # the same code path would meet the disk again, not memory
    tracer = f"tracer:{flow.name}/0"
    setup = StageSetup(port, Action.READ, port.concurrency(Action.READ), place.queue, place.timeout_s)
    probes.append((tracer, TracerProbe(tracer, _Rereading(flow, setup, _head(items), clock), clock)))
    return probes


def _disk_probe(resource: str, place: Place, files: Sequence[tuple[str, int]], clock: Clock) -> DiskProbe:
    mean = sum(size for _, size in files) // max(1, len(files))
    block = place.spec.block_bytes if isinstance(place.spec, FilesSpec) else MIB
    return DiskProbe(resource, files, block, "files" if mean < MIB else "sequential", clock)


def _head(items: Sequence[Item]) -> Sequence[Item]:
    """The first items up to ``TRACER_BYTES``: few enough to stay in memory."""
    total = 0
    for count, item in enumerate(items, 1):
        total += item.size_bytes
        if total >= TRACER_BYTES:
            return items[:count]
    return items


class _Rereading:
    """One pass of the very read path, with nothing behind it and samples thrown away."""

    def __init__(self, flow: Flow, setup: StageSetup, items: Sequence[Item], clock: Clock) -> None:
        self._flow = replace(flow, stages=flow.stages[:1])
        self._setup = setup
        self._items = items
        self._clock = clock

    async def __call__(self) -> tuple[int, int]:
        recording = Recording(_Discard(), self._clock, 0, _Unwatched())
        budget = Budget(1 << 62, 3600.0, self._clock, StopRequest())
        stream = Stream(Execution(0, 0, 0), self._flow, [self._setup], recording, budget)
        await stream.run(self._items)
        return stream.bytes_read, len(self._items)


class _Discard:
    """A sink that keeps nothing."""

    def sample(self, sample: Sample) -> None:
        return

    def reading(self, reading: Reading) -> None:
        return

    def fault(self, text: str) -> int:
        return -1

    def window(self, window: Window) -> None:
        return


class _Unwatched:
    """Progress that nobody is told of."""

    def execution(self, repeat: int, repeats: int, flow: str, total_operations: int | None) -> None:
        return

    def advance(self, stage: int, operations: int, bytes: int) -> None:
        return

    def message(self, text: str) -> None:
        return
