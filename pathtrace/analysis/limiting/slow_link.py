"""Links that are slower than they should be, measurements that cannot be, bytes that took another way.

These are findings about the way itself, whatever limits a hop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.limiting.limit import SLOW_LINK, SLOW_WIFI
from pathtrace.analysis.limiting.link_use import (
    declared_speed,
    impossible_text,
    link_ceiling,
    link_ceilings,
    link_use,
    negotiated_speed,
)
from pathtrace.analysis.limiting.links import link_name
from pathtrace.analysis.limiting.network_evidence import interface_facts, route_of
from pathtrace.analysis.study import FlowStudy
from pathtrace.model.report import Finding
from pathtrace.model.run import Interface
from pathtrace.model.scenario import Link
from pathtrace.units import format_link, format_rate

_WIRED = ("ethernet", "direct")


def link_faults(evidence: Evidence, studies: Sequence[FlowStudy]) -> Iterator[Finding]:
    """Slow links first, each once; then bytes on another interface; then figures that cannot be."""
    places = list(dict.fromkeys(_far_places(evidence, studies)))
    first = list({link_name(evidence, place): place for place in reversed(places)}.values())[::-1]
    for place in first:
        yield from _slow(evidence, place, _most_seen(evidence, studies, link_name(evidence, place)))
    for place in first:
        yield from _by_tunnel(evidence, place)
    yield from _elsewhere(evidence, studies)
    for place in first:
        yield from _impossible(evidence, place)


def is_slow(evidence: Evidence, name: str, place: str, seen: float = 0.0) -> tuple[float, float] | None:
    """What the link carries and what it should, where the first is far less; bytes per second.

    ``seen``: what crossed it, which may be more than could be measured beside others.
    """
    speeds = [speed for speed in (declared_speed(evidence, name), _best_of_slot(evidence, place)) if speed]
    route = route_of(evidence, place)
    negotiated = negotiated_speed(evidence, route.interface if route else None)
    here, far = evidence.run.scenario.here.name, evidence.place(place).host
    known = [link_ceiling(evidence, place, way) for way in (f"{far}->{here}", f"{here}->{far}")]
    carried = [
        each.bytes_per_s
        for each in known
        if each is not None and each.bytes_per_s and each.source in ("measured", "computed")
    ]
    nominal = max((*speeds, negotiated or 0.0))
    if not carried or not nominal:
        return None
    link = _declared(evidence, name)
    least = SLOW_WIFI if link is not None and link.kind == "wifi" else SLOW_LINK
    most = max(min(carried), seen)
    return (most, nominal) if most < least * nominal else None


def _most_seen(evidence: Evidence, studies: Sequence[FlowStudy], name: str) -> float:
    """The highest rate that crossed a link while a stage was busy."""
    uses = (
        link_use(judged.figures, evidence, study.span, judged.figures.stage.place)
        for study in studies
        for judged in study.stages.values()
        if evidence.is_far(judged.figures.stage.place)
    )
    return max((use.rate for use in uses if use is not None and use.link == name), default=0.0)


def _slow(evidence: Evidence, place: str, crossed: float) -> Iterator[Finding]:
    name = link_name(evidence, place)
    slow = is_slow(evidence, name, place, crossed)
    if slow is None:
        return
    declared, route = declared_speed(evidence, name), route_of(evidence, place)
    interface = interface_facts(evidence, route.interface if route else None)
    should = "declared" if declared == slow[1] else "possible"
    text = f"{name[5:]} carries {format_link(slow[0])} of {format_link(slow[1])} {should}"
    seen = [
        f"{ceiling.direction or name}: {format_link(ceiling.bytes_per_s or 0.0)} ({ceiling.source})"
        for ceiling in link_ceilings(evidence, name)
    ]
    yield Finding("slow-link", text, (*seen, *_about(evidence, interface), *_other_ways(evidence, place)))


def _about(evidence: Evidence, interface: Interface | None) -> Iterator[str]:
    """What the card itself says of it."""
    if interface is None:
        return
    speed = negotiated_speed(evidence, interface.name)
    if speed is not None:
        yield f"{interface.name} negotiated {format_link(speed)}: cable, port or setting at either end"
    if interface.duplex == "half":
        yield f"{interface.name} runs half duplex"
    slot, best = interface.pcie_bytes_per_s, interface.pcie_best_bytes_per_s
    if slot is not None and best is not None and slot < best:
        yield f"the slot of {interface.name} carries {format_link(slot)} of {format_link(best)}"


def _other_ways(evidence: Evidence, place: str) -> Iterator[str]:
    """Other addresses of the same host that another interface leads to."""
    used = route_of(evidence, place)
    for route in evidence.run.routes:
        if used is not None and route.host == used.host and route.interface != used.interface:
            yield f"{route.address} of {route.host} would be reached by {route.interface}"


def _by_tunnel(evidence: Evidence, place: str) -> Iterator[Finding]:
    """The route leads through something that the link is not."""
    route, link = route_of(evidence, place), _declared(evidence, link_name(evidence, place))
    facts = interface_facts(evidence, route.interface if route else None)
    if route is None or link is None or link.kind not in _WIRED:
        return
    kind = route.interface_kind or (facts.kind if facts else None)
    if kind not in ("tunnel", "wifi"):
        return
    text = f"what goes to {route.host} is carried by {route.interface}, a {kind}, not by {link.name}"
    way = f"{route.address} by {route.interface}" + (f" and {route.gateway}" if route.gateway else "")
    others = [
        f"{each.name}: {', '.join(each.addresses)}"
        for each in (evidence.here.interfaces if evidence.here else ())
        if each.kind == "ethernet" and each.up and each.addresses
    ]
    yield Finding("other-interface", text, (f"the route to {way}", *others))


def _elsewhere(evidence: Evidence, studies: Sequence[FlowStudy]) -> Iterator[Finding]:
    """The counters of another interface than the route's show the bytes."""
    told = set()
    for study in studies:
        for judged in study.stages.values():
            place = judged.figures.stage.place
            route = route_of(evidence, place) if evidence.is_far(place) else None
            use = link_use(judged.figures, evidence, study.span, place) if route else None
            if route is None or use is None or use.interface in (None, route.interface) or route.host in told:
                continue
            told.add(route.host)
            yield Finding(
                "other-interface",
                f"{use.interface} carried the bytes of {place}, though the route to {route.host} leads by "
                f"{route.interface}{' (a tunnel)' if route.interface_kind == 'tunnel' else ''}",
                (f"{format_rate(use.own_bytes_per_s)} on {use.interface} while it was busy",),
            )


def _impossible(evidence: Evidence, place: str) -> Iterator[Finding]:
    name = link_name(evidence, place)
    for ceiling in link_ceilings(evidence, name):
        why = impossible_text(evidence, place, ceiling)
        if why is not None:
            yield Finding(
                "impossible",
                f"what was measured of {name[5:]} cannot be: {why}",
                (
                    "not used: the bytes were compressed, did not cross it, or its speed is declared too low",
                    ceiling.evidence,
                ),
            )


def _best_of_slot(evidence: Evidence, place: str) -> float | None:
    route = route_of(evidence, place)
    facts = interface_facts(evidence, route.interface if route else None)
    return facts.pcie_best_bytes_per_s if facts and facts.pcie_bytes_per_s else None


def _declared(evidence: Evidence, name: str) -> Link | None:
    return next((link for link in evidence.run.scenario.links if f"link:{link.name}" == name), None)


def _far_places(evidence: Evidence, studies: Sequence[FlowStudy]) -> Iterator[str]:
    for study in studies:
        yield from (place for place in study.flow.path if evidence.is_far(place))
