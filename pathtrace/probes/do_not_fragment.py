"""UDP sockets whose packets go whole or not at all, whatever path MTU the kernel remembers. Linux.

The constants are of linux/in.h and linux/in6.h; Python's ``socket`` names only some of them.
"""

from __future__ import annotations

import socket
import sys

IP_MTU_DISCOVER = 10
IP_RECVERR = 11
IP_MTU = 14
IPV6_MTU_DISCOVER = 23
IPV6_MTU = 24
IPV6_RECVERR = 25
PMTUDISC_PROBE = 3
"""Set "do not fragment", and send also what is larger than the path MTU found so far."""

IPV4_HEADER_BYTES = 20
IPV6_HEADER_BYTES = 40
UDP_HEADER_BYTES = 8


def can_probe() -> bool:
    """Whether this system has such sockets."""
    return sys.platform.startswith("linux")


def whole_packets(family: int) -> socket.socket:
    """A UDP socket that never fragments. OSError."""
    made = socket.socket(family, socket.SOCK_DGRAM)
    try:
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, PMTUDISC_PROBE)
        else:
            made.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, PMTUDISC_PROBE)
    except OSError:
        made.close()
        raise
    return made


def report_errors(made: socket.socket) -> None:
    """Keep what routers say about this socket's packets in its error queue. OSError."""
    if made.family == socket.AF_INET6:
        made.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVERR, 1)
    else:
        made.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)


def known_mtu(connected: socket.socket) -> int | None:
    """The MTU that the kernel takes the way of a connected socket for; None if it does not say."""
    try:
        if connected.family == socket.AF_INET6:
            return connected.getsockopt(socket.IPPROTO_IPV6, IPV6_MTU)
        return connected.getsockopt(socket.IPPROTO_IP, IP_MTU)
    except OSError:
        return None


def header_bytes(family: int) -> int:
    """Of IP and UDP together: what a packet has beside the payload."""
    ip = IPV6_HEADER_BYTES if family == socket.AF_INET6 else IPV4_HEADER_BYTES
    return ip + UDP_HEADER_BYTES
