"""Measures the ways to other hosts: each link that hops use, in the direction in which their bytes go.

Best first: a responder there, an iperf3 server there, else arithmetic on the negotiated speed. What each
probe does is its own; which resource a way is called after is the scenario's.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from pathtrace.analysis.limiting.links import link_between
from pathtrace.app.shared_links import measured_beside_others
from pathtrace.errors import OperationError
from pathtrace.model.network import Endpoint, PathFacts, Route
from pathtrace.model.probe import LINK_NOT_MEASURED, Probed
from pathtrace.model.report import Caveat
from pathtrace.model.run import Ceiling, HostFacts, Interface
from pathtrace.model.scenario import Action, Host, Scenario
from pathtrace.model.work import Clock
from pathtrace.ports import Place, Probe
from pathtrace.probes.computed import computed_link
from pathtrace.probes.iperf3 import Iperf3Probe
from pathtrace.probes.link import LinkProbe
from pathtrace.probes.path import PathProbe
from pathtrace.probes.responder_client import ResponderClient, Way
from pathtrace.replay.stop import StopRequest

RESPONDER_PORT = 7411
IPERF3_PORT = 5201
_LISTENS_S = 1.0
_FETCHED = frozenset({Action.READ, Action.LOOKUP})
_SENT = frozenset({Action.WRITE, Action.INSERT, Action.PROCESS})
_HOW = "start `pathtrace respond` on {host}, set PATHTRACE_TOKEN to its token here, then run again"


@dataclass(frozen=True, slots=True)
class LinkUse:
    """A link that hops use: to which host, and which way their bytes go."""

    host: str
    way: Way


def links_needed(scenario: Scenario, places: Mapping[str, Place]) -> tuple[LinkUse, ...]:
    """Of the flows all of whose places can be used; questions and answers are too small to fill a link."""
    stages = (
        stage for flow in scenario.flows if all(name in places for name in flow.path) for stage in flow.stages
    )
    uses = [
        LinkUse(host, way)
        for stage in stages
        if (host := scenario.place(stage.place).host) != scenario.here.name
        and (way := _way(stage.action)) is not None
    ]
    return tuple(dict.fromkeys(uses))


def links_both_ways(scenario: Scenario, places: Mapping[str, Place]) -> tuple[LinkUse, ...]:
    """The same links, and each the other way round too."""
    hosts = dict.fromkeys(use.host for use in links_needed(scenario, places))
    return tuple(LinkUse(host, way) for host in hosts for way in Way)


def _way(action: Action) -> Way | None:
    if action in _FETCHED:
        return Way.TO_HERE
    return Way.TO_THERE if action in _SENT else None


class NetworkProbes:
    """Use once, for one run."""

    def __init__(
        self,
        scenario: Scenario,
        endpoints: Mapping[str, Endpoint],
        routes: tuple[Route, ...],
        hosts: Mapping[str, HostFacts],
        token: str | None,
        clock: Clock,
    ) -> None:
        self._scenario = scenario
        self._ends: dict[str, Endpoint] = {}
        for endpoint in endpoints.values():
            self._ends.setdefault(endpoint.host, endpoint)
        self._routes = {route.host: route for route in routes}
        self._hosts = hosts
        self._token = token
        self._clock = clock
        self._caveats: list[Caveat] = []

    async def measure(self, uses: tuple[LinkUse, ...], stop: StopRequest) -> Probed:
        """Links and ways, host by host: two at a time would measure each other."""
        ceilings: list[Ceiling] = []
        paths: list[PathFacts] = []
        for host, endpoint in self._ends.items():
            if stop.asked:
                break
            client = self._responder(self._scenario.host(host), endpoint)
            try:
                found = [await self._link(use, endpoint, client) for use in uses if use.host == host]
                ceilings += [each for each in found if each is not None]
                path = PathProbe(host, endpoint.address, endpoint.port, self._clock, client)
                paths.append(await path.look())
            finally:
                if client is not None:
                    client.close()
        return Probed(tuple(ceilings), tuple(paths), tuple(self._caveats))

    def _responder(self, host: Host, endpoint: Endpoint) -> ResponderClient | None:
        if self._token is None:
            return None
        where = host.responder or _with_port(endpoint.address, RESPONDER_PORT)
        return ResponderClient(where, self._token, self._clock)

    async def _link(self, use: LinkUse, endpoint: Endpoint, client: ResponderClient | None) -> Ceiling | None:
        """The best ceiling that can be had; a caveat says so where it was not measured."""
        resource, direction = self._resource(use.host), self._direction(use)
        reasons = []
        route = self._routes.get(use.host)
        interface = route.interface if route else None
        async for probe in self._measurers(use, endpoint, client, resource, direction):
            try:
                found = await measured_beside_others(probe, interface, use.way, self._clock)
                if found is not None:
                    return found
            except OperationError as error:
                reasons.append(str(error))
        self._not_measured(use.host, resource, reasons)
        return self._computed(use, endpoint, resource, direction)

    async def _measurers(
        self,
        use: LinkUse,
        endpoint: Endpoint,
        client: ResponderClient | None,
        resource: str,
        direction: str,
    ) -> AsyncIterator[Probe]:
        if client is not None:
            yield LinkProbe(resource, direction, use.way, client, self._clock)
        stated = self._scenario.host(use.host).iperf3
        if stated is not None:
            yield Iperf3Probe(resource, direction, use.way, stated, self._clock)
        elif await _listens(endpoint.address, IPERF3_PORT):  # nobody asked for it: no word if there is none
            where = _with_port(endpoint.address, IPERF3_PORT)
            yield Iperf3Probe(resource, direction, use.way, where, self._clock)

    def _computed(self, use: LinkUse, endpoint: Endpoint, resource: str, direction: str) -> Ceiling | None:
        """From what the interface at this end negotiated; of the other end only ssh could tell."""
        route = self._routes.get(use.host)
        near = self._interface(self._scenario.here.name, route.interface if route else None)
        if near is None or near.speed_bytes_per_s is None:
            return None
        version = ipaddress.ip_address(endpoint.address.partition("%")[0]).version
        return computed_link(
            resource, direction, near.speed_bytes_per_s, near.mtu_bytes, near.duplex, ip_version=version
        )

    def _interface(self, host: str, name: str | None) -> Interface | None:
        facts = self._hosts.get(host)
        return next((each for each in facts.interfaces if each.name == name), None) if facts else None

    def _not_measured(self, host: str, resource: str, reasons: list[str]) -> None:
        why = f": {'; '.join(reasons)}" if reasons else ""
        text = f"{resource} was not measured from memory to memory{why}"
        caveat = Caveat(LINK_NOT_MEASURED, text, _HOW.format(host=host), resource)
        if caveat not in self._caveats:  # the other direction may have failed for the same reason
            self._caveats.append(caveat)

    def _resource(self, host: str) -> str:
        here = self._hosts.get(self._scenario.here.name)
        return link_between(self._scenario, tuple(self._routes.values()), here, host)

    def _direction(self, use: LinkUse) -> str:
        here = self._scenario.here.name
        return f"{use.host}->{here}" if use.way is Way.TO_HERE else f"{here}->{use.host}"


def _with_port(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


async def _listens(address: str, port: int) -> bool:
    """True if somebody takes a connection there; it is closed at once."""
    try:
        async with asyncio.timeout(_LISTENS_S):
            _, writer = await asyncio.open_connection(address, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True
