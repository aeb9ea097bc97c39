"""A real responder on loopback, and clients that behave and misbehave."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pathtrace.probes.responder import Responder
from pathtrace.probes.responder_client import ResponderClient
from pathtrace.probes.responder_session import Limits
from pathtrace.units import GIB

TOKEN = "a token of these tests"
clock = time.perf_counter_ns


@dataclass(frozen=True, slots=True)
class Listening:
    responder: Responder
    told: list[str]
    thread: threading.Thread

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.responder.address[1]}"

    def client(self, token: str = TOKEN, busy_s: float = 0.0) -> ResponderClient:
        return ResponderClient(self.address, token, clock, busy_s=busy_s)

    def connection(self) -> socket.socket:
        return socket.create_connection(self.responder.address, timeout=5)


@contextmanager
def listening(
    sessions: int = 1, limits: Limits | None = None, handshake_s: float = 3.0, refusal_s: float = 0.02
) -> Iterator[Listening]:
    told: list[str] = []
    responder = Responder(
        ("127.0.0.1", 0),
        TOKEN,
        limits or Limits(GIB * 64, 60.0),
        told.append,
        clock,
        sessions=sessions,
        handshake_s=handshake_s,
        refusal_s=refusal_s,
    )
    thread = threading.Thread(target=responder.serve)
    thread.start()
    try:
        yield Listening(responder, told, thread)
    finally:
        responder.stop()
        thread.join(10)
        assert not thread.is_alive()
