from __future__ import annotations

import socket
import struct
import threading

import pytest

from pathtrace.places.smb_negotiate import negotiated_dialect


def answered(answer: bytes) -> tuple[int | None, bytes]:
    """What is made of a server's ``answer``, and what the server was asked."""
    asked = bytearray()

    def serve(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            asked.extend(connection.recv(1 << 16))
            connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,))
        thread.start()
        found = negotiated_dialect(*listening.getsockname())
        thread.join()
    return found, bytes(asked)


def response(dialect: int, status: int = 0) -> bytes:
    header = struct.pack("<4sHHIHHIIQIIQ16s", b"\xfeSMB", 64, 0, status, 0, 1, 1, 0, 0, 0, 0, 0, b"")
    body = header + struct.pack("<HHHH", 65, 1, dialect, 0) + bytes(57)
    return struct.pack(">I", len(body)) + body


@pytest.mark.parametrize("dialect", [0x0202, 0x0210, 0x0300, 0x0302, 0x0311])
def test_the_dialect_is_the_one_that_the_server_chose(dialect: int) -> None:
    found, asked = answered(response(dialect))
    assert found == dialect
    assert len(asked) == 4 + struct.unpack(">I", asked[:4])[0]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        response(0x0311, 0xC0000022),
        response(0x9999),
        response(0x0311)[:50],
    ],
)
def test_an_answer_that_names_no_dialect_leaves_it_unknown(answer: bytes) -> None:
    assert answered(answer)[0] is None


def test_a_port_where_nobody_listens_leaves_it_unknown() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address, port = listening.getsockname()
    assert negotiated_dialect(address, port) is None
