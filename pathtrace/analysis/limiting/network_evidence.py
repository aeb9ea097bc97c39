"""What crossed the network for a place in a span: its own connections, the interface, other traffic.

Knows counters, routes and what headers take. Whether that much is a link's limit is for ``link_use``.
"""

from __future__ import annotations

from dataclasses import dataclass

from pathtrace.analysis.evidence import Evidence, Span
from pathtrace.analysis.limiting.limit import SERVED
from pathtrace.analysis.summary import StageFigures
from pathtrace.model.network import PathFacts, Route
from pathtrace.model.run import Interface
from pathtrace.model.scenario import Action

ETHERNET_BYTES = 14
FRAMING_BYTES = 38
"""Ethernet's header and checksum, the preamble and the gap between frames: what a frame takes of a line."""
HEADER_BYTES = 52
"""IP's and TCP's, with timestamps, as Linux sends them."""
USUAL_MTU = 1500
_LOOPBACK = "lo"


@dataclass(frozen=True, slots=True)
class Sockets:
    """A place's own connections over a span. Bytes are TCP's payload; unknown parts are None."""

    received: float
    sent: float
    segments_in: float | None
    segments_out: float | None
    retransmits: float | None
    out_of_order: float | None
    rtt_s: float | None
    min_rtt_s: float | None
    receive_queue_bytes: float | None
    busy_s: float | None
    rwnd_limited_s: float | None


@dataclass(frozen=True, slots=True)
class Traffic:
    """An interface's counters over a span. Packets None: not counted."""

    interface: str
    rx_bytes: float
    tx_bytes: float
    rx_packets: float | None
    tx_packets: float | None
    mtu_bytes: int

    @property
    def received(self) -> float:
        """TCP payload at most: what is left without headers, of merged packets as of single ones."""
        return _payload(self.rx_bytes, self.rx_packets, self.mtu_bytes)

    @property
    def sent(self) -> float:
        return _payload(self.tx_bytes, self.tx_packets, self.mtu_bytes)


@dataclass(frozen=True, slots=True)
class Crossing:
    """What crossed for a place. ``own`` None: neither its connections nor an interface was counted."""

    sockets: Sockets | None
    traffic: Traffic | None
    own_in: float | None
    own_out: float | None

    @property
    def others_in(self) -> float:
        """Payload that others received meanwhile."""
        return max(0.0, self.traffic.received - (self.own_in or 0.0)) if self.traffic else 0.0

    @property
    def others_out(self) -> float:
        return max(0.0, self.traffic.sent - (self.own_out or 0.0)) if self.traffic else 0.0


def efficiency(mtu_bytes: int | None) -> float:
    """TCP payload per byte of an Ethernet line: 1448/1538 at 1500 bytes, 94.15 %."""
    mtu = mtu_bytes or USUAL_MTU
    return (mtu - HEADER_BYTES) / (mtu + FRAMING_BYTES)


def route_of(evidence: Evidence, place: str) -> Route | None:
    """The way to the place's server, or else to its host."""
    reached, host = evidence.reached(place), evidence.place(place).host
    address = reached.endpoint.address if reached and reached.endpoint else None
    routes = [route for route in evidence.run.routes if route.host == host]
    return next((route for route in routes if route.address == address), routes[0] if routes else None)


def path_of(evidence: Evidence, place: str) -> PathFacts | None:
    """What probes found of the way to the place's host."""
    reached, host = evidence.reached(place), evidence.place(place).host
    address = reached.endpoint.address if reached and reached.endpoint else None
    paths = [path for path in evidence.run.paths if path.host == host]
    return next((path for path in paths if path.address == address), paths[0] if paths else None)


def interface_facts(evidence: Evidence, name: str | None) -> Interface | None:
    """An interface of this host."""
    found = evidence.here.interfaces if evidence.here else ()
    return next((interface for interface in found if interface.name == name), None)


def crossing(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> Crossing:
    """What crossed for ``place`` while the stage's execution ran."""
    sockets = sockets_of(evidence, place, span)
    reads = figures.bytes if figures.stage.action is Action.READ else 0
    writes = figures.bytes if figures.stage.action is Action.WRITE else 0
    routed = route_of(evidence, place) is not None
    guess = 0 if routed else max(reads, writes)  # a cache may have served them: no reason to doubt a route
    least = max(sockets.received, sockets.sent) if sockets else guess
    traffic = traffic_on(evidence, carrier(evidence, place, span, least), place, span)
    return Crossing(
        sockets,
        traffic,
        _own(sockets.received if sockets else None, traffic.received if traffic else None, reads),
        _own(sockets.sent if sockets else None, traffic.sent if traffic else None, writes),
    )


def sockets_of(evidence: Evidence, place: str, span: Span) -> Sockets | None:
    """The place's own connections; None if the kernel did not tell of any."""

    def grown(metric: str) -> float | None:
        return evidence.around("tcp", place, metric, span)

    def middle(metric: str) -> float | None:
        # Looks become rare where a look is dear: those just outside tell of the same connections.
        edges = evidence.counters.edges("tcp", place, metric, span.start_ns, span.end_ns)
        return None if edges is None else evidence.counters.median("tcp", place, metric, *edges)

    received, sent = grown("bytes_received"), grown("bytes_sent")
    if received is None and sent is None:
        return None
    return Sockets(
        received=received or 0.0,
        sent=sent or 0.0,
        segments_in=grown("segments_in"),
        segments_out=grown("segments_out"),
        retransmits=grown("retransmits"),
        out_of_order=grown("out_of_order"),
        rtt_s=middle("rtt_s"),
        min_rtt_s=middle("min_rtt_s"),
        receive_queue_bytes=middle("receive_queue_bytes"),
        busy_s=grown("busy_s"),
        rwnd_limited_s=grown("rwnd_limited_s"),
    )


def carrier(evidence: Evidence, place: str, span: Span, least: float) -> str | None:
    """The interface that carried a place's bytes: the route's, unless its counter shows too few of them.

    ``least``: bytes that surely moved one way, 0 if that is not known. Without a route: the one that moved as
    many, if there is one.
    """
    route = route_of(evidence, place)
    names = [name for name in evidence.counters.subjects("interface", "rx_bytes") if name != _LOOPBACK]
    moved = {name: _moved(evidence, name, span) for name in names}
    usual = route.interface if route is not None else None
    told = moved.get(usual) if usual is not None else 0.0
    if not least or not moved or told is None or told >= SERVED * least:
        return usual
    most = max(moved, key=lambda name: moved[name] or 0.0)
    return most if (moved[most] or 0.0) >= SERVED * least else usual


def traffic_on(evidence: Evidence, interface: str | None, place: str, span: Span) -> Traffic | None:
    """An interface's counters; None if they were not read."""
    if interface is None:
        return None

    def grown(metric: str) -> float | None:
        return evidence.around("interface", interface, metric, span)

    received, sent = grown("rx_bytes"), grown("tx_bytes")
    if received is None or sent is None:
        return None
    route, facts = route_of(evidence, place), interface_facts(evidence, interface)
    mtu = (route.mtu_bytes if route else None) or (facts.mtu_bytes if facts else None) or USUAL_MTU
    return Traffic(interface, received, sent, grown("rx_packets"), grown("tx_packets"), mtu)


def _own(by_sockets: float | None, on_interface: float | None, payload: int) -> float | None:
    """The place's own bytes. A connection that closed between two looks may have told too few: then the
    payload, as far as it crossed. Far fewer than the payload: a cache served it, and they are right.
    """
    if on_interface is None:
        return by_sockets
    if by_sockets is None:
        return min(on_interface, payload)
    if by_sockets >= SERVED * payload:
        return max(by_sockets, min(on_interface, payload))
    return by_sockets


def _moved(evidence: Evidence, interface: str, span: Span) -> float | None:
    received = evidence.around("interface", interface, "rx_bytes", span)
    sent = evidence.around("interface", interface, "tx_bytes", span)
    return None if received is None or sent is None else max(received, sent)


def _payload(carried: float, packets: float | None, mtu: int) -> float:
    if packets is None:
        return carried * (mtu - HEADER_BYTES) / (mtu + ETHERNET_BYTES)
    return max(0.0, carried - packets * (ETHERNET_BYTES + HEADER_BYTES))
