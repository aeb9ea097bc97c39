"""Asks the kernel for TCP sockets by where they lead: inet_diag over a netlink socket of its own.

Nothing is waited for: the kernel answers within the call, so this may run inside the event loop (a
library's own loop may not). What the sockets' counters mean is not known here. The layout is that of
linux/inet_diag.h; no privilege is needed, and sockets of other users and of the kernel are seen too.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_FAMILY = 4
"""NETLINK_SOCK_DIAG."""
_GET_SOCKETS = 18
"""TCPDIAG_GETSOCK: unlike its successor, one request lists IPv4 and IPv6 sockets."""
_DUMP = 0x301
"""NLM_F_REQUEST, NLM_F_ROOT and NLM_F_MATCH."""
_ERROR, _DONE = 2, 3
_ATTRIBUTE_INFO = 2
_WANT_INFO = 1 << (_ATTRIBUTE_INFO - 1)
_ATTRIBUTE_BYTECODE = 1
_LISTEN, _TIME_WAIT, _CLOSE = 10, 6, 7
_STATES = 0xFFF & ~(1 | 1 << _LISTEN | 1 << _TIME_WAIT | 1 << _CLOSE)
ESTABLISHED = 1

_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBB48xII")
_MESSAGE = struct.Struct("=BBBB2H16s16sIQ5I")
_ATTRIBUTE = struct.Struct("=HH")
_OPERATION = struct.Struct("=BBH")
_CONDITION = struct.Struct("=BBxxi")
_JUMP, _DESTINATION = 1, 8
_ANY_PORT = -1
_MOST_BYTES = 1 << 16
_PATIENCE_S = 0.05

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
    request = _request(tuple(destinations))
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _FAMILY) as asked:
        asked.settimeout(_PATIENCE_S)
        asked.send(request)
        return tuple(_answers(asked))


def _request(destinations: tuple[Destination, ...]) -> bytes:
    program = _filter(destinations)
    asked = _REQUEST.pack(socket.AF_INET, 0, 0, _WANT_INFO, _STATES, 0)
    asked += _ATTRIBUTE.pack(_ATTRIBUTE.size + len(program), _ATTRIBUTE_BYTECODE) + program
    return _HEADER.pack(_HEADER.size + len(asked), _GET_SOCKETS, _DUMP, 1, 0) + asked


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


def _answers(asked: socket.socket) -> Iterator[Socket]:
    while True:
        received = asked.recv(_MOST_BYTES)
        at = 0
        while at + _HEADER.size <= len(received):
            length, kind, *_ = _HEADER.unpack_from(received, at)
            if kind == _DONE:
                return
            if kind == _ERROR:
                raise OSError(-struct.unpack_from("=i", received, at + _HEADER.size)[0], "inet_diag")
            yield _socket(received[at + _HEADER.size : at + length])
            at += _aligned(length)


def _socket(message: bytes) -> Socket:
    _, state, _, _, _, port, _, address, _, cookie, _, received, sent, *_ = _MESSAGE.unpack_from(message)
    if message[0] == socket.AF_INET:
        address = address[:4]
    elif address.startswith(_MAPPED):
        address = address[12:]
    return Socket(cookie, state, address, socket.ntohs(port), received, sent, _info(message))


def _info(message: bytes) -> bytes:
    at = _MESSAGE.size
    while at + _ATTRIBUTE.size <= len(message):
        length, kind = _ATTRIBUTE.unpack_from(message, at)
        if kind == _ATTRIBUTE_INFO:
            return message[at + _ATTRIBUTE.size : at + length]
        at += _aligned(max(length, _ATTRIBUTE.size))
    return b""


def _aligned(length: int) -> int:
    return (length + 3) & ~3
