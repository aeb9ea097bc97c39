"""The ways to the hosts of places that could be reached: route, routers, largest packet, connect time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pathtrace.app import locating
from pathtrace.app.far_hosts import FarHosts
from pathtrace.app.room import data_path
from pathtrace.model.check import CheckReport, PlaceCheck
from pathtrace.model.report import Caveat
from pathtrace.model.run import Reached
from pathtrace.model.scenario import Scenario
from pathtrace.model.work import Clock
from pathtrace.places.mounts import mount_of
from pathtrace.ports import Place
from pathtrace.probes.path import PathProbe


async def with_ways(report: CheckReport, places: Mapping[str, Place], clock: Clock) -> CheckReport:
    """The report with the ways that its places need, and with which hosts ssh could not ask."""
    reached = {check.name: _reached(report.scenario, check) for check in report.places}
    endpoints = await locating.endpoints(report.scenario, places, reached.values())
    hosts = {endpoint.host: endpoint for endpoint in endpoints.values()}
    paths = [
        await PathProbe(host, endpoint.address, endpoint.port, clock).look()
        for host, endpoint in hosts.items()
    ]
    routes = await locating.routes(endpoints)
    return replace(
        report,
        routes=routes,
        paths=tuple(paths),
        caveats=(*report.caveats, *await _doubts_of_hosts(report.scenario, reached, clock)),
    )


async def _doubts_of_hosts(
    scenario: Scenario, reached: Mapping[str, Reached], clock: Clock
) -> tuple[Caveat, ...]:
    """Whom a run could not ask over ssh, and which folders it would not find there."""
    far = FarHosts(scenario, clock)
    try:
        await far.open(reached)
        return far.caveats()
    finally:
        await far.close()


def _reached(scenario: Scenario, check: PlaceCheck) -> Reached:
    path = data_path(scenario.place(check.name))
    return Reached(check.name, check.facts, check.fault, mount_of(path) if path else None, None)
