"""Asks an SMB server which dialect it chooses: one NEGOTIATE request on a connection of its own.

libsmbclient offers the same dialects (2.0.2 to 3.1.1, unless its smb.conf narrows them) and does not tell
which was chosen. Of the answer only the dialect is read. Layout: [MS-SMB2] 2.2.3 and 2.2.4.
"""

from __future__ import annotations

import os
import socket
import struct

DIALECTS = {0x0202: "2.0.2", 0x0210: "2.1", 0x0300: "3.0", 0x0302: "3.0.2", 0x0311: "3.1.1"}
_TIMEOUT_S = 5.0
_HEADER_BYTES = 64
_LARGEST_ANSWER = 1 << 16


def negotiated_dialect(address: str, port: int) -> int | None:
    """The dialect's number as in ``DIALECTS``; None if the server gave no answer that has one."""
    try:
        with socket.create_connection((address, port), _TIMEOUT_S) as connection:
            request = _request()
            connection.sendall(struct.pack(">I", len(request)) + request)
            answer = _message(connection)
    except (OSError, ValueError):
        return None
    return _dialect(answer)


def _request() -> bytes:
    header = struct.pack("<4sHHIHHIIQIIQ16s", b"\xfeSMB", 64, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, b"")
    contexts = _context(1, struct.pack("<HHH32s", 1, 32, 1, os.urandom(32)))  # integrity: SHA-512
    contexts += _context(2, struct.pack("<HHH", 2, 2, 1))  # encryption: AES-128-GCM, AES-128-CCM
    dialects = struct.pack(f"<{len(DIALECTS)}H", *DIALECTS)
    fixed = 36 + len(dialects)
    padding = -(_HEADER_BYTES + fixed) % 8
    body = struct.pack(
        "<HHHHI16sIHH",
        *(36, len(DIALECTS), 1, 0, 0x44, os.urandom(16)),
        *(_HEADER_BYTES + fixed + padding, 2, 0),
    )
    return header + body + dialects + bytes(padding) + contexts


def _context(kind: int, data: bytes) -> bytes:
    return struct.pack("<HHI", kind, len(data), 0) + data + bytes(-len(data) % 8)


def _message(connection: socket.socket) -> bytes:
    (length,) = struct.unpack(">I", _exactly(connection, 4))
    if length > _LARGEST_ANSWER:
        raise ValueError("no SMB server")
    return _exactly(connection, length)


def _exactly(connection: socket.socket, length: int) -> bytes:
    got = b""
    while len(got) < length:
        more = connection.recv(length - len(got))
        if not more:
            raise ValueError("the server hung up")
        got += more
    return got


def _dialect(answer: bytes) -> int | None:
    if len(answer) < _HEADER_BYTES + 6 or answer[:4] != b"\xfeSMB" or answer[8:12] != bytes(4):
        return None
    (dialect,) = struct.unpack_from("<H", answer, _HEADER_BYTES + 4)
    return dialect if dialect in DIALECTS else None
