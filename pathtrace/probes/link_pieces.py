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
from pathtrace.probes.link_protocol import receive_exactly
from pathtrace.probes.link_streams import BUFFER_BYTES, StreamReport, Take, padding
from pathtrace.units import KIB, format_bytes, format_count, format_duration, nanoseconds, seconds

SIZES = (4 * KIB, 64 * KIB, BUFFER_BYTES)
_TRIES = 8
_REST_S = 0.01
"""Between two of them: longer than a bucket takes to fill, shorter than TCP forgets what it learned."""
_HEADER = struct.Struct(">II")
_ACKNOWLEDGED = 1
_PATIENCE_S = 3.0
"""For a piece that is under way when time is over."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What one of ``bytes`` takes alone, from the request to its last byte; ``times_s`` of one or more."""

    bytes: int
    times_s: tuple[float, ...]

    @property
    def took_s(self) -> float:
        """The median."""
        return statistics.median(self.times_s)


def pieces_text(pieces: Sequence[Piece]) -> str:
    """``alone 4 KiB take 90 µs (85 µs to 97 µs, 8 times), 1 MiB 9.1 ms (9 ms to 9.3 ms, 8 times)``; empty of
    none."""
    return ", ".join(
        f"{'' if at else 'alone '}{format_bytes(each.bytes)} {'' if at else 'take '}{_times(each)}"
        for at, each in enumerate(pieces)
    )


def _times(piece: Piece) -> str:
    low, high = (format_duration(end(piece.times_s)) for end in (min, max))
    return f"{format_duration(piece.took_s)} ({low} to {high}, {format_count(len(piece.times_s), 'time')})"


class PieceTimer:
    """Asks for pieces of each of ``SIZES``, there or back, until ``length_s`` is over; ``found`` tells."""

    def __init__(self, clock: Clock, length_s: float, *, there: bool) -> None:
        self._clock = clock
        self._length_s = length_s
        self._there = there
        self._times: dict[int, list[float]] = {}
        self._deadline = 0.0

    @property
    def found(self) -> tuple[Piece, ...]:
        return tuple(Piece(size, tuple(times)) for size, times in self._times.items())

    def run(self, connection: socket.socket) -> StreamReport:
        """Whatever ends the connection ends this; what was timed counts."""
        until, moved = self._clock() + nanoseconds(self._length_s), 0
        self._deadline = time.monotonic() + self._length_s + _PATIENCE_S
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
        receive_exactly(connection, back, self._deadline)


def answer_pieces(connection: socket.socket, take: Take, length_s: float) -> StreamReport:
    """Take and give what each header says, until the other end closes, ``take`` says no or time is over.

    The report has what was given as ``bytes``, what was taken as ``window_bytes``.
    """
    given, taken, deadline = 0, 0, time.monotonic() + length_s + _PATIENCE_S
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            there, back = _HEADER.unpack(receive_exactly(connection, _HEADER.size, deadline))
            if max(there, back) > BUFFER_BYTES or not take(there + back):
                break
            receive_exactly(connection, there, deadline)
            connection.sendall(padding(back))
            given, taken = given + back, taken + there
    return StreamReport(given, taken, 0.0, None)
