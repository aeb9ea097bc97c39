"""Measures each resource that a run's hops need alone: the disk, the commit, the tracer itself.

Runs after the timed part, so that nothing it reads can warm what is being measured.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from pathtrace.app.far_hosts import FarHosts
from pathtrace.app.far_probing import far_disk_probe, server_probe, unless_link
from pathtrace.app.network_probing import LinkUse, NetworkProbes, links_needed
from pathtrace.app.rereading import Rereading
from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.network import Endpoint, Route
from pathtrace.model.probe import Probed
from pathtrace.model.report import Caveat
from pathtrace.model.run import Ceiling, HostFacts
from pathtrace.model.scenario import Access, Action, FilesSpec, Flow, Place, Scenario
from pathtrace.model.work import Clock, Item
from pathtrace.ports import AnswersNothing, Commits, Probe, Sources, TakesRows
from pathtrace.ports import Place as PlacePort
from pathtrace.probes.commit import CommitProbe
from pathtrace.probes.disk import DiskProbe
from pathtrace.probes.fsync import FsyncProbe
from pathtrace.probes.query import QueryProbe
from pathtrace.probes.round_trip import RoundTripProbe
from pathtrace.probes.rows import RowsProbe
from pathtrace.probes.tracer import TracerProbe
from pathtrace.replay.operations import StageSetup
from pathtrace.replay.stop import StopRequest
from pathtrace.units import MIB, seconds

FILES_PROBED = 4096
"""Of a larger tree, as many seeded ones are probed."""

TRACER_BYTES = 128 * MIB
"""How much of a place the tracer probe reads again and again from memory."""

_MOST_S = 120.0
"""One probe takes seconds; longer, and its disk or server has stopped answering."""

BUDGET_PARTS = 10
"""A probe of another host's disk reads at most this part of the scenario's budget of bytes."""

Key = tuple[str, str | None]
"""Resource and direction."""
ChooseLinks = Callable[[Scenario, Mapping[str, PlacePort]], tuple[LinkUse, ...]]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What lies around a run's places: their servers, the ways there, the hosts that may be asked."""

    endpoints: Mapping[str, Endpoint]
    routes: tuple[Route, ...]
    hosts: Mapping[str, HostFacts]
    far: FarHosts
    budget_bytes: int
    """Of the scenario: what a run may read."""


class Probing(Protocol):
    """Which probes a run makes. ``secrets``: what they use and nothing may show."""

    secrets: tuple[str, ...]

    async def measure(
        self,
        scenario: Scenario,
        places: Mapping[str, PlacePort],
        around: Surroundings,
        clock: Clock,
        stop: StopRequest,
    ) -> Probed: ...


class NoProbes:
    """None at all: quicker, and what limits a hop stays unknown more often."""

    secrets: tuple[str, ...] = ()

    async def measure(
        self,
        scenario: Scenario,
        places: Mapping[str, PlacePort],
        around: Surroundings,
        clock: Clock,
        stop: StopRequest,
    ) -> Probed:
        text = "no resource was measured alone (--no-probes): what they can do at most is not known"
        return Probed(caveats=(Caveat("no-probes", text, "run again without --no-probes"),))


class NeededProbes:
    """Those that the scenario's hops need, each once. ``links``: which links, and which way."""

    def __init__(self, token: str | None, links: ChooseLinks = links_needed) -> None:
        self._token = token
        self._links = links
        self.secrets: tuple[str, ...] = (token,) if token else ()

    async def measure(
        self,
        scenario: Scenario,
        places: Mapping[str, PlacePort],
        around: Surroundings,
        clock: Clock,
        stop: StopRequest,
    ) -> Probed:
        """The ceilings of what the flows use; one that cannot be known is left out."""
        start = clock()
        network = NetworkProbes(scenario, around.endpoints, around.routes, around.hosts, self._token, clock)
        found = await network.measure(self._links(scenario, places), stop)
        known: dict[Key, Ceiling] = {(each.resource, each.direction): each for each in found.ceilings}
        for flow in scenario.flows:
            if not all(name in places for name in flow.path):
                continue
            for resource, probe in await _probes(scenario, flow, places, around, clock, stop):
                if stop.asked or (resource, None) in known:
                    continue
                ceiling = await _measure(probe)
                if ceiling is not None:
                    known[resource, None] = unless_link(ceiling, found.ceilings)
        return replace(found, ceilings=tuple(known.values()), took_s=seconds(clock() - start))


async def _measure(probe: Probe) -> Ceiling | None:
    """A ceiling that cannot be had is missing evidence, not a reason to lose the run."""
    try:
        async with asyncio.timeout(_MOST_S):
            return await probe.measure()
    except (PlaceError, OperationError, TimeoutError):
        return None


async def _probes(
    scenario: Scenario,
    flow: Flow,
    places: Mapping[str, PlacePort],
    around: Surroundings,
    clock: Clock,
    stop: StopRequest,
) -> list[tuple[str, Probe]]:
    probes: list[tuple[str, Probe]] = []
    for stage in flow.stages:
        place, port = scenario.place(stage.place), places[stage.place]
        if stage.action is Action.READ:
            items = await _supply(port)
            if items:
                again = Rereading(flow, _setup(place, port), items, clock, stop)
                probes += _read_probes(flow, place, port, again, clock)
                probes += _far_probes(flow, place, port, again, around, clock)
        if stage.action in (Action.INSERT, Action.WRITE):
            probes += _commit_probes(f"commit:{place.name}", port, clock)
        if stage.action is Action.LOOKUP and isinstance(port, AnswersNothing):
            resource = f"query:{place.name}"
            probes.append((resource, QueryProbe(resource, port, clock)))
        if stage.action is Action.INSERT and isinstance(port, TakesRows):
            resource = f"database:{place.name}"
            probes.append((resource, RowsProbe(resource, port, clock, place.workers)))
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
    flow: Flow, place: Place, port: PlacePort, again: Rereading, clock: Clock
) -> list[tuple[str, Probe]]:
    """Of data that this host's kernel reads."""
    if not isinstance(port, Sources):
        return []
    probes: list[tuple[str, Probe]] = []
    if not (port.mount and port.mount.network):
        disk = f"disk:{place.name}"
        probes.append((disk, _disk_probe(disk, place, port.sources(FILES_PROBED), clock)))
    if port.mount and port.mount.far:
        trips = f"round-trips:{place.name}"
        probes.append((trips, RoundTripProbe(trips, port.sources(FILES_PROBED), clock)))
    if isinstance(place.spec, FilesSpec) and place.spec.access is Access.DIRECT:
        return probes  # the same code path would meet the disk again, not memory
    tracer = f"tracer:{flow.name}/0"
    probes.append((tracer, TracerProbe(tracer, again.of_the_first(TRACER_BYTES), clock)))
    return probes


def _far_probes(
    flow: Flow, place: Place, port: PlacePort, again: Rereading, around: Surroundings, clock: Clock
) -> list[tuple[str, Probe]]:
    """Of data that another host reads: its disk over ssh, then protocol and server from its memory."""
    if place.name not in around.endpoints:
        return []
    disk = far_disk_probe(place, port, around.far, clock, around.budget_bytes // BUDGET_PARTS)
    server = server_probe(flow, port, again, clock)
    return [*([(f"disk:{place.name}", disk)] if disk else []), (f"server:{place.name}", server)]


def _setup(place: Place, port: PlacePort) -> StageSetup:
    return StageSetup(port, Action.READ, port.concurrency(Action.READ), place.queue, place.timeout_s)


def _disk_probe(resource: str, place: Place, files: Sequence[tuple[str, int]], clock: Clock) -> DiskProbe:
    mean = sum(size for _, size in files) // max(1, len(files))
    block = place.spec.block_bytes if isinstance(place.spec, FilesSpec) else MIB
    return DiskProbe(resource, files, block, "files" if mean < MIB else "sequential", clock)
