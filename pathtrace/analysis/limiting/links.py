"""Which hops a declared link carries: a link that carries none cannot make them faster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pathtrace.analysis.evidence import Evidence
from pathtrace.model.network import Route
from pathtrace.model.report import Finding, HopReport
from pathtrace.model.run import HostFacts
from pathtrace.model.scenario import FrequencyKind, Link, Scenario


def crosses(evidence: Evidence, hop: HopReport, link: Link) -> bool:
    """pathtrace's host carries every byte, so the way leads over it."""
    here = evidence.run.scenario.here.name
    ends = (evidence.place(hop.source).host, evidence.place(hop.destination).host)
    pairs = ((ends[0], here), (here, ends[1]), ends)
    return any(a != b and {a, b} <= set(link.hosts) for a, b in pairs)


def unused_links(evidence: Evidence, hops: Sequence[HopReport]) -> tuple[Link, ...]:
    """Links that no measured hop crosses."""
    measured = [hop for hop in hops if hop.duration_s is not None]
    links = evidence.run.scenario.links
    return tuple(link for link in links if not any(crosses(evidence, hop, link) for hop in measured))


def no_hop_crosses(names: Sequence[str]) -> str:
    """What that means for whoever wants to buy a faster one."""
    return f"No measured hop crosses {', '.join(names)}: a faster link would change none of these times."


def link_findings(evidence: Evidence, hops: Sequence[HopReport]) -> Iterator[Finding]:
    """One for all links that carry nothing, with the paths that people wait for."""
    names = [link.name for link in unused_links(evidence, hops)]
    if not names or not any(hop.duration_s is not None for hop in hops):
        return
    asked = [
        f"{flow.name} ({' -> '.join(flow.path)}) stays on "
        f"{', '.join(dict.fromkeys(evidence.place(name).host for name in flow.path))}"
        for flow in evidence.run.scenario.flows
        if flow.frequency.kind is FrequencyKind.PER_REQUEST
    ]
    yield Finding("unused-link", no_hop_crosses(names).rstrip("."), tuple(asked))


def link_name(evidence: Evidence, place: str) -> str:
    """``link:L`` of the way to a place on another host."""
    run = evidence.run
    return link_between(run.scenario, run.routes, evidence.here, evidence.place(place).host)


def link_between(scenario: Scenario, routes: Sequence[Route], here: HostFacts | None, far: str) -> str:
    """``link:L`` of the way from the host that runs pathtrace to another one.

    Of several declared links the one that the route's interface has, where kind or speed tell; else the
    first. An undeclared one bears both hosts' names.
    """
    joining = [link for link in scenario.links if {far, scenario.here.name} <= set(link.hosts)]
    if not joining:
        return f"link:{far}-{scenario.here.name}"
    return f"link:{_routed(joining, routes, here, far).name}"


def _routed(joining: Sequence[Link], routes: Sequence[Route], here: HostFacts | None, far: str) -> Link:
    """The link of the interface that the route takes."""
    route = next((route for route in routes if route.host == far), None)
    found = here.interfaces if here else ()
    facts = next((each for each in found if route is not None and each.name == route.interface), None)
    if facts is not None and len(joining) > 1:
        for link in joining:
            if link.kind == facts.kind and (
                facts.speed_bytes_per_s is None or link.speed_bytes_per_s == facts.speed_bytes_per_s
            ):
                return link
    return joining[0]
