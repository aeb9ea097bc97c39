"""The path as a Mermaid flowchart: hosts as subgraphs, places as nodes, hops as arrows.

Solid arrows are passed at every request, dashed ones are not. Every label is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pathtrace.model.report import Report
from pathtrace.model.scenario import Host, Place, PlaceKind, Scenario
from pathtrace.render import wording
from pathtrace.render.diagram import describe
from pathtrace.render.topology import DrawnHop, drawn_hops

_SHAPES = {
    PlaceKind.FILES: ("[/", "/]"),
    PlaceKind.PROCESS: ("[", "]"),
    PlaceKind.DATABASE: ("[(", ")]"),
    PlaceKind.INFERENCE: ("{{", "}}"),
    PlaceKind.USER: ("([", "])"),
}
_UNSAFE = re.compile(r"[^\w \-.,:·±–()/%]")


def mermaid_map(scenario: Scenario, report: Report | None) -> str:
    """The text of the flowchart."""
    nodes = {place.name: f"p{number}" for number, place in enumerate(scenario.places)}
    hops = drawn_hops(scenario, report)
    lines = ["flowchart TD", *_hosts(scenario, nodes), *(_arrow(hop, nodes) for hop in hops)]
    return "\n".join(lines)


def escaped(text: str) -> str:
    """``text`` as Mermaid shows it literally: all but plain letters and signs by number."""
    return _UNSAFE.sub(lambda match: f"#{ord(match[0])};", wording.plain(text))


def _hosts(scenario: Scenario, nodes: dict[str, str]) -> Iterator[str]:
    for number, host in enumerate(scenario.hosts):
        members = [place for place in scenario.places if place.host == host.name]
        if members:
            yield f'  subgraph h{number}["{escaped(_title(host))}"]'
            yield from (f"    {_node(place, nodes[place.name])}" for place in members)
            yield "  end"


def _title(host: Host) -> str:
    return f"{host.name} ({host.role})" if host.role else host.name


def _node(place: Place, node: str) -> str:
    left, right = _SHAPES[place.kind]
    return f'{node}{left}"{escaped(place.name)}<br/>{escaped(describe(place))}"{right}'


def _arrow(hop: DrawnHop, nodes: dict[str, str]) -> str:
    title = f"{hop.flow.name} · {hop.flow.frequency.text}"
    label = "<br/>".join(escaped(part) for part in (title, *hop.labels()))
    line = "-->" if hop.at_every_request else "-.->"
    return f'  {nodes[hop.hop.source]} {line}|"{label}"| {nodes[hop.hop.destination]}'
