"""Packets with few hops to live, and answers to them, made and read with scapy. Sends nothing.

scapy is imported here alone, and only when a packet is made: it costs a third of a second. Nothing of its
own idea of interfaces and routes is used, which it keeps from when it was imported: source and destination
are always given.
"""

from __future__ import annotations

import functools
import logging
import socket
import struct
from dataclasses import dataclass
from enum import Enum
from types import SimpleNamespace
from typing import Any

_ECHO_REPLY, _UNREACHABLE, _EXPIRED = 0, 3, 11
_UNREACHABLE6, _EXPIRED6, _ECHO_REPLY6 = 1, 3, 129


class Kind(Enum):
    """What was sent."""

    SYN = "TCP SYN"
    ECHO = "ICMP echo"


@dataclass(frozen=True, slots=True)
class Answer:
    """``mark``: the port that a SYN came from, or identifier << 16 | sequence number of an echo request."""

    kind: Kind
    mark: int
    sender: str
    about: str
    """The address that the packet had been sent to."""
    expired: bool
    """False: it went no further, for it had arrived, or was refused by ``sender``."""


def syn(family: int, source: str, address: str, ports: tuple[int, int], hops: int) -> bytes:
    """A request for a connection, as an IP packet; ``ports``: ours and theirs."""
    tcp = _layers().TCP(sport=ports[0], dport=ports[1], flags="S", options=[("MSS", 1220)])
    return bytes(_ip(family, source, address, hops) / tcp)


def echo(family: int, source: str, address: str, mark: int, hops: int) -> bytes:
    layers = _layers()
    of = layers.ICMPv6EchoRequest if family == socket.AF_INET6 else layers.ICMP
    asked = of(id=mark >> 16, seq=mark & 0xFFFF)
    return bytes(_ip(family, source, address, hops) / asked / b"pathtrace")


def read(family: int, packet: bytes) -> Answer | None:
    """What an IP packet says about one of ours; None: nothing, or it cannot be read."""
    layers = _layers()
    try:
        if family == socket.AF_INET6:
            return _read6(layers, layers.IPv6(packet))
        return _read4(layers, layers.IP(packet))
    # anyone may send us anything: what scapy and we stumble over is no answer
    except (layers.Scapy_Exception, struct.error, ValueError, LookupError, TypeError, AttributeError):
        return None


def _ip(family: int, source: str, address: str, hops: int) -> Any:
    if family == socket.AF_INET6:
        return _layers().IPv6(src=source, dst=address, hlim=hops)
    return _layers().IP(src=source, dst=address, ttl=hops, id=0)  # 0: the kernel chooses


def _read4(layers: Any, packet: Any) -> Answer | None:
    body = packet.payload
    if isinstance(body, layers.TCP):
        return Answer(Kind.SYN, body.dport, packet.src, packet.src, expired=False)
    if not isinstance(body, layers.ICMP):
        return None
    if body.type == _ECHO_REPLY:
        return Answer(Kind.ECHO, body.id << 16 | body.seq, packet.src, packet.src, expired=False)
    quoted = body.payload
    if body.type not in (_UNREACHABLE, _EXPIRED) or not isinstance(quoted, layers.IPerror):
        return None
    return _quoted(quoted.proto, quoted, packet.src, expired=body.type == _EXPIRED)


def _read6(layers: Any, packet: Any) -> Answer | None:
    body = packet.payload
    if isinstance(body, layers.TCP):
        return Answer(Kind.SYN, body.dport, packet.src, packet.src, expired=False)
    kind = getattr(body, "type", None) if packet.nh == socket.IPPROTO_ICMPV6 else None
    if kind == _ECHO_REPLY6:
        return Answer(Kind.ECHO, body.id << 16 | body.seq, packet.src, packet.src, expired=False)
    quoted = body.payload
    if kind not in (_UNREACHABLE6, _EXPIRED6) or not isinstance(quoted, layers.IPerror6):
        return None
    return _quoted(quoted.nh, quoted, packet.src, expired=kind == _EXPIRED6)


def _quoted(protocol: int, quoted: Any, sender: str, *, expired: bool) -> Answer | None:
    """A router quotes at least eight bytes behind the IP header, and an old one not more."""
    start = bytes(quoted.payload)[:8]
    if protocol == socket.IPPROTO_TCP:
        return Answer(Kind.SYN, struct.unpack_from("!H", start)[0], sender, quoted.dst, expired)
    if protocol in (socket.IPPROTO_ICMP, socket.IPPROTO_ICMPV6):
        return Answer(Kind.ECHO, struct.unpack_from("!I", start, 4)[0], sender, quoted.dst, expired)
    return None


@functools.cache
def _layers() -> Any:
    """scapy's classes that are used, by name."""
    # it warns of interfaces without an address and of a missing libpcap: neither is needed
    logging.getLogger("scapy").setLevel(logging.CRITICAL)
    from scapy.error import Scapy_Exception
    from scapy.layers.inet import ICMP, IP, TCP, IPerror
    from scapy.layers.inet6 import ICMPv6EchoRequest, IPerror6, IPv6

    used = (Scapy_Exception, ICMP, IP, TCP, IPerror, ICMPv6EchoRequest, IPerror6, IPv6)
    return SimpleNamespace(**{each.__name__: each for each in used})
