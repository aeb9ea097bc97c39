"""Asks the kernel for TCP sockets by where they lead: inet_diag, which needs no privilege and tells
of other users' sockets and the kernel's own too.

The layout is that of linux/inet_diag.h. What the sockets' counters mean is not known here.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
from collections.abc import Iterable
from typing import NamedTuple

from pathtrace.observers import netlink

_GET_SOCKETS = 18
"""TCPDIAG_GETSOCK: unlike its successor, one request lists IPv4 and IPv6 sockets."""
_ATTRIBUTE_INFO = 2
_WANT_INFO = 1 << (_ATTRIBUTE_INFO - 1)
_ATTRIBUTE_BYTECODE = 1
_LISTEN, _TIME_WAIT, _CLOSE = 10, 6, 7
_STATES = 0xFFF & ~(1 | 1 << _LISTEN | 1 << _TIME_WAIT | 1 << _CLOSE)
ESTABLISHED = 1

_REQUEST = struct.Struct("=BBBB48xII")
_MESSAGE = struct.Struct("=BBBB2H16s16sIQ5I")
_OPERATION = struct.Struct("=BBH")
_CONDITION = struct.Struct("=BBxxi")
_JUMP, _DESTINATION = 1, 8
_ANY_PORT = -1

_MAPPED = bytes(10) + b"\xff\xff"
"""How an IPv4 address begins in a socket of IPv6."""


class Socket(NamedTuple):
    """One TCP socket. ``address`` is packed (4 or 16 bytes), of the far end."""

    cookie: int
    """Of this socket alone, until the host restarts."""
    state: int
    address: bytes
    port: int
    receive_queue_bytes: int
    send_queue_bytes: int
    info: bytes
    """A ``struct tcp_info``."""


Destination = tuple[bytes, int | None]
"""Packed address and port; any port if None."""


def destination(address: str, port: int | None) -> Destination:
    """Of a numeric address, a zone (``%eth0``) left out. ValueError if it is none."""
    return ipaddress.ip_address(address.partition("%")[0]).packed, port


def sockets_to(destinations: Iterable[Destination]) -> tuple[Socket, ...]:
    """All TCP sockets that lead to one of the destinations, whosever they are. OSError: not to be had."""
    program = _filter(tuple(destinations))
    asked = _REQUEST.pack(socket.AF_INET, 0, 0, _WANT_INFO, _STATES, 0)
    asked += netlink.attribute(_ATTRIBUTE_BYTECODE, program)
    return tuple(_socket(message) for message in netlink.dump(netlink.SOCK_DIAG, _GET_SOCKETS, asked))


def _filter(destinations: tuple[Destination, ...]) -> bytes:
    """inet_diag's bytecode for "one of these": a program that runs to its very end accepts.

    Each condition that holds goes on to a jump to the end, one that does not hold steps over it; the
    last one has no jump, and steps over the end, which rejects. IPv4 conditions hold for mapped ones too.
    """
    program = b""
    for number, (address, port) in enumerate(reversed(destinations)):
        jump = _OPERATION.pack(_JUMP, 4, 4 + len(program)) if number else b""
        family = socket.AF_INET if len(address) == 4 else socket.AF_INET6
        tested = _CONDITION.pack(family, len(address) * 8, _ANY_PORT if port is None else port) + address
        size = _OPERATION.size + len(tested)
        program = _OPERATION.pack(_DESTINATION, size, size + 4) + tested + jump + program
    return program


def _socket(message: bytes) -> Socket:
    _, state, _, _, _, port, _, address, _, cookie, _, received, sent, *_ = _MESSAGE.unpack_from(message)
    if message[0] == socket.AF_INET:
        address = address[:4]
    elif address.startswith(_MAPPED):
        address = address[12:]
    return Socket(cookie, state, address, socket.ntohs(port), received, sent, _info(message))


def _info(message: bytes) -> bytes:
    found = (value for kind, value in netlink.attributes(message, _MESSAGE.size) if kind == _ATTRIBUTE_INFO)
    return next(found, b"")
