"""Which host is meant: the one that runs pathtrace, the declared ones, and those that only names tell of."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from pathtrace.model.scenario import Host
from pathtrace.scenario import document as doc

HERE = "workstation"
"""The host that runs pathtrace, unless one says ``here: true``."""


def here_name(document: doc.Document) -> str:
    """The host that runs pathtrace."""
    return next((name for name, host in document.hosts.items() if host.here), HERE)


def host_of(place: doc.PlaceOf, document: doc.Document) -> str:
    """Where a place is: as it says, else by its URL, else here."""
    url = getattr(place, "url", None)
    if place.host is not None or url is None or url.startswith("sqlite:"):
        return place.host or here_name(document)
    named = urlsplit(url).hostname or ""
    if _is_loopback(named):
        return here_name(document)
    for name, host in document.hosts.items():
        if named in (name.lower(), *(address.lower() for address in host.address)):
            return name
    return named


def all_hosts(document: doc.Document) -> tuple[Host, ...]:
    """Declared hosts in file order, then those that links and places name."""
    here = here_name(document)
    linked = [host for link in document.links.values() for host in link.hosts]
    placed = [host_of(place, document) for place in document.places.values()]
    names = dict.fromkeys([*document.hosts, here, *linked, *placed])
    return tuple(_host(name, document.hosts.get(name, doc.Host()), name == here) for name in names)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _host(name: str, host: doc.Host, here: bool) -> Host:
    return Host(
        name=name,
        addresses=host.address,
        role=host.role,
        ssh=host.ssh,
        memory_bytes=host.memory,
        gpu_memory_bytes=host.gpu_memory,
        here=here,
        responder=host.responder,
        iperf3=host.iperf3,
    )
