"""Single pieces over a connection that rests in between: large ones against small ones.

A link carries many bytes at its rate. What comes alone may pass faster, out of what a shaper or a card saved
up, or slower, by the way there and back. Both ends use this; the asking end times.
"""

from __future__ import annotations

import contextlib
import socket
import statistics
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pathtrace.model.work import Clock
from pathtrace.probes.link_streams import BUFFER_BYTES, StreamReport, Take, padding
from pathtrace.units import KIB, format_bytes, format_duration, nanoseconds, seconds

SIZES = (4 * KIB, 64 * KIB, BUFFER_BYTES)
_TRIES = 8
_REST_S = 0.01
"""Between two of them: longer than a bucket takes to fill, shorter than TCP forgets what it learned."""
_HEADER = struct.Struct(">II")
_ACKNOWLEDGED = 1


@dataclass(frozen=True, slots=True)
class Piece:
    """What one of ``bytes`` takes alone, from the request to its last byte: the median of some."""

    bytes: int
    took_s: float


def pieces_text(pieces: Sequence[Piece]) -> str:
    """``4 KiB alone takes 90 µs, 1 MiB 9.1 ms``; empty of none."""
    told = [f"{format_bytes(each.bytes)} {format_duration(each.took_s)}" for each in pieces]
    if told:
        told[0] = f"{format_bytes(pieces[0].bytes)} alone takes {format_duration(pieces[0].took_s)}"
    return ", ".join(told)


class PieceTimer:
    """Asks for pieces of each of ``SIZES``, there or back, until ``length_s`` is over; ``found`` tells."""

    def __init__(self, clock: Clock, length_s: float, *, there: bool) -> None:
        self._clock = clock
        self._length_s = length_s
        self._there = there
        self._times: dict[int, list[float]] = {}

    @property
    def found(self) -> tuple[Piece, ...]:
        return tuple(Piece(size, statistics.median(times)) for size, times in self._times.items() if times)

    def run(self, connection: socket.socket) -> StreamReport:
        """Whatever ends the connection ends this; what was timed counts."""
        until, moved = self._clock() + nanoseconds(self._length_s), 0
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._exchange(connection, BUFFER_BYTES)  # TCP finds its speed
            for number in range(_TRIES * len(SIZES)):
                if self._clock() >= until:
                    break
                size = SIZES[number % len(SIZES)]
                time.sleep(_REST_S)
                start = self._clock()
                self._exchange(connection, size)
                self._times.setdefault(size, []).append(seconds(self._clock() - start))
                moved += size
        return StreamReport(moved, 0, 0.0, None)

    def _exchange(self, connection: socket.socket, size: int) -> None:
        there, back = (size, _ACKNOWLEDGED) if self._there else (0, size)
        connection.sendall(_HEADER.pack(there, back))
        connection.sendall(padding(there))
        _receive(connection, back)


def answer_pieces(connection: socket.socket, take: Take) -> StreamReport:
    """Take and give what each header says, until the other end closes or ``take`` says no."""
    moved = 0
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            there, back = _HEADER.unpack(_receive(connection, _HEADER.size))
            if max(there, back) > BUFFER_BYTES or not take(there + back):
                break
            _receive(connection, there)
            connection.sendall(padding(back))
            moved += there + back
    return StreamReport(moved, 0, 0.0, None)


def _receive(connection: socket.socket, count: int) -> bytes:
    """ConnectionError if the other end closes first."""
    parts = bytearray()
    while len(parts) < count:
        part = connection.recv(count - len(parts))
        if not part:
            raise ConnectionError("the other end closed the connection")
        parts += part
    return bytes(parts)
