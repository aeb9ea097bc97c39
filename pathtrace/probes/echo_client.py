"""Asks a responder for whole packets of a size, one at a time, and says what became of each."""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from pathtrace.model.work import Clock
from pathtrace.probes.do_not_fragment import can_probe, header_bytes, whole_packets
from pathtrace.probes.link_protocol import LARGEST_DATAGRAM, LEAST_DATAGRAM, Asked, Datagram, seal, unseal
from pathtrace.probes.link_streams import padding
from pathtrace.units import seconds

SMALL = 0
"""As a packet size: the smallest that there is."""


class Fate(Enum):
    """What became of a packet that was to go there and come back."""

    PASSED = "passed"
    VANISHED = "vanished"
    TOO_LARGE = "too large"
    """Somebody said so: this host, a router, or the responder's host."""


@dataclass(frozen=True, slots=True)
class Outcome:
    fate: Fate
    rtt_s: float | None


class EchoClient:
    """One UDP socket of a session; used by one thread. ``close`` it."""

    def __init__(self, connected: socket.socket, key: bytes, numbers: Iterator[int], clock: Clock) -> None:
        self._socket = connected
        self._key = key
        self._clock = clock
        self._numbers = numbers
        self._headers = header_bytes(connected.family)

    @classmethod
    def towards(
        cls, control: socket.socket, key: bytes, numbers: Iterator[int], clock: Clock
    ) -> EchoClient | None:
        """To the UDP port with the number of the control connection's; None where this system cannot.

        ``numbers`` grows all through the session: the responder answers none twice."""
        if not can_probe():
            return None
        made = whole_packets(control.family)
        try:
            made.connect(control.getpeername())
        except OSError:
            made.close()
            return None
        return cls(made, key, numbers, clock)

    def close(self) -> None:
        """Release the socket."""
        self._socket.close()

    def exchange(self, there_bytes: int, back_bytes: int, timeout_s: float) -> Outcome:
        """A packet of ``there_bytes`` (IP header included), answered by one of ``back_bytes``."""
        number = next(self._numbers)
        reply = self._payload(back_bytes)
        raw = seal(
            Datagram(Asked.ECHO, number, reply),
            self._key,
            padding(self._payload(there_bytes) - LEAST_DATAGRAM),
        )
        start = self._clock()
        try:
            self._socket.send(raw)
        except OSError as error:
            return Outcome(Fate.TOO_LARGE if error.errno == errno.EMSGSIZE else Fate.VANISHED, None)
        fate = self._await(number, time.monotonic() + timeout_s)
        return Outcome(fate, seconds(self._clock() - start) if fate is Fate.PASSED else None)

    def _payload(self, packet_bytes: int) -> int:
        return min(max(packet_bytes - self._headers, LEAST_DATAGRAM), LARGEST_DATAGRAM)

    def _await(self, number: int, deadline: float) -> Fate:
        while (left := deadline - time.monotonic()) > 0:
            self._socket.settimeout(left)
            try:
                datagram = unseal(self._socket.recv(LARGEST_DATAGRAM), self._key)
            except TimeoutError:
                break
            except OSError as error:
                return Fate.TOO_LARGE if error.errno == errno.EMSGSIZE else Fate.VANISHED
            if datagram is None or datagram.number != number:
                continue  # late, or not from the responder
            return Fate.PASSED if datagram.asked is Asked.REPLY else Fate.TOO_LARGE
        return Fate.VANISHED
