"""The path as a drawing made of characters: hosts as frames, places as boxes, hops as arrows.

A solid arrow is passed at every request, a dashed one is not. Mermaid belongs to ``mermaid``.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from rich.cells import cell_len, set_cell_size

from pathtrace.model.report import FlowReport, Report
from pathtrace.model.scenario import (
    DatabaseSpec,
    FilesSpec,
    Flow,
    InferenceSpec,
    Place,
    ProcessSpec,
    Scenario,
)
from pathtrace.redaction import redact_urls
from pathtrace.render import wording
from pathtrace.render.topology import DrawnHop, drawn_hops
from pathtrace.units import format_bytes

MARGIN = 6
"""Column of the arrows, counted from a frame's left edge."""
NARROWEST = 30


@dataclass(frozen=True, slots=True)
class Strokes:
    """The characters of a drawing. ``spelling`` replaces signs within words."""

    across: str
    down: str
    corners: str
    """Upper left and right, lower left and right."""
    solid: str
    dashed: str
    head: str
    spelling: tuple[tuple[str, str], ...]

    def spell(self, text: str) -> str:
        for sign, letters in self.spelling:
            text = text.replace(sign, letters)
        return text if not self.spelling else text.encode("ascii", "replace").decode()


UNICODE = Strokes("─", "│", "┌┐└┘", "┃", "┆", "▼", ())
ASCII = Strokes(
    "-", "|", "++++", "|", ":", "v", (("·", "-"), ("±", "+/-"), ("–", "-"), ("µ", "u"), ("→", "->"))
)


def text_map(scenario: Scenario, report: Report | None, strokes: Strokes, width: int) -> str:
    """The drawing of every flow, below each other, none wider than ``width`` where that is possible."""
    pen = _Pen(strokes, max(width, NARROWEST))
    hops = drawn_hops(scenario, report)
    flows = {flow.name: flow for flow in report.flows} if report else {}
    roles = {host.name: host.role for host in scenario.hosts}
    lines = list(pen.wrapped(scenario.name, "", pen.width))
    for flow in scenario.flows:
        lines += ["", *pen.wrapped(_flow_title(flow, flows.get(flow.name)), "", pen.width)]
        lines += pen.flow(scenario, [hop for hop in hops if hop.flow is flow], roles)
    legend = (f"{strokes.solid}  at every request", f"{strokes.dashed}  less often")
    return "\n".join([*lines, "", *legend])


def _flow_title(flow: Flow, report: FlowReport | None) -> str:
    measured = (wording.took(flow, report),) if report else ()
    return " · ".join((flow.name, flow.frequency.text, wording.waits(flow.waits), *measured))


def describe(place: Place) -> str:
    """What a place is, in a few words, without secrets."""
    match place.spec:
        case FilesSpec(make=made) if made is not None:
            what = f"files, {wording.counted(made.files, 'made file')}, {format_bytes(made.bytes)}"
        case FilesSpec(path=path, url=url):
            what = f"files {path or url}"
        case ProcessSpec(run=run, command=command, url=url):
            what = f"process {run or url or ' '.join(command or ())}"
        case DatabaseSpec(url=url):
            what = f"database {url}"
        case InferenceSpec(url=url, task=task):
            what = f"inference {url}, {task}" if url else "inference"
        case _:
            what = place.kind.value
    return redact_urls(f"{what}, stand-in" if place.stand_in else what)


@dataclass(frozen=True, slots=True)
class _Pen:
    strokes: Strokes
    width: int

    def flow(self, scenario: Scenario, hops: list[DrawnHop], roles: dict[str, str | None]) -> Iterator[str]:
        """Frames of hosts, in the order of the path, joined by arrows."""
        places = [scenario.place(name) for name in hops[0].flow.path]
        visits = [(host, list(group)) for host, group in groupby(places, key=lambda place: place.host)]
        position = 0
        for number, (host, members) in enumerate(visits):
            role = roles.get(host)
            yield from self._frame(f"{host} ({role})" if role else host, members, hops[position:])
            position += len(members)
            if number < len(visits) - 1:
                yield from self._arrow(hops[position - 1], MARGIN - 1, self.width)

    def wrapped(self, text: str, lead: str, room: int) -> list[str]:
        """``text`` in lines of at most ``room`` columns, each behind ``lead``."""
        words = self.strokes.spell(wording.plain(text))
        return [lead + part for part in textwrap.wrap(words, max(room - cell_len(lead), 10))] or [lead]

    def _frame(self, title: str, places: list[Place], hops: list[DrawnHop]) -> Iterator[str]:
        inner = self.width - 4
        content: list[str] = []
        for number, place in enumerate(places):
            content += self._box(place, inner)
            if number < len(places) - 1:
                content += self._arrow(hops[number], MARGIN - 3, inner)
        yield self._edge(self.strokes.corners[:2], title, self.width)
        for text in content:
            yield f"{self.strokes.down} {set_cell_size(text, inner)} {self.strokes.down}"
        yield self._edge(self.strokes.corners[2:], "", self.width)

    def _box(self, place: Place, inner: int) -> list[str]:
        """A box with the place's name; what it is stands to its right, or below where that is tight."""
        spell = self.strokes.spell
        name = spell(wording.plain(place.name))
        width = min(max(cell_len(name) + 4, 2 * MARGIN), inner)
        name = set_cell_size(name, width - 4)
        middle = f"{self.strokes.down} {name} {self.strokes.down} "
        first, *rest = self.wrapped(describe(place), middle, inner)
        top, bottom = (self._edge(corners, "", width) for corners in self._corners())
        right = [set_cell_size(bottom, width + 1) + part[cell_len(middle) :] for part in rest[:1]]
        more = [" " * (width + 1) + part[cell_len(middle) :] for part in rest[1:]]
        return [top, first, *(right or [bottom]), *more]

    def _corners(self) -> tuple[str, str]:
        return self.strokes.corners[:2], self.strokes.corners[2:]

    def _edge(self, corners: str, title: str, width: int) -> str:
        across = self.strokes.across
        shown = f"{across} {self.strokes.spell(wording.plain(title))} " if title else ""
        if cell_len(shown) > width - 2:
            shown = set_cell_size(shown, width - 2)
        return corners[0] + shown + across * (width - 2 - cell_len(shown)) + corners[1]

    def _arrow(self, hop: DrawnHop, column: int, room: int) -> list[str]:
        stroke = self.strokes.solid if hop.at_every_request else self.strokes.dashed
        lead = f"{' ' * column}{stroke}  "
        labels = [part for label in hop.labels() for part in self.wrapped(label, lead, room)]
        return [*labels, f"{' ' * column}{self.strokes.head}"]
