"""What routers and hosts say about packets of ours: the kernel's error queue of a socket. Linux.

No privilege needed, unlike raw sockets. Layout of linux/errqueue.h.
"""

from __future__ import annotations

import errno
import socket
import struct
from dataclasses import dataclass
from enum import Enum

from pathtrace.probes.do_not_fragment import IP_RECVERR, IPV6_RECVERR

_ERROR = struct.Struct("=IBBBBII")
"""ee_errno, ee_origin, ee_type, ee_code, ee_pad, ee_info, ee_data."""
_LOCAL, _ICMP, _ICMP6 = 1, 2, 3
_UNREACHABLE, _EXPIRED = 3, 11
_UNREACHABLE6, _TOO_BIG6, _EXPIRED6 = 1, 2, 3
_FRAGMENTATION_NEEDED = 4


class Said(Enum):
    """What was said about a packet."""

    EXPIRED = "expired"
    """A router dropped it: its hops were used up."""
    TOO_LARGE = "too large"
    UNREACHABLE = "unreachable"
    """By the host itself: nothing listens on that port; by a router: it may not or cannot pass."""


@dataclass(frozen=True, slots=True)
class Notice:
    said: Said
    sender: str | None
    """Who said it; None: this host."""
    mtu_bytes: int | None


def next_notice(waiting: socket.socket) -> Notice | None:
    """The next entry that can be understood; None once the queue is empty. Never waits."""
    while True:
        try:
            _, ancillary, _, _ = waiting.recvmsg(0, 512, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
        except OSError:
            return None
        for level, kind, data in ancillary:
            if (level, kind) in ((socket.IPPROTO_IP, IP_RECVERR), (socket.IPPROTO_IPV6, IPV6_RECVERR)):
                notice = _read(bytes(data))
                if notice is not None:
                    return notice


def _read(data: bytes) -> Notice | None:
    if len(data) < _ERROR.size:
        return None
    number, origin, kind, code, _, info, _ = _ERROR.unpack_from(data)
    said = _said(number, origin, kind, code)
    if said is None:
        return None
    mtu = info if said is Said.TOO_LARGE and info else None
    return Notice(said, None if origin == _LOCAL else _sender(data[_ERROR.size :]), mtu)


def _said(number: int, origin: int, kind: int, code: int) -> Said | None:
    if origin == _LOCAL:
        return Said.TOO_LARGE if number == errno.EMSGSIZE else None
    if origin == _ICMP:
        if kind == _EXPIRED:
            return Said.EXPIRED
        if kind == _UNREACHABLE:
            return Said.TOO_LARGE if code == _FRAGMENTATION_NEEDED else Said.UNREACHABLE
    if origin == _ICMP6:
        return {
            _EXPIRED6: Said.EXPIRED,
            _TOO_BIG6: Said.TOO_LARGE,
            _UNREACHABLE6: Said.UNREACHABLE,
        }.get(kind)
    return None


def _sender(address: bytes) -> str | None:
    """``struct sockaddr_in`` or ``sockaddr_in6`` of who said it."""
    if len(address) < 8:
        return None
    family = struct.unpack_from("=H", address)[0]
    if family == socket.AF_INET:
        return socket.inet_ntop(socket.AF_INET, address[4:8])
    if family == socket.AF_INET6 and len(address) >= 24:
        return socket.inet_ntop(socket.AF_INET6, address[8:24])
    return None
