"""What could not be seen of places on other hosts, as doubts: a system that does not tell, a host unfound.

What follows from what was not seen is for the rules of limits, which then say what to measure next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.limiting.network_evidence import route_of
from pathtrace.analysis.study import FlowStudy
from pathtrace.model.report import Caveat
from pathtrace.model.scenario import Host

NOT_OBSERVED = "not-observed"


def not_observed(evidence: Evidence, studies: Iterable[FlowStudy]) -> Iterator[Caveat]:
    """One for each measured place on another host of which something was not seen from here."""
    places = dict.fromkeys(
        judged.figures.stage.place for study in studies for judged in study.stages.values()
    )
    for place in places:
        if evidence.is_far(place) and (missing := list(_missing(evidence, place))):
            text = f"not seen of the way to {place}: {', '.join(missing)}; its limit may stay unknown"
            yield Caveat(NOT_OBSERVED, text, _remedy(evidence, place), place)


def _missing(evidence: Evidence, place: str) -> Iterator[str]:
    if place not in evidence.counters.subjects("tcp", "bytes_received"):
        yield "its connections"
    if route_of(evidence, place) is None:
        yield "the interface that leads there"
    if not evidence.counters.subjects("interface", "rx_bytes"):
        yield "what interfaces carried"


def _remedy(evidence: Evidence, place: str) -> str:
    reached = evidence.reached(place)
    if reached is None or reached.endpoint is None:
        return _remedy_without_address(evidence.run.scenario.host(evidence.place(place).host))
    return "run on Linux, whose kernel tells of connections, routes and interfaces"


def _remedy_without_address(host: Host) -> str:
    if host.addresses:
        return f"reach {host.name} at an address of its own, not by way of this host"
    return f"state the `address` of {host.name} under `hosts`"
