"""This end of a session with a responder: connects once, then transfers and echoes as probes ask.

One object serves all probes of a run that need the same responder, since a token is good for one session.
Blocking; probes call it in a thread. ``abort`` ends whatever it is doing.
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from pathtrace.errors import PathtraceError
from pathtrace.model.work import Clock
from pathtrace.probes.echo_client import EchoClient
from pathtrace.probes.link_pieces import Piece, PieceTimer
from pathtrace.probes.link_protocol import (
    LinkError,
    Purpose,
    ResponderBusyError,
    format_address,
    introduce,
    parse_address,
    read_message,
    write_message,
)
from pathtrace.probes.link_streams import (
    Allowance,
    Meter,
    StreamReport,
    read_report,
    receive_stream,
    send_stream,
    shut,
    together,
)
from pathtrace.units import GIB, nanoseconds

CONNECT_S = 5.0
BUSY_S = 15.0
"""How long a busy responder is waited for."""
_ASK_AGAIN_S = 0.5
_GRACE_S = 5.0
_LEAST_SEGMENT = 536
"""Bytes that every host has to take."""
MOST_BYTES = 8 * GIB
"""Of one transfer: enough for the timed part at 25 Gbit/s."""


class Way(Enum):
    """Which way the bytes go. The value is what the responder is told to do."""

    TO_HERE = "send"
    TO_THERE = "receive"


@dataclass(frozen=True, slots=True)
class Transfer:
    """One transfer: the receiver's view of each stream, and the sender's."""

    received: tuple[StreamReport, ...]
    sent: tuple[StreamReport, ...]

    @property
    def bytes_per_s(self) -> float:
        """Payload, all streams together, in the timed part."""
        return sum(stream.bytes_per_s for stream in self.received)


class ResponderClient:
    """Connects when first used. Every method may raise LinkError, which says what to do about it."""

    def __init__(self, address: str, token: str, clock: Clock, *, busy_s: float = BUSY_S) -> None:
        self._host, self._port = parse_address(address)
        self._token = token
        self._clock = clock
        self._busy_s = busy_s
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._key = b""
        self._echoes = itertools.count(1)
        self._greeting: dict[str, object] = {}
        self._data: list[socket.socket] = []
        self._failed: LinkError | None = None
        self._aborted = False

    @property
    def where(self) -> str:
        """For people."""
        return format_address(self._host, self._port)

    def congestion_control(self) -> str | None:
        """The far system's algorithm; None if it does not say."""
        self._session()
        name = self._greeting.get("congestion_control")
        return name if isinstance(name, str) else None

    def transfer(self, way: Way, streams: int, length_s: float, warmup_s: float) -> Transfer:
        """Move bytes from memory to memory, as fast as they go."""
        with self._told():
            control = self._session()
            self._set_up(control, way.value, streams, length_s, warmup_s)
            patience_s = length_s + warmup_s + _GRACE_S
            own = together(self._mover(way, streams, length_s, warmup_s), self._data, patience_s)
            far = _reports(self._answer(control, patience_s + CONNECT_S))
            return Transfer(tuple(own), far) if way is Way.TO_HERE else Transfer(far, tuple(own))

    def pieces(self, way: Way, length_s: float) -> tuple[Piece, ...]:
        """What single pieces take, one at a time; none where the responder is older than that."""
        with self._told():
            control = self._session()
            if self._greeting.get("pieces") is not True:
                return ()
            timer = PieceTimer(self._clock, length_s, there=way is Way.TO_THERE)
            self._set_up(control, "pieces", 1, length_s, 0.0)
            together(timer.run, self._data, length_s + _GRACE_S)
            self._answer(control, length_s + _GRACE_S + CONNECT_S)
            return timer.found

    def echo(self) -> EchoClient | None:
        """Whole packets there and back; None where one of the ends cannot. To be closed by the caller."""
        with self._told():
            control = self._session()
            if self._greeting.get("echo") is not True:
                return None
            return EchoClient.towards(control, self._key, self._echoes, self._clock)

    def close(self) -> None:
        """Say goodbye. The session, and with it the token, is over."""
        if self._control is not None:
            with contextlib.suppress(OSError):
                write_message(self._control, {"do": "bye"})
        self._drop(LinkError("the session with the responder is over"))

    def abort(self) -> None:
        """Wake whoever waits for this session: it is over. From any thread."""
        self._aborted = True
        shut([connection for connection in (self._control, *self._data) if connection is not None])

    def _session(self) -> socket.socket:
        """The control connection, made on first use; never twice, since a token is used up."""
        with self._lock:
            if self._failed is not None:
                raise self._failed
            if self._control is None:
                self._control = self._begin()
            return self._control

    def _begin(self) -> socket.socket:
        until = time.monotonic() + self._busy_s
        while True:
            try:
                return self._introduced()
            except ResponderBusyError as error:
                if time.monotonic() >= until or self._aborted:
                    self._failed = error
                    raise
                time.sleep(_ASK_AGAIN_S)

    def _introduced(self) -> socket.socket:
        with self._told():
            control = _small_segments(self._host, self._port)
            try:
                control.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                handshake = introduce(control, self._token.encode(), Purpose.CONTROL, 0, CONNECT_S)
                self._key = handshake.session_key(self._token)
                self._greeting = read_message(control, time.monotonic() + CONNECT_S)
            except (OSError, PathtraceError):
                control.close()
                raise
            return control

    def _set_up(
        self, control: socket.socket, do: str, streams: int, length_s: float, warmup_s: float
    ) -> None:
        """Ask for a transfer, and make its connections."""
        wanted = {"do": do, "streams": streams, "length_s": length_s, "warmup_s": warmup_s}
        write_message(control, {**wanted, "most_bytes": MOST_BYTES})
        number = self._answer(control, CONNECT_S).get("transfer")
        if not isinstance(number, int):
            raise LinkError("the responder's answer cannot be understood")
        self._data = self._connect_data(control, number, streams)

    @staticmethod
    def _answer(control: socket.socket, patience_s: float) -> dict[str, object]:
        answer = read_message(control, time.monotonic() + patience_s)
        if "error" in answer:
            raise LinkError(f"the responder ended the session: {answer['error']}")
        return answer

    def _connect_data(self, control: socket.socket, number: int, streams: int) -> list[socket.socket]:
        """The data connections, proved and ready, to the very address that the control connection has."""
        made: list[socket.socket] = []
        try:
            for _ in range(streams):
                made.append(socket.create_connection(control.getpeername()[:2], timeout=CONNECT_S))
                introduce(made[-1], self._key, Purpose.DATA, number, CONNECT_S)
                made[-1].settimeout(None)
        except (OSError, LinkError):
            for connection in made:
                connection.close()
            raise
        return made

    def _mover(
        self, way: Way, streams: int, length_s: float, warmup_s: float
    ) -> Callable[[socket.socket], StreamReport]:
        take = Allowance(2 * MOST_BYTES).take
        if way is Way.TO_HERE:
            meter = Meter(self._clock, nanoseconds(warmup_s), nanoseconds(length_s))
            return lambda connection: receive_stream(connection, meter, take)
        until = self._clock() + nanoseconds(length_s + warmup_s + 1.0)
        return lambda connection: send_stream(connection, self._clock, until, MOST_BYTES // streams, take)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Foreign errors as LinkError, with where and what it means; the session is over with any of them."""
        try:
            yield
        except (LinkError, OSError) as error:
            explained = _explained(error)
            explained.where = explained.where or f"responder {self.where}"
            if not isinstance(error, ResponderBusyError):
                self._drop(explained)
            if explained is error:
                raise
            raise explained from error

    def _drop(self, error: LinkError) -> None:
        """The session is over, and whoever asks again is told the same."""
        control, self._control = self._control, None
        self._failed = self._failed or error
        if control is not None:
            control.close()


_HINT_REFUSED = (
    "start 'pathtrace respond --listen ADDRESS:PORT' there, with the address that this host reaches"
)
_HINT_SILENT = "is it 'pathtrace respond' that listens there, and does a firewall let its port through?"


def _small_segments(host: str, port: int) -> socket.socket:
    """A connection whose segments pass every way, so that a wrong MTU can be talked about. OSError."""
    failed: OSError = OSError("it has no address")
    for family, kind, _, _, where in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        made = socket.socket(family, kind)
        try:
            made.settimeout(CONNECT_S)
            if hasattr(socket, "TCP_MAXSEG"):
                made.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, _LEAST_SEGMENT)
            made.connect(where)
            return made
        except OSError as error:
            made.close()
            failed = error
    raise failed


def _explained(error: LinkError | OSError) -> LinkError:
    match error:
        case LinkError():
            return error
        case TimeoutError():
            return LinkError("no answer in time", hint=_HINT_SILENT)
        case ConnectionRefusedError():
            return LinkError("connection refused", hint=_HINT_REFUSED)
        case _:
            return LinkError(error.strerror or str(error))


def _reports(answer: dict[str, object]) -> tuple[StreamReport, ...]:
    listed = answer.get("streams")
    reports = [read_report(document) for document in listed] if isinstance(listed, list) else [None]
    found = [report for report in reports if report is not None]
    if len(found) != len(reports):
        raise LinkError("the responder's answer cannot be understood")
    return tuple(found)
