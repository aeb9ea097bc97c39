"""What ``check`` found -> what a terminal shows. Streams and colour are the console's."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from pathtrace.model.check import CheckReport, MemoryCheck, MemoryPart, PlaceCheck, RoomCheck, TimeEstimate
from pathtrace.model.scenario import Action
from pathtrace.render import wording
from pathtrace.render.doubts import doubts_view
from pathtrace.render.layout import Pairs, heading, line
from pathtrace.render.ways import ways_view
from pathtrace.units import format_duration

_PART_NAMES = {"cache": "attention cache"}


def check_view(report: CheckReport) -> RenderableType:
    """Whether a run can start, then what it would read, write and need."""
    ways = ways_view(report.paths, report.routes)
    return Group(
        *_verdict(report),
        *_places(report),
        *ways,
        *_plan(report),
        *_memories(report),
        *doubts_view(report.caveats),
    )


def _verdict(report: CheckReport) -> Iterator[RenderableType]:
    name = report.scenario.name
    missing = [place.name for place in report.places if place.fault is not None]
    if missing:
        yield line(f"{name} cannot be measured whole: {', '.join(missing)} cannot be used.", "bold")
    else:
        yield line(f"{name} can run: every place was reached. Nothing was changed.", "bold")


def _places(report: CheckReport) -> Iterator[RenderableType]:
    yield heading("Places")
    yield Pairs(tuple((place.name, _place(place)) for place in report.places))


def _place(place: PlaceCheck) -> Text:
    kind = Text(f"{place.kind} on {wording.plain(place.host)}: ", "dim")
    if place.fault is not None:
        kind.append(wording.plain(place.fault), "not dim red")
        return kind.append(f" → {wording.plain(place.hint)}", "not dim") if place.hint else kind
    if place.facts is not None:
        kind.append(wording.plain(place.facts.summary), "not dim")
        for warning in place.facts.warnings:
            kind.append(f"\n! {wording.plain(warning)}", "not dim yellow")
    return kind


def _plan(report: CheckReport) -> Iterator[RenderableType]:
    control = report.scenario.control
    budget = f"{wording.size(control.budget_bytes)} and {format_duration(control.budget_s)}"
    rows = [
        ("each repeat", _moved(report)),
        ("repeats", f"{control.repeats}, start {control.start.value}, budget {budget}"),
        ("time", _time(report.estimate)),
        *((f"room for {entry.subject}", _room(entry)) for entry in report.room),
    ]
    yield heading("A run")
    yield Pairs(tuple((name, Text(wording.plain(said))) for name, said in rows))


def _moved(report: CheckReport) -> str:
    """A database's rows are known only once there are any."""
    if report.read_bytes is None or report.write_bytes is None:
        return "not known: not every place was reached"
    stages = (stage for flow in report.scenario.flows for stage in flow.stages)
    rows = any(stage.action is Action.INSERT for stage in stages)
    written = wording.size(report.write_bytes) + (" and a database's rows" if rows else "")
    return f"reads {wording.size(report.read_bytes)}, writes {written} into scratch data that is removed"


def _time(estimate: TimeEstimate) -> str:
    if estimate.low_s is None or estimate.high_s is None:
        return f"not known: {estimate.basis}"
    return f"{format_duration(estimate.low_s)} to {format_duration(estimate.high_s)}: {estimate.basis}"


def _memories(report: CheckReport) -> Iterator[RenderableType]:
    """Host by host, never added together; hosts that no model runs on need nothing."""
    entries = [entry for entry in report.memory if entry.parts or entry.needed_bytes is not None]
    if entries:
        yield heading("Memory", "with every model loaded; a mapped file counts as memory")
        yield Pairs(tuple((entry.host, Text(wording.plain(_memory(entry)))) for entry in entries))


def _memory(entry: MemoryCheck) -> str:
    nothing = entry.needed_bytes is None and entry.high_bytes is None
    needed = _between(entry.needed_bytes, entry.high_bytes) + " needed"
    lines = [f"{'need not known' if nothing else needed}, {_there(entry)}{_enough(entry)}"]
    if entry.gpu_bytes is not None:
        lines.append(_on_gpu(entry, entry.gpu_bytes))
    lines += [f"{part.place} {_PART_NAMES.get(part.name, part.name)}: {_part(part)}" for part in entry.parts]
    return "\n".join(lines)


def _there(entry: MemoryCheck) -> str:
    if entry.total_bytes is None:
        return "how much there is is not known (`memory` of the host)"
    if entry.available_bytes is None:
        return f"{wording.size(entry.total_bytes)} in all, as declared"
    return f"{wording.size(entry.available_bytes)} available of {wording.size(entry.total_bytes)}"


def _enough(entry: MemoryCheck) -> str:
    there = entry.total_bytes if entry.available_bytes is None else entry.available_bytes
    short = _short(entry.needed_bytes, there)
    return short or (": MAY NOT BE ENOUGH" if _short(entry.high_bytes, there) else "")


def _on_gpu(entry: MemoryCheck, gpu_bytes: int) -> str:
    size = f"GPU memory {wording.size(gpu_bytes)} (declared)"
    if entry.high_bytes is not None and entry.high_bytes <= gpu_bytes:
        return f"{size}: all of it fits there"
    if entry.needed_bytes is not None and entry.needed_bytes > gpu_bytes:
        return f"{size}: not all fits there, the rest stays in the host's memory"
    return f"{size}: whether all fits there is not sure"


def _part(part: MemoryPart) -> str:
    if part.low_bytes is None:
        return f"not known: {part.basis}"
    return f"{_between(part.low_bytes, part.high_bytes)} ({part.basis})"


def _between(low: int | None, high: int | None) -> str:
    if low is None and high is not None:
        return f"up to {wording.size(high)}"
    if low is None or high == low:
        return wording.size(low)
    return (
        f"{wording.size(low)} – {wording.size(high)}" if high is not None else f"at least {wording.size(low)}"
    )


def _room(entry: RoomCheck) -> str:
    free = f"{wording.size(entry.free_bytes)} free at {entry.path}"
    most = entry.needed_bytes if entry.high_bytes is None else entry.high_bytes
    needed = (
        wording.size(entry.needed_bytes) if entry.high_bytes is None else _between(entry.needed_bytes, most)
    )
    basis = f" ({entry.basis})" if entry.basis else ""
    return f"{needed} needed{basis}, {free}{_short(most, entry.free_bytes)}"


def _short(needed: int | None, there: int | None) -> str:
    return ": NOT ENOUGH" if needed is not None and there is not None and needed > there else ""
