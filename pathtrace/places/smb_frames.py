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
_DESCRIPTORS = 16
"""The most that one value may bring; one does."""
_CHUNK = 1 << 17


def packed(value: object) -> bytes:
    """``value`` as it goes over the socket."""
    body = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return HEAD.pack(len(body)) + body


def unpacked(frame: bytes | bytearray) -> Any:
    """The value of a frame that is complete."""
    return pickle.loads(memoryview(frame)[HEAD.size :])


def missing(frame: bytes | bytearray) -> int:
    """How many bytes of a frame are still to come; of one whose length has not come, those of that."""
    if len(frame) < HEAD.size:
        return HEAD.size - len(frame)
    return HEAD.size + int(HEAD.unpack_from(frame)[0]) - len(frame)


def send(connection: socket.socket, value: object) -> None:
    """Blocks until all of it is sent."""
    connection.sendall(packed(value))


def receive(connection: socket.socket) -> tuple[Any, list[int]]:
    """Blocks until a value has come; with the file descriptors that came along. EOFError.

    Only where the next value is not sent before this one is answered.
    """
    descriptors: list[int] = []
    frame = b""
    room = socket.CMSG_SPACE(_DESCRIPTORS * array.array("i").itemsize)
    while missing(frame):
        data, extra, _, _ = connection.recvmsg(_CHUNK, room)
        if not data:
            raise EOFError
        frame += data
        for _, kind, raw in extra:
            if kind == socket.SCM_RIGHTS:
                found = array.array("i")
                found.frombytes(raw[: len(raw) - len(raw) % found.itemsize])
                descriptors += found
    return unpacked(frame), descriptors
