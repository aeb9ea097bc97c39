"""One client's session at the responder: transfers and echoes as it asks, within bytes and time.

Whoever comes here has proved itself to ``responder``; what is asked is still checked, and a message that
is not understood ends the session.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeGuard

from pathtrace import __version__
from pathtrace.model.work import Clock
from pathtrace.probes.link_pieces import answer_pieces
from pathtrace.probes.link_protocol import ForeignSpeechError, read_message, write_message
from pathtrace.probes.link_streams import (
    Allowance,
    Meter,
    StreamReport,
    receive_stream,
    send_stream,
    shut,
    together,
)
from pathtrace.probes.responder_echo import Echo
from pathtrace.units import format_bytes, format_duration, nanoseconds, seconds

MOST_STREAMS = 16
LONGEST_S = 60.0
"""Of one transfer."""
_JOINING_S = 5.0
"""For the data connections of a transfer to arrive."""
_DONE = "done"
_GRACE_S = 5.0
"""Beyond the asked length, for a slow way to deliver what is under way."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one session."""

    bytes: int
    time_s: float


@dataclass(frozen=True, slots=True)
class Served:
    """What a session was."""

    peer: str
    duration_s: float
    sent_bytes: int
    received_bytes: int
    ended: str
    """``done``, or what ended it early."""


@dataclass(frozen=True, slots=True)
class _Transfer:
    number: int
    do: str
    streams: int
    length_s: float
    warmup_s: float
    most_bytes: int
    arrived: queue.Queue[socket.socket] = field(default_factory=queue.Queue)


class Session:
    """Serves the control connection until the client is done; ``admit`` takes its data connections."""

    def __init__(self, control: socket.socket, peer: str, key: bytes, limits: Limits, clock: Clock) -> None:
        self.key = key
        self.peer = peer
        self._control = control
        self._limits = limits
        self._clock = clock
        self._allowance = Allowance(limits.bytes)
        self._deadline = time.monotonic() + limits.time_s
        self._transfer: _Transfer | None = None
        self._lock = threading.Lock()
        self._data: list[socket.socket] = []
        self._ended = _DONE
        self._over = False
        self._sent = self._received = 0

    def serve(self) -> Served:
        """Until the client leaves, a limit is met or ``end`` is called."""
        start = self._clock()
        timer = threading.Timer(self._limits.time_s, self.end, (self._over_time(),))
        timer.daemon = True
        timer.start()
        echo = Echo.beside(self._control, self.key, self._allowance)
        try:
            self._converse(echo)
        finally:
            timer.cancel()
            if echo is not None:
                echo.close()
            self.end(_DONE)
        elapsed_s = seconds(self._clock() - start)
        return Served(self.peer, elapsed_s, self._sent, self._received, self._ended)

    def end(self, reason: str) -> None:
        """End the session now, whatever it is doing, and let it tell the client; the first reason stays."""
        with self._lock:
            if self._ended == _DONE:
                self._ended = reason
            self._over = True
            connections = list(self._data)
        shut(connections)
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RD)

    def admit(self, connection: socket.socket, number: int) -> bool:
        """Take a data connection of the transfer that is being set up; False if it belongs to none."""
        with self._lock:
            transfer = self._transfer
            if transfer is None or transfer.number != number or self._over:
                return False
            if transfer.arrived.qsize() >= transfer.streams:
                return False
            self._data.append(connection)
            transfer.arrived.put(connection)
            return True

    def _converse(self, echo: Echo | None) -> None:
        try:
            write_message(self._control, self._greeting(echo))
            number = 0
            while True:
                message = read_message(self._control, self._deadline)
                if message.get("do") == "bye":
                    return
                number += 1
                write_message(self._control, self._answer(message, number))
                if self._over or self._ended != _DONE:
                    return
        except ForeignSpeechError as error:
            self._fail(str(error))
        except TimeoutError:
            self._fail(self._over_time())
        except OSError:  # the client left, or `end` was called
            self._fail("the client left")

    def _fail(self, reason: str) -> None:
        with self._lock:
            if self._ended == _DONE:
                self._ended = reason
        with contextlib.suppress(OSError):
            write_message(self._control, {"error": self._ended})

    def _greeting(self, echo: Echo | None) -> dict[str, object]:
        return {
            "pathtrace": __version__,
            "echo": echo is not None,
            "pieces": True,
            "limit_bytes": self._limits.bytes,
            "limit_s": self._limits.time_s,
            "congestion_control": congestion_control(self._control),
        }

    def _answer(self, message: dict[str, object], number: int) -> dict[str, object]:
        """Carry out a transfer and report it."""
        transfer = _read_transfer(message, number)
        with self._lock:
            self._transfer = transfer
        connections: list[socket.socket] = []
        try:
            write_message(self._control, {"transfer": number})
            connections = self._gather(transfer)
            reports = self._move(transfer, connections)
        finally:
            self._forget(transfer, connections)
        if self._allowance.over:
            self.end(f"its limit of {format_bytes(self._limits.bytes)} a session is used up")
        if self._ended != _DONE:
            return {"error": self._ended}
        return {"streams": [report.document() for report in reports]}

    def _gather(self, transfer: _Transfer) -> list[socket.socket]:
        until = time.monotonic() + _JOINING_S
        found: list[socket.socket] = []
        try:
            while len(found) < transfer.streams:
                found.append(transfer.arrived.get(timeout=max(0.0, until - time.monotonic())))
        except queue.Empty:
            for connection in found:
                connection.close()
            raise ForeignSpeechError("the data connections did not arrive") from None
        return found

    def _forget(self, transfer: _Transfer, connections: list[socket.socket]) -> None:
        with self._lock:
            self._transfer = None
            self._data = [other for other in self._data if other not in connections]
        while not transfer.arrived.empty():
            transfer.arrived.get_nowait().close()

    def _move(self, transfer: _Transfer, connections: list[socket.socket]) -> list[StreamReport]:
        patience_s = transfer.warmup_s + transfer.length_s + _GRACE_S
        for connection in connections:
            connection.settimeout(None)
        if transfer.do == "pieces":
            reports = together(
                lambda connection: answer_pieces(connection, self._allowance.take, transfer.length_s),
                connections,
                patience_s,
            )
            self._sent += sum(report.bytes for report in reports)
            self._received += sum(report.window_bytes for report in reports)
        elif transfer.do == "send":
            reports = together(self._sender(transfer), connections, patience_s)
            self._sent += sum(report.bytes for report in reports)
        else:
            meter = Meter(self._clock, nanoseconds(transfer.warmup_s), nanoseconds(transfer.length_s))
            reports = together(
                lambda connection: receive_stream(connection, meter, self._allowance.take),
                connections,
                patience_s,
            )
            self._received += sum(report.bytes for report in reports)
        return reports

    def _sender(self, transfer: _Transfer) -> Callable[[socket.socket], StreamReport]:
        until = self._clock() + nanoseconds(transfer.warmup_s + transfer.length_s + 1.0)
        share = transfer.most_bytes // transfer.streams
        return lambda connection: send_stream(connection, self._clock, until, share, self._allowance.take)

    def _over_time(self) -> str:
        return f"its time of {format_duration(self._limits.time_s)} a session is over"


def congestion_control(connection: socket.socket) -> str | None:
    """The system's algorithm, as the kernel names it; None where it does not."""
    option = getattr(socket, "TCP_CONGESTION", None)
    if option is None:
        return None
    try:
        return connection.getsockopt(socket.IPPROTO_TCP, option, 16).rstrip(b"\0").decode("ascii", "replace")
    except OSError:
        return None


def _read_transfer(message: dict[str, object], number: int) -> _Transfer:
    """What the client asks for, within reason. ForeignSpeechError."""
    streams, most = message.get("streams"), message.get("most_bytes")
    length_s, warmup_s = message.get("length_s"), message.get("warmup_s")
    do = message.get("do")
    if do not in ("send", "receive", "pieces"):
        raise ForeignSpeechError("a message asks for something unknown")
    if type(streams) is not int or not 1 <= streams <= MOST_STREAMS or type(most) is not int or most < 1:
        raise ForeignSpeechError("a message asks for something impossible")
    if not (_is_short(length_s) and _is_short(warmup_s)):
        raise ForeignSpeechError("a message asks for something impossible")
    return _Transfer(number, str(do), streams, float(length_s), float(warmup_s), most)


def _is_short(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= LONGEST_S
