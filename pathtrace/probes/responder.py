"""The other end of link probes: listens where it is told, lets in who has the token, one at a time.

A session is used up once it has begun. Strangers learn nothing: they are cut off after a moment, whether
they say something wrong, something slow or nothing at all.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import threading
import time
from collections.abc import Callable

from pathtrace.errors import PlaceError
from pathtrace.model.work import Clock
from pathtrace.probes.link_protocol import (
    Handshake,
    LinkError,
    Purpose,
    ResponderRefusedError,
    Verdict,
    challenge,
    format_address,
    is_proved,
    turn_away,
    welcome,
)
from pathtrace.probes.responder_session import Limits, Served, Session
from pathtrace.units import format_bytes, format_duration

HANDSHAKE_S = 3.0
"""In all, for somebody to prove himself."""
REFUSAL_S = 1.0
"""How long a wrong token waits for its answer."""
_MOST_AT_ONCE = 64
"""Connections that have not proved themselves yet."""

_LEAVING_S = 10.0
"""For a session that was told to end."""
_REFUSALS_TOLD = 20

_TOLD = {
    Verdict.REFUSED: "wrong token",
    Verdict.BUSY: "another client is being served",
    Verdict.USED_UP: "the token is used up",
}

Tell = Callable[[str], None]


class Responder:
    """Listens once made (PlaceError if it cannot); ``serve`` blocks until all sessions are over."""

    def __init__(
        self,
        address: tuple[str, int],
        token: str,
        limits: Limits,
        tell: Tell,
        clock: Clock,
        *,
        sessions: int = 1,
        handshake_s: float = HANDSHAKE_S,
        refusal_s: float = REFUSAL_S,
    ) -> None:
        self._token = token
        self._limits = limits
        self._tell = tell
        self._clock = clock
        self._sessions = sessions
        self._handshake_s = handshake_s
        self._refusal_s = refusal_s
        self._lock = threading.Lock()
        self._session: Session | None = None
        self._begun = 0
        self._served: list[Served] = []
        self._refused = 0
        self._stopping = threading.Event()
        self._strangers = threading.BoundedSemaphore(_MOST_AT_ONCE)
        self._listener = _listen(address)
        host, port = self._listener.getsockname()[:2]
        self.address: tuple[str, int] = (host, port)
        """Where it listens, with the port that it got."""
        self._serving: threading.Thread | None = None
        self._woken, self._wake = socket.socketpair()

    @property
    def served(self) -> tuple[Served, ...]:
        """Sessions that are over."""
        return tuple(self._served)

    @property
    def refused(self) -> int:
        """Connections that were turned away."""
        return self._refused

    def serve(self) -> None:
        """Until every session that the token is good for is over, or ``stop``."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while not self._stopping.is_set():
                selector.select()
                if not self._stopping.is_set():
                    self._accept()
        self._close()

    def stop(self) -> None:
        """End ``serve``, and whatever session is going on. From any thread."""
        self._stopping.set()
        session = self._session
        if session is not None:
            session.end("the responder was stopped")
        with contextlib.suppress(OSError):
            self._wake.send(b"x")

    def _close(self) -> None:
        serving = self._serving
        if serving is not None:
            serving.join(_LEAVING_S)
        for opened in (self._listener, self._woken, self._wake):
            opened.close()

    def _accept(self) -> None:
        try:
            connection, sender = self._listener.accept()
        except OSError:  # gone again before it was looked at
            return
        if not self._strangers.acquire(blocking=False):
            connection.close()
            return
        name = f"responder-{sender[0]}"
        threading.Thread(target=self._receive, args=(connection, sender[0]), name=name, daemon=True).start()

    def _receive(self, connection: socket.socket, peer: str) -> None:
        """Find out who it is; serve the session if one begins."""
        try:
            session = self._greet(connection, peer)
        except (OSError, LinkError) as error:
            with connection:
                self._refuse(connection, peer, error)
            return
        finally:
            self._strangers.release()
        if session is not None:
            with connection:
                self._run(session)

    def _greet(self, connection: socket.socket, peer: str) -> Session | None:
        """The session that begins with this connection; None if it joined one. LinkError: turned away."""
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        handshake, proof = challenge(connection, time.monotonic() + self._handshake_s)
        if handshake.purpose is Purpose.DATA:
            self._join(connection, handshake, proof)
            return None
        key = self._token.encode()
        if not is_proved(handshake, key, proof):
            raise _TurnedAwayError(Verdict.REFUSED)
        session = self._begin(connection, peer, handshake)
        welcome(connection, handshake, key)
        return session

    def _join(self, connection: socket.socket, handshake: Handshake, proof: bytes) -> None:
        """Hand a data connection to the session that its key belongs to."""
        session = self._session
        if session is None or not is_proved(handshake, session.key, proof):
            raise _TurnedAwayError(Verdict.REFUSED)
        welcome(connection, handshake, session.key)
        if not session.admit(connection, handshake.transfer):
            raise ResponderRefusedError("a data connection that belongs to no transfer")

    def _begin(self, connection: socket.socket, peer: str, handshake: Handshake) -> Session:
        with self._lock:
            if self._session is None and self._begun < self._sessions:
                self._begun += 1
                self._serving = threading.current_thread()
                key = handshake.session_key(self._token)
                self._session = Session(connection, peer, key, self._limits, self._clock)
                return self._session
            left = self._begun < self._sessions
        raise _TurnedAwayError(Verdict.BUSY if left else Verdict.USED_UP)

    def _run(self, session: Session) -> None:
        self._tell(f"{session.peer}: session {self._begun} of {self._sessions} begins")
        served = session.serve()
        with self._lock:
            self._session = None
            self._served.append(served)
            over = len(self._served) >= self._sessions
        moved = f"{format_bytes(served.sent_bytes)} sent, {format_bytes(served.received_bytes)} received"
        took = format_duration(served.duration_s)
        self._tell(f"{session.peer}: session over after {took} ({moved}): {served.ended}")
        if over:
            self.stop()

    def _refuse(self, connection: socket.socket, peer: str, error: OSError | LinkError) -> None:
        """Log it, and say why to somebody who speaks the protocol: of a wrong token only after a while."""
        with self._lock:
            self._refused += 1
            count = self._refused
        if count <= _REFUSALS_TOLD:
            self._tell(f"{peer}: turned away: {_said(error)}")
        if count == _REFUSALS_TOLD:
            self._tell("further ones that are turned away are only counted")
        if isinstance(error, _TurnedAwayError):
            if error.verdict is Verdict.REFUSED:
                self._stopping.wait(self._refusal_s)
            with contextlib.suppress(OSError):
                turn_away(connection, error.verdict)


class _TurnedAwayError(LinkError):
    def __init__(self, verdict: Verdict) -> None:
        super().__init__(_TOLD[verdict])
        self.verdict = verdict


def _said(error: Exception) -> str:
    if isinstance(error, LinkError):
        return error.message
    return "said nothing in time" if isinstance(error, TimeoutError) else "left before it had said who it is"


def _listen(address: tuple[str, int]) -> socket.socket:
    """PlaceError: no such address here, or it is in use."""
    host, port = address
    try:
        family, _, _, _, where = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(where[:2], family=family, backlog=_MOST_AT_ONCE)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or str(error)
        raise PlaceError(f"cannot listen on {format_address(host, port)}: {reason}") from error
