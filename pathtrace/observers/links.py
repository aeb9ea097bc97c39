"""The interfaces of this process's network namespace, as the kernel lists them (rtnetlink).

The layout is that of linux/if_link.h. Speeds are not in there: they are the drivers' to tell.
"""

from __future__ import annotations

import struct
import sys
from typing import NamedTuple

from pathtrace.observers import netlink

_GET_LINK = 18
_HEADER = struct.Struct("=BxHiII")
_NAME, _MTU, _LINK_INFO, _CARRIER_CHANGES, _PARENT, _PARENT_BUS = 3, 4, 18, 35, 56, 57
_INFO_KIND = 1
_UP = 1


class Link(NamedTuple):
    """``type`` is the hardware's (1 Ethernet, 772 loopback, 65534 none), ``kind`` the kernel's word for a
    virtual one (veth, bridge, tun, wireguard), ``parent`` its device's name on the bus ``parent_bus``."""

    name: str
    number: int
    type: int
    up: bool
    mtu_bytes: int | None
    kind: str | None
    carrier_changes: int | None
    parent: str | None
    parent_bus: str | None


def links() -> tuple[Link, ...]:
    """All of them; nothing where it cannot be had."""
    if not sys.platform.startswith("linux"):
        return ()
    try:
        asked = _HEADER.pack(0, 0, 0, 0, 0)
        return tuple(_link(message) for message in netlink.dump(netlink.ROUTE, _GET_LINK, asked))
    except OSError:
        return ()


def carrier_changes() -> tuple[tuple[str, int], ...]:
    """Name, and how often its link went away or came back."""
    return tuple((link.name, link.carrier_changes) for link in links() if link.carrier_changes is not None)


def _link(message: bytes) -> Link:
    _, hardware, number, flags, _ = _HEADER.unpack_from(message)
    found = dict(netlink.attributes(message, _HEADER.size))
    info = dict(netlink.attributes(found.get(_LINK_INFO, b"")))
    return Link(
        _text(found.get(_NAME)) or str(number),
        number,
        hardware,
        bool(flags & _UP),
        _number(found.get(_MTU)),
        _text(info.get(_INFO_KIND)),
        _number(found.get(_CARRIER_CHANGES)),
        _text(found.get(_PARENT)),
        _text(found.get(_PARENT_BUS)),
    )


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.rstrip(b"\0").decode("utf-8", "replace")


def _number(value: bytes | None) -> int | None:
    return int.from_bytes(value, sys.byteorder) if value else None
