"""The ways to other hosts -> what a terminal shows, and their part of JSON documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from pathtrace.model.network import PathFacts, PathHop, Route
from pathtrace.render import wording
from pathtrace.render.figures import Document, Json
from pathtrace.render.layout import Pairs, heading
from pathtrace.units import format_duration


def ways_view(paths: Sequence[PathFacts], known: Sequence[Route]) -> Iterator[RenderableType]:
    """A section with one entry for each host; nothing if there is none."""
    routes = {(route.host, route.address): route for route in known}
    rows = [
        (path.host, Text(wording.plain("\n".join(_path(path, routes.get((path.host, path.address)))))))
        for path in paths
    ]
    if rows:
        yield heading("Ways", "to other hosts")
        yield Pairs(tuple(rows))


def _path(path: PathFacts, route: Route | None) -> Iterator[str]:
    kind = route.interface_kind if route else None
    way = f"{path.address} by {wording.interface(route.interface, kind)}" if route else path.address
    connect = f", a connection takes {format_duration(path.connect_s)}" if path.connect_s else ""
    yield f"{way}, {_routed(path, kind)}{connect}"
    if _ordinary(path):  # its evidence would say the same once more
        yield f"packets pass whole up to {path.path_mtu_bytes:,} bytes, the most that are sent"
        return
    if path.path_mtu_bytes is not None:
        hole = ": larger ones vanish without a word" if path.black_hole else ""
        yield f"packets of up to {path.path_mtu_bytes:,} bytes pass{hole}"
    yield from path.evidence


def _ordinary(path: PathFacts) -> bool:
    """No router, a connection was made, and the interface's own packets arrive whole."""
    whole = path.path_mtu_bytes is not None and path.path_mtu_bytes == path.interface_mtu_bytes
    return whole and not path.black_hole and path.routed is False and path.connect_s is not None


def _routed(path: PathFacts, kind: str | None) -> str:
    if path.routed is None:
        return "whether routers lie between is not known"
    between = path.hops[:-1]
    if not between:
        return "no router seen within it" if kind == wording.TUNNEL else "directly connected"
    return f"through {', '.join(hop.address or 'a silent router' for hop in between)}"


def route_document(route: Route) -> Document:
    return {
        "host": route.host,
        "address": route.address,
        "interface": route.interface,
        "source": route.source,
        "gateway": route.gateway,
        "mtu_bytes": route.mtu_bytes,
        "interface_kind": route.interface_kind,
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
