"""Schedules -> what a terminal shows: when, by what, next times, what is in the way and left to type."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from rich.console import Group, RenderableType
from rich.text import Text

from pathtrace.model.schedule import Collision, Scheduled, ScheduleReport, Written
from pathtrace.render.layout import INDENT, Pairs, bullet, heading, line
from pathtrace.render.wording import counted, plain
from pathtrace.units import format_duration

_HEADS = {
    ("add", False): "Scheduled",
    ("add", True): "Would be scheduled (nothing was written)",
    ("remove", False): "Taken away",
    ("remove", True): "Would be taken away (nothing was)",
}


def schedule_view(report: ScheduleReport) -> RenderableType:
    return Group(*_parts(report))


def _parts(report: ScheduleReport) -> Iterator[RenderableType]:
    head = _HEADS.get((report.action, report.dry_run))
    if not report.schedules:
        yield line("No scan is scheduled.")
    for number, each in enumerate(report.schedules):
        if number > 0:
            yield Text("")
        yield line(f"{head}: {each.name}" if head else each.name, "bold")
        yield Pairs(tuple((name, Text(plain(said))) for name, said in _facts(each)))
        if report.action != "remove":
            yield from _collisions(each)
    yield from _left(report)


def _facts(each: Scheduled) -> Iterator[tuple[str, str]]:
    yield "scenario", each.scenario or "not known: its lines were changed by hand"
    delay = f", up to {format_duration(each.delay_s)} later" if each.delay_s else ""
    yield "when", (each.said or each.when or "never") + delay
    if each.next:
        yield "next", ", ".join(_moment(moment) for moment in each.next)
    seen = {True: ", runs", False: ", does not run", None: ""}[each.active]
    yield "by", f"{each.kind} ({each.scope}){seen}: {', '.join(each.files)}"
    if each.store:
        yield "store", each.store
    if each.options:
        yield "options", " ".join(each.options)
    if each.env_file:
        yield "variables", each.env_file


def _collisions(each: Scheduled) -> Iterator[RenderableType]:
    if not each.collisions:
        return
    yield heading("In its way", "started shortly before it, or while it runs")
    for one in each.collisions:
        yield bullet("!", Text(plain(_collision(one))))
    if each.free:
        yield line(f"At {each.free} nothing is in its way: --at {each.free}", "", INDENT)


def _collision(one: Collision) -> str:
    known = f"{one.known}: " if one.known else ""
    often = f", {counted(one.times, 'time')} in 35 days" if one.times > 1 else ""
    return f"{known}{one.job} ({one.source}) at {_moment(one.starts)}{often}"


def _left(report: ScheduleReport) -> Iterator[RenderableType]:
    if report.to_type:
        yield heading("Left to type")
        yield from (line(command, "", INDENT) for command in report.to_type)
    if report.caveats:
        yield heading("Mind")
        yield from (bullet("!", Text(plain(said))) for said in report.caveats)


def written_text(written: tuple[Written, ...]) -> str:
    """What would be written, as it would be: no line of it is cut or folded."""
    parts = (f"{plain(each.path)}\n{_held(each)}" for each in written)
    return "\n" + "\n\n".join(parts)


def _held(each: Written) -> str:
    return "  (would be taken out of it, or away)" if each.text is None else plain(each.text.rstrip("\n"))


def _moment(moment: datetime) -> str:
    return f"{moment:%a %Y-%m-%d %H:%M}"
