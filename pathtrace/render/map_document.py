"""The ``pathtrace.map/1`` document: what the drawings show, for programs."""

from __future__ import annotations

from collections.abc import Iterable

from pathtrace.model.report import Report
from pathtrace.model.scenario import Scenario
from pathtrace.render import figures
from pathtrace.render.diagram import describe
from pathtrace.render.figures import Document, Json
from pathtrace.render.topology import DrawnHop, drawn_hops

MAP_FORMAT = "pathtrace.map/1"


def map_document(drawn: Iterable[tuple[Scenario, str | None, Report | None]]) -> Document:
    """One entry per drawing; ``drawn`` gives scenario, run id and report (both None without figures)."""
    maps: list[Json] = [_map(scenario, run, report) for scenario, run, report in drawn]
    return {"format": MAP_FORMAT, "maps": maps}


def _map(scenario: Scenario, run: str | None, report: Report | None) -> Document:
    places: list[Json] = [
        {
            "name": place.name,
            "kind": place.kind.value,
            "host": place.host,
            "description": describe(place),
            "stand_in": place.stand_in,
        }
        for place in scenario.places
    ]
    links: list[Json] = [
        {
            "name": link.name,
            "hosts": list(link.hosts),
            "kind": link.kind,
            "speed_bytes_per_s": link.speed_bytes_per_s,
        }
        for link in scenario.links
    ]
    hosts: list[Json] = [{"name": host.name, "role": host.role, "here": host.here} for host in scenario.hosts]
    return {
        "scenario": scenario.name,
        "run": run,
        "hosts": hosts,
        "links": links,
        "places": places,
        "hops": [_hop(hop) for hop in drawn_hops(scenario, report)],
    }


def _hop(drawn: DrawnHop) -> Document:
    report = drawn.report
    wire = report.wire if report else None
    return {
        "flow": drawn.flow.name,
        "name": drawn.hop.name,
        "from": drawn.hop.source,
        "to": drawn.hop.destination,
        "link": drawn.link,
        "interface": wire.interface if wire else None,
        "interface_kind": wire.interface_kind if wire else None,
        "phase": drawn.hop.phase.value,
        "frequency": drawn.flow.frequency.text,
        "observed_frequency": report.frequency.observed if report else None,
        "at_every_request": drawn.at_every_request,
        "bytes": report.bytes if report else None,
        "duration_s": figures.finite(report.duration_s) if report else None,
        "throughput": figures.finite(figures.throughput(report.throughput)) if report else None,
        "limited_by": report.limited_by.resource if report else None,
    }
