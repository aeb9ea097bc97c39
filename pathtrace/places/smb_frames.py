"""Values between two processes of ours over a socket pair: a length, then the value pickled.

Only ever used between a process and the one it has started itself.
"""

from __future__ import annotations

import array
import pickle
import socket
import struct
from typing import Any

HEAD = struct.Struct("!I")
_DESCRIPTORS = 64
"""The most that one value may bring."""


def packed(value: object) -> bytes:
    """``value`` as it goes over the socket."""
    body = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return HEAD.pack(len(body)) + body


def send(connection: socket.socket, value: object) -> None:
    """Blocks until all of it is sent."""
    connection.sendall(packed(value))


def receive(connection: socket.socket) -> tuple[Any, list[int]]:
    """Blocks until a value has come; with the file descriptors that came along. EOFError."""
    descriptors: list[int] = []
    (length,) = HEAD.unpack(_exactly(connection, HEAD.size, descriptors))
    return pickle.loads(_exactly(connection, length, descriptors)), descriptors


def _exactly(connection: socket.socket, length: int, descriptors: list[int]) -> bytes:
    got = bytearray()
    room = socket.CMSG_SPACE(_DESCRIPTORS * array.array("i").itemsize)
    while len(got) < length:
        data, extra, _, _ = connection.recvmsg(length - len(got), room)
        if not data:
            raise EOFError
        got += data
        for _, kind, raw in extra:
            if kind == socket.SCM_RIGHTS:
                found = array.array("i")
                found.frombytes(raw[: len(raw) - len(raw) % found.itemsize])
                descriptors += found
    return bytes(got)
