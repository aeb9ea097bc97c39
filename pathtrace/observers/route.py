"""Which way a packet to an address leaves this host: the kernel's own answer (rtnetlink), for one address.

The layout is that of linux/rtnetlink.h.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
import sys

from pathtrace.model.network import Route
from pathtrace.observers import netlink
from pathtrace.observers.interface_facts import kind_of
from pathtrace.observers.links import Link, links

_GET_ROUTE = 26
_HEADER = struct.Struct("=8BI")
_DESTINATION, _INTERFACE, _GATEWAY, _SOURCE, _METRICS, _VIA = 1, 4, 5, 7, 8, 18
_METRIC_MTU = 2
_FAMILY_BYTES = 2
"""Before the address of a gateway of the other family."""


def route_to(host: str, address: str) -> Route | None:
    """The route to a numeric address (``fe80::1%eth0`` too); None where there is none or none is told."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        found = dict(netlink.attributes(_answer(address), _HEADER.size))
    except (OSError, ValueError):
        return None
    number = int.from_bytes(found.get(_INTERFACE, b""), sys.byteorder)
    link = next((each for each in links() if each.number == number), None)
    return _route(host, address, link, found) if link else None


def _answer(address: str) -> bytes:
    plain, _, zone = address.partition("%")
    packed = ipaddress.ip_address(plain).packed
    family = socket.AF_INET if len(packed) == 4 else socket.AF_INET6
    asked = _HEADER.pack(family, len(packed) * 8, 0, 0, 0, 0, 0, 0, 0)
    asked += netlink.attribute(_DESTINATION, packed)
    if zone:
        asked += netlink.attribute(_INTERFACE, struct.pack("=I", socket.if_nametoindex(zone)))
    return netlink.ask(netlink.ROUTE, _GET_ROUTE, asked)


def _route(host: str, address: str, link: Link, found: dict[int, bytes]) -> Route:
    """The MTU is the route's own, or what the kernel has learnt of the path; of most there is neither."""
    gateway = found.get(_GATEWAY) or found.get(_VIA, b"")[_FAMILY_BYTES:]
    mtu = dict(netlink.attributes(found.get(_METRICS, b""))).get(_METRIC_MTU)
    return Route(
        host=host,
        address=address,
        interface=link.name,
        source=_text(found.get(_SOURCE)),
        gateway=_text(gateway),
        mtu_bytes=int.from_bytes(mtu, sys.byteorder) if mtu else link.mtu_bytes,
        interface_kind=kind_of(link),
    )


def _text(address: bytes | None) -> str | None:
    return str(ipaddress.ip_address(address)) if address else None
