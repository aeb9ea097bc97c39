"""What each resource does alone -> what a terminal shows, and the ``pathtrace.probe/1`` document."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from pathtrace.model.probe import ProbeReport
from pathtrace.model.run import Ceiling
from pathtrace.render import figures, wording
from pathtrace.render.doubts import doubts_view
from pathtrace.render.figures import Document
from pathtrace.render.layout import Pairs, bullet, heading, line
from pathtrace.render.ways import path_document, route_document, ways_view
from pathtrace.units import format_both, format_count_rate, format_duration, format_rate

PROBE_FORMAT = "pathtrace.probe/1"


def probe_view(report: ProbeReport) -> RenderableType:
    """Each resource's ceiling with how it is known, then the ways to other hosts, then doubts."""
    return Group(
        *_head(report),
        *_ceilings(report),
        *ways_view(report.probed.paths, report.routes),
        *doubts_view(report.probed.caveats),
    )


def _head(report: ProbeReport) -> Iterator[RenderableType]:
    found = sum(_most(each) is not None for each in report.probed.ceilings)
    took = format_duration(report.probed.took_s)
    yield line(f"{report.scenario.name}: {wording.counted(found, 'ceiling')}, found in {took}.", "bold")
    for each in report.reached:
        if each.fault is not None:
            yield bullet("!", Text(wording.plain(f"{each.place}: {each.fault}"), "red"))


def _ceilings(report: ProbeReport) -> Iterator[RenderableType]:
    if report.probed.ceilings:
        yield heading("Resources", "each alone")
        yield Pairs(tuple((_name(each), _ceiling(each)) for each in report.probed.ceilings))


def _name(ceiling: Ceiling) -> str:
    return f"{ceiling.resource} {ceiling.direction}" if ceiling.direction else ceiling.resource


_COUNTED = {"commit": "commits", "database": "rows", "query": "queries"}


def _ceiling(ceiling: Ceiling) -> Text:
    most = _most(ceiling)
    source = "" if most is None else f"{ceiling.source}: "
    return Text(most or "not known").append(f"\n{source}{wording.plain(ceiling.evidence)}", "dim")


def _most(ceiling: Ceiling) -> str | None:
    """Its figures, each with what it counts; None if there is none."""
    kind = ceiling.resource.partition(":")[0]
    rate = format_both if kind == "link" else format_rate
    known = [rate(ceiling.bytes_per_s)] if ceiling.bytes_per_s else []
    if ceiling.operations_per_s:
        counted = _COUNTED.get(kind, "operations")
        known.append(format_count_rate(ceiling.operations_per_s).replace("/", f" {counted}/"))
    if ceiling.latency_s:
        known.append(f"{format_duration(ceiling.latency_s)} {'there and back' if kind == 'link' else 'each'}")
    return ", ".join(known) or None


def probe_document(report: ProbeReport) -> Document:
    """``pathtrace.probe/1``: bytes and seconds, absent knowledge is null."""
    return {
        "format": PROBE_FORMAT,
        "scenario": report.scenario.name,
        "took_s": report.probed.took_s,
        "unreached": {each.place: each.fault for each in report.reached if each.fault is not None},
        "resources": [figures.finite(_resource(each)) for each in report.probed.ceilings],
        "routes": [route_document(route) for route in report.routes],
        "paths": [figures.finite(path_document(path)) for path in report.probed.paths],
        "caveats": [figures.caveat(caveat) for caveat in report.probed.caveats],
    }


def _resource(ceiling: Ceiling) -> Document:
    return {
        "name": ceiling.resource,
        "kind": ceiling.resource.partition(":")[0],
        "direction": ceiling.direction,
        "ceiling_bytes_per_s": ceiling.bytes_per_s,
        "ceiling_operations_per_s": ceiling.operations_per_s,
        "ceiling_latency_s": ceiling.latency_s,
        "ceiling_source": ceiling.source,
        "evidence": ceiling.evidence,
        "took_s": ceiling.took_s,
    }
