"""Pairs of connected TCP sockets on this host, for observers that look at the kernel's."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def listening(address: str = "127.0.0.1") -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.create_server((address, 0), family=family) as server:
        yield server


def port(server: socket.socket) -> int:
    return int(server.getsockname()[1])


@contextmanager
def connected(server: socket.socket) -> Iterator[tuple[socket.socket, socket.socket]]:
    """The client's end and the server's, each closed at the end if it is not yet."""
    with socket.create_connection(server.getsockname()[:2]) as one:
        other, _ = server.accept()
        with other:
            yield one, other


def send(sender: socket.socket, receiver: socket.socket, count: int) -> None:
    sender.sendall(bytes(count))
    while count:
        count -= len(receiver.recv(count))
