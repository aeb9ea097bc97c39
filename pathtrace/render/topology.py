"""Which hops a drawing shows, over which link each goes, and how often: from a scenario and its report.

What it looks like belongs to the drawings; what the figures mean belongs to ``analysis``.
"""

from __future__ import annotations

from dataclasses import dataclass

from pathtrace.model.report import HopReport, Report
from pathtrace.model.scenario import Flow, FrequencyKind, Hop, Place, Scenario
from pathtrace.render import wording
from pathtrace.units import format_link

EVERY_REQUEST = FrequencyKind.PER_REQUEST.value


@dataclass(frozen=True, slots=True)
class DrawnHop:
    """One hop of one flow. ``report`` is None where there are no figures."""

    flow: Flow
    hop: Hop
    source: Place
    destination: Place
    link: str | None
    """None: both places are on one host."""
    report: HopReport | None

    @property
    def at_every_request(self) -> bool:
        """By what was observed, else by what was declared."""
        observed = self.report.frequency.observed if self.report else None
        return (observed or self.flow.frequency.kind.value) == EVERY_REQUEST

    def labels(self) -> tuple[str, ...]:
        """What stands beside the arrow: way and work, then figures, then what is amiss."""
        actions = ", ".join(self.flow.stages[index].action.value for index in self.hop.stages)
        way = tuple(part for part in (self._way(), actions) if part)
        return (" · ".join(way), *_figures(self.report, self.flow))

    def _way(self) -> str | None:
        """The link, and the interface that really carried the bytes."""
        wire = self.report.wire if self.report else None
        if self.link is None or wire is None or wire.interface is None:
            return self.link
        return f"{self.link} by {wording.interface(wire.interface, wire.interface_kind)}"


def drawn_hops(scenario: Scenario, report: Report | None) -> tuple[DrawnHop, ...]:
    """Every hop of every flow, in file order."""
    found = {(hop.flow, hop.name): hop for hop in report.hops} if report else {}
    return tuple(
        _drawn(scenario, flow, hop, found.get((flow.name, hop.name)))
        for flow in scenario.flows
        for hop in flow.hops
    )


def _drawn(scenario: Scenario, flow: Flow, hop: Hop, report: HopReport | None) -> DrawnHop:
    source, destination = scenario.place(hop.source), scenario.place(hop.destination)
    return DrawnHop(flow, hop, source, destination, link_between(scenario, source, destination), report)


def link_between(scenario: Scenario, source: Place, destination: Place) -> str | None:
    """The link that joins two places' hosts, with its speed; undeclared ones get the hosts' names."""
    ends = {source.host, destination.host}
    if len(ends) == 1:
        return None
    joining = [link for link in scenario.links if ends <= set(link.hosts)]
    if not joining:
        return f"{source.host}-{destination.host} (link not declared)"
    speeds = (link.speed_bytes_per_s for link in joining)
    return " or ".join(
        link.name if speed is None else f"{link.name} {format_link(speed)}"
        for link, speed in zip(joining, speeds, strict=True)
    )


def _figures(report: HopReport | None, flow: Flow) -> tuple[str, ...]:
    if report is None:
        return ()
    limit = f"limited by {report.limited_by.resource}"
    if report.duration_s is None:
        return (f"{wording.NOT_MEASURED} · {limit}",)
    moved = f"{wording.size(report.bytes)} in {wording.duration(report.duration_s)}"
    observed = report.frequency.observed
    amiss = (f"observed {observed}, declared {flow.frequency.text}",)
    differs = observed is not None and observed != report.frequency.declared
    return (f"{wording.rate(report.throughput)} · {moved}", limit, *(amiss if differs else ()))
