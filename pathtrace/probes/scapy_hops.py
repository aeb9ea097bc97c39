"""Which routers lie between, where this process may send packets of its own making. Linux, CAP_NET_RAW.

Requests for a connection to the service's port and echo requests, with few hops to live: a router that says
nothing about UDP, or a filter that stops it, often lets these pass. The service's SYN/ACK comes for a
connection that the kernel does not know, which it answers with RST: so none is left half open.
"""

from __future__ import annotations

import contextlib
import ipaddress
import secrets
import socket
from collections.abc import Iterator
from dataclasses import dataclass

from pathtrace.model.network import PathHop
from pathtrace.model.work import Clock
from pathtrace.probes import scapy_packets
from pathtrace.probes.raw_sockets import RawSockets
from pathtrace.probes.scapy_packets import Answer, Kind
from pathtrace.units import nanoseconds, seconds

ROUNDS = (range(1, 9), range(9, 31))
"""Hops tried together. Most ways end in the first; a service need not get thirty requests for that."""
WAIT_S = 0.6
"""For the answers of a round."""


@dataclass(frozen=True, slots=True)
class ScapyWay:
    """The way up to the host itself, and which packets told of it (``TCP SYN to port 445 and ICMP echo``)."""

    hops: tuple[PathHop, ...]
    told_by: str


@dataclass(slots=True)
class _Sent:
    kind: Kind
    number: int
    sent_ns: int
    sender: str | None = None
    rtt_s: float | None = None
    arrived: bool = False


def hops_by_scapy(family: int, address: str, port: int | None, clock: Clock) -> ScapyWay | None:
    """``port``: of a service there, if there is one. None: not privileged, or the way ends in silence."""
    if "%" in address:  # on the same link: no router between
        return None
    try:
        with (
            contextlib.closing(RawSockets(family)) as raw,
            contextlib.closing(_Look(raw, family, address, port, clock)) as look,
        ):
            return look.follow()
    except OSError:
        return None


class _Look:
    """OSError from the constructor: no route."""

    def __init__(self, raw: RawSockets, family: int, address: str, port: int | None, clock: Clock) -> None:
        self._raw = raw
        self._family = family
        self._address = str(ipaddress.ip_address(address))
        self._port = port
        self._clock = clock
        with socket.socket(family, socket.SOCK_DGRAM) as asking:
            asking.connect((address, port or 1))  # sends nothing: the kernel chooses our address
            self._source: str = asking.getsockname()[0]
        self._identifier = secrets.randbelow(1 << 16) << 16
        self._sent: dict[tuple[Kind, int], _Sent] = {}
        self._heard: list[tuple[bytes, int]] = []
        self._reserved = contextlib.ExitStack()

    def close(self) -> None:
        self._reserved.close()

    def follow(self) -> ScapyWay | None:
        for numbers in ROUNDS:
            for packet, kind, mark, number in list(self._made(numbers)):
                with contextlib.suppress(OSError):
                    self._sent[kind, mark] = _Sent(kind, number, self._clock())
                    self._raw.send(packet, self._address)
                self._hear(0.0)  # else the nearest router's answer would seem to come after the last packet
            self._await()
            if (last := self._last()) is not None:
                return self._way(last)
            if not any(each.sender for each in self._sent.values()):
                return None
        return None

    def _made(self, numbers: range) -> Iterator[tuple[bytes, Kind, int, int]]:
        """Made before the first is sent: that takes longer than an answer."""
        for number in numbers:
            mark = self._identifier | number
            echo = scapy_packets.echo(self._family, self._source, self._address, mark, number)
            yield echo, Kind.ECHO, mark, number
            if self._port is not None:
                own = self._reserve()
                ports = (own, self._port)
                syn = scapy_packets.syn(self._family, self._source, self._address, ports, number)
                yield syn, Kind.SYN, own, number

    def _reserve(self) -> int:
        """A port that no connection of this host has or gets meanwhile."""
        holding = self._reserved.enter_context(socket.socket(self._family, socket.SOCK_STREAM))
        holding.bind((self._source, 0))
        port: int = holding.getsockname()[1]
        return port

    def _await(self) -> None:
        """Until every packet up to the host's own answer is accounted for, or the time is over."""
        deadline = self._clock() + nanoseconds(WAIT_S)
        while True:
            self._read_all()
            left = deadline - self._clock()
            if left <= 0 or self._is_complete():
                return
            self._hear(seconds(left))

    def _hear(self, wait_s: float) -> None:
        """Keep what came, and when; it is read later, which takes longer."""
        packets = self._raw.received(wait_s)
        now = self._clock()
        self._heard += [(packet, now) for packet in packets]

    def _read_all(self) -> None:
        for packet, at_ns in self._heard:
            answer = scapy_packets.read(self._family, packet)
            if answer is not None:
                self._account(answer, at_ns)
        self._heard.clear()

    def _account(self, answer: Answer, at_ns: int) -> None:
        """Book the first answer to a packet of ours. What this host says itself is of no router."""
        sent = self._sent.get((answer.kind, answer.mark))
        from_there = answer.sender == self._address
        if sent is None or sent.sender is not None or answer.about != self._address:
            return
        if answer.sender == self._source and not from_there:
            return
        sent.sender, sent.rtt_s = answer.sender, seconds(at_ns - sent.sent_ns)
        sent.arrived = from_there and not answer.expired

    def _last(self) -> int | None:
        """How many hops away the host is."""
        return min((each.number for each in self._sent.values() if each.arrived), default=None)

    def _is_complete(self) -> bool:
        last = self._last()
        return last is not None and all(self._of(number) for number in range(1, last + 1))

    def _of(self, number: int) -> _Sent | None:
        """The packet that told of a hop: rather the one that goes where the service's go."""
        told = [each for each in self._sent.values() if each.number == number and each.sender]
        return min(told, key=lambda each: each.kind is not Kind.SYN, default=None)

    def _way(self, last: int) -> ScapyWay:
        found = [(number, self._of(number)) for number in range(1, last + 1)]
        hops = tuple(
            PathHop(number, told.sender if told else None, told.rtt_s if told else None)
            for number, told in found
        )
        kinds = {each.kind for each in self._sent.values() if each.sender and each.number <= last}
        names = {Kind.SYN: f"TCP SYN to port {self._port}", Kind.ECHO: Kind.ECHO.value}
        return ScapyWay(hops, " and ".join(name for kind, name in names.items() if kind in kinds))
