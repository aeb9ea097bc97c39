"""One question to the kernel over netlink and all its answers, at once: what observers may do in a loop.

The kernel answers within the call, so nothing is waited for. A library that starts an event loop for it
cannot be called while another one runs. What messages mean is for those who ask.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

ROUTE = 0
SOCK_DIAG = 4

_HEADER = struct.Struct("=IHHII")
_ATTRIBUTE = struct.Struct("=HH")
_REQUEST = 0x001
_DUMP = 0x300 | _REQUEST
"""NLM_F_ROOT and NLM_F_MATCH: everything that there is."""
_ERROR, _DONE = 2, 3
_MOST_BYTES = 1 << 16
_PATIENCE_S = 0.05
_FLAGS = 0xC000
"""Nested, and of network byte order: no part of an attribute's kind."""


def dump(protocol: int, kind: int, body: bytes) -> Iterator[bytes]:
    """Bodies of all messages that answer one of ``kind``. OSError: refused, or no netlink here."""
    with _asked(protocol, kind, _DUMP, body) as asked:
        while True:
            for answer, message in _messages(asked.recv(_MOST_BYTES)):
                if answer == _DONE:
                    return
                yield message


def ask(protocol: int, kind: int, body: bytes) -> bytes:
    """Body of the one message that answers one of ``kind``. OSError: refused, or no netlink here."""
    with _asked(protocol, kind, _REQUEST, body) as asked:
        _, message = next(_messages(asked.recv(_MOST_BYTES)))
        return message


@contextmanager
def _asked(protocol: int, kind: int, flags: int, body: bytes) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as asked:
        asked.settimeout(_PATIENCE_S)
        asked.send(_HEADER.pack(_HEADER.size + len(body), kind, flags, 1, 0) + body)
        yield asked


def _messages(received: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + _HEADER.size <= len(received):
        length, kind, *_ = _HEADER.unpack_from(received, at)
        message = received[at + _HEADER.size : at + length]
        if kind == _ERROR:
            raise OSError(-struct.unpack_from("=i", message)[0], "netlink")
        yield kind, message
        at += _aligned(max(length, _HEADER.size))


def attribute(kind: int, value: bytes) -> bytes:
    """As it stands in a message; ``value`` must fill whole words."""
    return _ATTRIBUTE.pack(_ATTRIBUTE.size + len(value), kind) + value


def attributes(message: bytes, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Kind and value of the attributes from ``start`` to the end of a message, or of an attribute."""
    at = start
    while at + _ATTRIBUTE.size <= len(message):
        length, kind = _ATTRIBUTE.unpack_from(message, at)
        yield kind & ~_FLAGS, message[at + _ATTRIBUTE.size : at + length]
        at += _aligned(max(length, _ATTRIBUTE.size))


def _aligned(length: int) -> int:
    return (length + 3) & ~3
