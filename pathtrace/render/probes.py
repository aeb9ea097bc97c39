"""What each resource does alone -> what a terminal shows, and the ``pathtrace.probe/1`` document."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from pathtrace.model.network import PathFacts, PathHop, Route
from pathtrace.model.probe import ProbeReport
from pathtrace.model.run import Ceiling
from pathtrace.render import figures, wording
from pathtrace.render.figures import Document, Json
from pathtrace.render.layout import Pairs, bullet, heading, line
from pathtrace.units import format_both, format_bytes, format_count_rate, format_duration, format_rate

PROBE_FORMAT = "pathtrace.probe/1"


def probe_view(report: ProbeReport) -> RenderableType:
    """Each resource's ceiling with how it is known, then the ways to other hosts, then doubts."""
    return Group(*_head(report), *_ceilings(report), *_paths(report), *_doubts(report))


def _head(report: ProbeReport) -> Iterator[RenderableType]:
    found, took = len(report.probed.ceilings), format_duration(report.probed.took_s)
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


def _ceiling(ceiling: Ceiling) -> Text:
    text = Text(_most(ceiling))
    return text.append(f"\n{ceiling.source}: {wording.plain(ceiling.evidence)}", "dim")


def _most(ceiling: Ceiling) -> str:
    kind = ceiling.resource.partition(":")[0]
    rate = format_both if kind == "link" else format_rate
    known = [rate(ceiling.bytes_per_s)] if ceiling.bytes_per_s else []
    if ceiling.operations_per_s:
        known.append(format_count_rate(ceiling.operations_per_s))
    if ceiling.latency_s:
        known.append(format_duration(ceiling.latency_s))
    return ", ".join(known) or wording.NOTHING


def _paths(report: ProbeReport) -> Iterator[RenderableType]:
    routes = {(route.host, route.address): route for route in report.routes}
    rows = [
        (path.host, Text(wording.plain("\n".join(_path(path, routes.get((path.host, path.address)))))))
        for path in report.probed.paths
    ]
    if rows:
        yield heading("Ways", "to other hosts")
        yield Pairs(tuple(rows))


def _path(path: PathFacts, route: Route | None) -> Iterator[str]:
    way = f"{path.address} by {route.interface}" if route else path.address
    connect = f", a connection takes {format_duration(path.connect_s)}" if path.connect_s else ""
    yield f"{way}, {_routed(path)}{connect}"
    if path.path_mtu_bytes is not None:
        hole = ": larger ones vanish without a word" if path.black_hole else ""
        yield f"packets of up to {format_bytes(path.path_mtu_bytes)} pass{hole}"
    yield from path.evidence


def _routed(path: PathFacts) -> str:
    if path.routed is None:
        return "whether routers lie between is not known"
    between = path.hops[:-1]
    if not between:
        return "directly connected"
    return f"through {', '.join(hop.address or 'a silent router' for hop in between)}"


def _doubts(report: ProbeReport) -> Iterator[RenderableType]:
    caveats = wording.distinct(report.probed.caveats)
    if caveats:
        yield heading("Mind")
    for caveat, subjects in caveats:
        text = Text(wording.caveat_line(caveat, subjects))
        yield bullet("•", text.append(f" → {wording.plain(caveat.remedy)}", "dim") if caveat.remedy else text)


def probe_document(report: ProbeReport) -> Document:
    """``pathtrace.probe/1``: bytes and seconds, absent knowledge is null."""
    return {
        "format": PROBE_FORMAT,
        "scenario": report.scenario.name,
        "took_s": report.probed.took_s,
        "unreached": {each.place: each.fault for each in report.reached if each.fault is not None},
        "resources": [figures.finite(_resource(each)) for each in report.probed.ceilings],
        "routes": [_route(route) for route in report.routes],
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


def _route(route: Route) -> Document:
    return {
        "host": route.host,
        "address": route.address,
        "interface": route.interface,
        "source": route.source,
        "gateway": route.gateway,
        "mtu_bytes": route.mtu_bytes,
    }


def path_document(path: PathFacts) -> Document:
    """The way to one host."""
    hops: list[Json] = [_hop(hop) for hop in path.hops]
    return {
        "host": path.host,
        "address": path.address,
        "routed": path.routed,
        "hops": hops,
        "path_mtu_bytes": path.path_mtu_bytes,
        "interface_mtu_bytes": path.interface_mtu_bytes,
        "black_hole": path.black_hole,
        "connect_s": path.connect_s,
        "evidence": list(path.evidence),
        "took_s": path.took_s,
    }


def _hop(hop: PathHop) -> Document:
    return {"number": hop.number, "address": hop.address, "rtt_s": hop.rtt_s}
