"""How full a link was while a place's data crossed it, and how that is known.

A link has two directions; the fuller one counts. Payload is held against payload: a ceiling that is only
declared or negotiated is first reduced by what headers take.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from pathtrace.analysis.evidence import Evidence, Span
from pathtrace.analysis.limiting.limit import BEYOND, FEW_STEPS, LINK_FULL, MEASURED_ABOVE, SLIGHT
from pathtrace.analysis.limiting.links import link_name
from pathtrace.analysis.limiting.network_evidence import (
    Crossing,
    crossing,
    efficiency,
    interface_facts,
    route_of,
)
from pathtrace.analysis.summary import StageFigures
from pathtrace.model.run import Ceiling, Interface
from pathtrace.units import NANOSECONDS_PER_SECOND, format_link, format_rate, format_ratio

_BEST_FIRST = ("measured", "computed", "declared", "nominal")


@dataclass(frozen=True, slots=True)
class LinkUse:
    """One direction of a link while a stage was busy; bytes are TCP payload."""

    link: str
    """``link:L``."""
    direction: str
    own_bytes_per_s: float
    """While operations were in progress."""
    others_bytes_per_s: float
    """Over the execution's wall time."""
    ceiling: Ceiling | None
    interface: str | None
    crossing: Crossing
    full_time: float | None
    """Share of the wall time in which the link was at its ceiling; None where nobody looked often enough."""

    @property
    def rate(self) -> float:
        return self.own_bytes_per_s + self.others_bytes_per_s

    @property
    def share(self) -> float | None:
        """Of what the link carries; above 1: the ceiling was none."""
        top = self.ceiling.bytes_per_s if self.ceiling else None
        if not top:
            return None
        return self.own_bytes_per_s / top if self.measured_beside_others else self.rate / top

    @property
    def measured_beside_others(self) -> bool:
        """True if more crossed than was measured, since others took their part then as they do now."""
        top = self.ceiling.bytes_per_s if self.ceiling and self.ceiling.source == "measured" else None
        return bool(top and self.rate > BEYOND * top and self.others_bytes_per_s >= SLIGHT * self.rate)

    @property
    def text(self) -> str:
        """For people: how much, which way, of how much."""
        carried = f"{format_rate(self.rate)} ({format_link(self.rate)}) crossed {self.link} {self.direction}"
        if self.ceiling is None or not self.ceiling.bytes_per_s or self.share is None:
            return f"{carried}; what it can carry is not known"
        top = format_link(self.ceiling.bytes_per_s)
        if self.measured_beside_others:
            own = format_rate(self.own_bytes_per_s)
            return (
                f"{carried}, {own} of it for this: {format_ratio(self.share)} of the {top} left beside others"
            )
        return f"{carried}: {format_ratio(self.share)} of the {top} that it carries ({self.ceiling.source})"


def link_use(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> LinkUse | None:
    """The fuller direction, of a place on another host; None if no counter tells what crossed."""
    both = link_uses(figures, evidence, span, place)
    return max(both, key=lambda use: (use.share or 0.0, use.rate), default=None)


def link_uses(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> list[LinkUse]:
    """Towards this host, and from it; empty if no counter tells what crossed."""
    crossed = crossing(figures, evidence, span, place)
    if not figures.active_s or (crossed.own_in is None and crossed.own_out is None):
        return []
    far, here = evidence.place(place).host, evidence.run.scenario.here.name
    inward, outward = f"{far}->{here}", f"{here}->{far}"
    ceilings = {way: link_ceiling(evidence, place, way) for way in (inward, outward)}
    moved = (
        (inward, crossed.own_in, crossed.others_in, "rx", "bytes_received"),
        (outward, crossed.own_out, crossed.others_out, "tx", "bytes_sent"),
    )
    return [
        LinkUse(
            link=link_name(evidence, place),
            direction=direction,
            own_bytes_per_s=(own or 0.0)
            * _in_operations(figures, evidence, span, place, metric)
            / figures.active_s,
            others_bytes_per_s=others / span.wall_s if span.wall_s else 0.0,
            ceiling=ceilings[direction],
            interface=crossed.traffic.interface if crossed.traffic else None,
            crossing=crossed,
            full_time=_full_time(evidence, span, crossed, counter, ceilings[direction]),
        )
        for direction, own, others, counter, metric in moved
    ]


def _in_operations(figures: StageFigures, evidence: Evidence, span: Span, place: str, metric: str) -> float:
    """Share of the place's bytes that crossed while this stage's operations were in progress: others of the
    flow may fetch from the same place, such as a command that opens the documents itself."""
    whole = evidence.around("tcp", place, metric, span)
    part = evidence.while_busy("tcp", place, metric, figures, span)
    return min(1.0, part / whole) if whole and part is not None else 1.0


def _full_time(
    evidence: Evidence, span: Span, crossed: Crossing, counter: str, ceiling: Ceiling | None
) -> float | None:
    """By the interface's counter (``rx`` or ``tx``), in the steps in which it was read."""
    top = ceiling.bytes_per_s if ceiling is not None else None
    if crossed.traffic is None or not top:
        return None
    name, ends = crossed.traffic.interface, (span.start_ns, span.end_ns)
    took_ns, grown = evidence.counters.steps("interface", name, f"{counter}_bytes", *ends)
    whole = crossed.traffic.rx_bytes if counter == "rx" else crossed.traffic.tx_bytes
    payload = crossed.traffic.received if counter == "rx" else crossed.traffic.sent
    if len(took_ns) < FEW_STEPS or not whole:
        return None
    rates = grown * (payload / whole) / np.maximum(took_ns, 1.0) * NANOSECONDS_PER_SECOND
    return float(took_ns[rates >= LINK_FULL * top].sum() / took_ns.sum())


def link_ceiling(evidence: Evidence, place: str, direction: str) -> Ceiling | None:
    """The best that is known of what a link carries of TCP payload; impossible ones left out."""
    name = link_name(evidence, place)
    found = [
        _as_payload(evidence, place, ceiling)
        for ceiling in link_ceilings(evidence, name)
        if ceiling.direction in (None, direction) and impossible_text(evidence, place, ceiling) is None
    ]
    found += [each for each in (_negotiated(evidence, place), _declared(evidence, name)) if each is not None]
    found = _held_by_declared(found)
    order = {source: at for at, source in enumerate(_BEST_FIRST)}
    return min(
        found, key=lambda each: (order.get(each.source, len(order)), each.direction is None), default=None
    )


def _held_by_declared(found: list[Ceiling]) -> list[Ceiling]:
    """What this end negotiated is more than the link where the other end, or a switch, has less: the smaller
    word of the scenario counts."""
    declared = [each.bytes_per_s for each in found if each.source == "declared" and each.bytes_per_s]
    most = min(declared, default=math.inf)
    return [each for each in found if each.source != "computed" or (each.bytes_per_s or 0.0) <= most]


def link_ceilings(evidence: Evidence, name: str) -> list[Ceiling]:
    """Every ceiling of ``link:L`` with a rate."""
    return [each for each in evidence.run.ceilings if each.resource == name and each.bytes_per_s]


def impossible_text(evidence: Evidence, place: str, ceiling: Ceiling) -> str | None:
    """Why a measured ceiling of the place's link cannot be; None if it can."""
    rate = ceiling.bytes_per_s or 0.0
    for bound, how in _physical(evidence, place):
        if ceiling.source == "measured" and rate > MEASURED_ABOVE * bound:
            return f"{format_link(rate)} is more than {format_link(bound)}, {how}"
    return None


def negotiated_speed(evidence: Evidence, interface: str | None) -> float | None:
    """Bytes per second of a real network card of this host."""
    return card_speed(interface_facts(evidence, interface))


def card_speed(facts: Interface | None) -> float | None:
    """Bytes per second of a real network card; None of virtual ones, whose figure means nothing."""
    if facts is None or facts.kind != "ethernet" or facts.driver in ("veth", "virtio_net", "tun", "bridge"):
        return None
    return facts.speed_bytes_per_s


def declared_speed(evidence: Evidence, name: str) -> float | None:
    """Of a declared link, by ``link:L``."""
    links = evidence.run.scenario.links
    return next((link.speed_bytes_per_s for link in links if f"link:{link.name}" == name), None)


def _physical(evidence: Evidence, place: str) -> list[tuple[float, str]]:
    """What the way cannot exceed, and how that is known."""
    route = route_of(evidence, place)
    interface = route.interface if route else None
    facts, name = interface_facts(evidence, interface), link_name(evidence, place)
    bounds = (
        (negotiated_speed(evidence, interface), f"what {interface} negotiated"),
        (facts.pcie_bytes_per_s if facts else None, f"what the slot of {interface} carries"),
        (declared_speed(evidence, name), f"what {name.partition(':')[2]} is declared to carry"),
    )
    return [(bound, how) for bound, how in bounds if bound]


def _as_payload(evidence: Evidence, place: str, ceiling: Ceiling) -> Ceiling:
    """A nominal or declared speed counts headers too."""
    if ceiling.source in ("measured", "computed") or not ceiling.bytes_per_s:
        return ceiling
    route = route_of(evidence, place)
    return replace(ceiling, bytes_per_s=ceiling.bytes_per_s * efficiency(route.mtu_bytes if route else None))


def _negotiated(evidence: Evidence, place: str) -> Ceiling | None:
    route = route_of(evidence, place)
    speed = negotiated_speed(evidence, route.interface if route else None)
    if route is None or speed is None:
        return None
    text = f"{route.interface} negotiated {format_link(speed)}"
    return Ceiling("", speed * efficiency(route.mtu_bytes), None, None, "computed", text, 0.0)


def _declared(evidence: Evidence, name: str) -> Ceiling | None:
    speed = declared_speed(evidence, name)
    if speed is None:
        return None
    mtu = next((link.mtu_bytes for link in evidence.run.scenario.links if f"link:{link.name}" == name), None)
    return Ceiling(name, speed * efficiency(mtu), None, None, "declared", "as the scenario says", 0.0)
