"""Where places really are: a path on a mount lies on another host, and a server's name is an address.

Looks at the mount table and asks for names; connects to nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Iterable, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from pathtrace.app.room import data_path
from pathtrace.model.network import Endpoint, Route
from pathtrace.model.run import Mount, Reached
from pathtrace.model.scenario import FilesSpec, Host, Place, Scenario
from pathtrace.observers.route import route_to
from pathtrace.places.mounts import mount_of
from pathtrace.ports import Connected
from pathtrace.ports import Place as PlacePort

_PORTS = {"http": 80, "https": 443, "postgresql": 5432, "smb": 445, "sftp": 22}
_RESOLVE_S = 5.0


async def located(scenario: Scenario) -> Scenario:
    """The scenario with each files place that lies on a mount put on the host that the mount names."""
    return await asyncio.to_thread(_located, scenario)


def _located(scenario: Scenario) -> Scenario:
    found = {place.name: host for place in scenario.places if (host := _mounted_from(scenario, place))}
    if not found:
        return scenario
    known = {host.name for host in scenario.hosts}
    added = tuple(host for host in dict.fromkeys(found.values()) if host.name not in known)
    places = tuple(
        replace(place, host=found[place.name].name) if place.name in found else place
        for place in scenario.places
    )
    return replace(scenario, hosts=(*scenario.hosts, *added), places=places)


def _mounted_from(scenario: Scenario, place: Place) -> Host | None:
    """The host behind a place's mount; None if it is this one, or if the file says where the place is."""
    if not isinstance(place.spec, FilesSpec) or place.spec.path is None or place.host != scenario.here.name:
        return None
    path = data_path(place)
    mount = mount_of(path) if path else None
    if mount is None or not mount.server:
        return None
    host = host_called(scenario, mount.server)
    if host is not None:
        return None if host.here else host
    return Host(mount.server, (mount.server,), None, None, None, None, False)


def host_called(scenario: Scenario, name: str) -> Host | None:
    """The host with this name or address, also where one is written as a name and the other as a number."""
    wanted = name.lower()
    for host in scenario.hosts:
        if wanted in (host.name.lower(), *(address.lower() for address in host.addresses)):
            return host
    numbers = _numbers(wanted)
    for host in scenario.hosts:
        if any(numbers & _numbers(address) for address in host.addresses):
            return host
    return None


async def endpoints(
    scenario: Scenario, places: Mapping[str, PlacePort], reached: Iterable[Reached]
) -> dict[str, Endpoint]:
    """Where each place's server is reached, of places on other hosts that could be used."""
    here = scenario.here.name
    away = [each for each in reached if each.fault is None and scenario.place(each.place).host != here]
    found = {
        each.place: await _endpoint(scenario, scenario.place(each.place), places[each.place], each)
        for each in away
    }
    return {name: endpoint for name, endpoint in found.items() if endpoint is not None}


async def _endpoint(scenario: Scenario, place: Place, port: PlacePort, reached: Reached) -> Endpoint | None:
    if isinstance(port, Connected) and (own := port.endpoint) is not None:
        return replace(own, host=place.host)
    name, number = _server_of(place, reached.mount)
    names = (name, *scenario.host(place.host).addresses) if name else ()
    found = [address for each in names if (address := await resolve(each)) is not None]
    address = found[0] if found else None  # a mount may name its server as only ~/.ssh/config knows it
    if address is None or ipaddress.ip_address(address).is_loopback:
        return None
    return Endpoint(place.host, address, number)


def _server_of(place: Place, mount: Mount | None) -> tuple[str | None, int | None]:
    if mount is not None and mount.server:
        return mount.server, None
    url = getattr(place.spec, "url", None)
    if url is None or url.startswith("sqlite:"):
        return None, None
    parts = urlsplit(url)
    return parts.hostname, parts.port or _PORTS.get(parts.scheme)


async def resolve(name: str) -> str | None:
    """The first address of a host; None if it has none, or nobody answers in time."""
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(_RESOLVE_S):
            found = await loop.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, TimeoutError, UnicodeError):
        return None
    return str(found[0][4][0]) if found else None


async def routes(known: Mapping[str, Endpoint]) -> tuple[Route, ...]:
    """The way to each address, once."""
    ends = dict.fromkeys((endpoint.host, endpoint.address) for endpoint in known.values())
    found = [await asyncio.to_thread(route_to, host, address) for host, address in ends]
    return tuple(route for route in found if route is not None)


def _numbers(name: str) -> frozenset[str]:
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return frozenset()
    return frozenset(str(entry[4][0]) for entry in found)
