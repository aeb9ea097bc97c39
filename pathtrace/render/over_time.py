"""How a hop's rate went over its time, in a row of bars, and where the time of reading a file goes.

Builds rich values from a report; knows no terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from pathtrace.model.report import HopReport, Parts, Point, Report
from pathtrace.render.layout import Pairs, heading
from pathtrace.units import format_count_rate, format_duration, format_rate

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 24
"""Points are brought together to as many, so that a narrow terminal takes them in one line."""


def over_time(report: Report) -> Iterator[RenderableType]:
    """One line per hop that has a series."""
    rows = tuple((hop.name, _said(hop)) for hop in report.hops if hop.series)
    if rows:
        yield heading("Over time", "rate from start to end of the median repeat")
        yield Pairs(rows)


def bars(rates: Sequence[float]) -> str:
    """A bar for each rate, the highest one full; the lowest bar also stands for nothing at all."""
    highest = max(rates, default=0.0)
    if highest <= 0:
        return BARS[0] * len(rates)
    return "".join(BARS[min(len(BARS) - 1, int(rate / highest * len(BARS)))] for rate in rates)


def _said(hop: HopReport) -> Text:
    moves = any(point.bytes_per_s for point in hop.series)
    rates = _brought_together([_rate(point, moves) for point in hop.series])
    show = format_rate if moves else format_count_rate
    text = Text(bars(rates)).append(f" {show(min(rates))} to {show(max(rates))}", "dim")
    for stage in hop.stages:
        if stage.parts is not None and stage.parts.stat_s is not None:
            text.append(f"; a file: {_parts(stage.parts, stage.parts.stat_s)}")
    return text


def _rate(point: Point, moves: bool) -> float:
    return point.bytes_per_s if moves else point.operations_per_s


def _brought_together(rates: Sequence[float]) -> list[float]:
    """Means of neighbours, ``WIDTH`` of them where there are so many."""
    share = max(1, len(rates) // WIDTH)
    groups = [rates[at : at + share] for at in range(0, len(rates), share)]
    return [sum(group) / len(group) for group in groups]


def _parts(parts: Parts, stat_s: float) -> str:
    named = (
        ("open", max(0.0, parts.setup_s - stat_s)),
        ("stat", stat_s),
        ("read", parts.body_s),
        ("close", parts.finish_s),
    )
    return ", ".join(f"{name} {format_duration(took)}" for name, took in named)
