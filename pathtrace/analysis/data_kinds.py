"""What ``data:`` (original, derived, output) leads to: originals kept apart, and what a rebuild takes.

Arithmetic on places and times; where a place lies is looked up by callers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.sampled import share_of_files
from pathtrace.analysis.study import FlowStudy
from pathtrace.model.report import Caveat, Finding
from pathtrace.model.scenario import Action, Place, Scenario
from pathtrace.units import format_count, format_duration

_MADE = ("derived", "output")
_FILLS = (Action.INSERT, Action.WRITE)


@dataclass(frozen=True, slots=True)
class Location:
    """Where a place's data lies on this host: links resolved, the folder of a single file. ``device``
    is the mount table's; None if it is not known."""

    folder: PurePath
    device: str | None


def originals_in_danger(scenario: Scenario, where: Mapping[str, Location]) -> Iterator[Caveat]:
    """Originals that lie in one folder with data that can be made again, or on one disk with it."""
    located = [place for place in scenario.places if place.name in where]
    for original in located:
        for made in located:
            if original.data == "original" and made.data in _MADE:
                yield from _together(original, made, where[original.name], where[made.name])


def _together(original: Place, made: Place, at: Location, beside: Location) -> Iterator[Caveat]:
    both = f"{made.name} ({made.data})", f"{original.name} (original)"
    if at.folder == beside.folder:
        text = f"{both[0]} lies in the same folder as {both[1]}: clearing the one may take the other"
    elif at.folder in beside.folder.parents:
        text = f"{both[0]} lies within {both[1]}: clearing the one may take the other"
    elif beside.folder in at.folder.parents:
        text = f"{both[1]} lies within the folder of {both[0]}: clearing the one may take the other"
    elif at.device is not None and at.device == beside.device:
        text = f"{both[0]} lies on the same disk as {both[1]}: it can fill it"
        yield Caveat(
            "same-disk", text, "a copy of the originals on another disk keeps them safe", original.name
        )
        return
    else:
        return
    remedy = f"keep {made.name} in a folder of its own, and a copy of the originals on another disk"
    yield Caveat("data-together", text, remedy, original.name)


def rebuilding(evidence: Evidence, studies: Sequence[FlowStudy]) -> Iterator[Finding]:
    """How long each derived place takes to fill again, as measured."""
    for study in studies:
        place = evidence.place(study.flow.path[-1])
        if place.data == "derived" and study.flow.stages[-1].action in _FILLS and not study.failed:
            yield _rebuilt(evidence, study, place)


def _rebuilt(evidence: Evidence, study: FlowStudy, place: Place) -> Finding:
    took = study.chosen.duration_s
    if not study.chosen.complete:
        text = (
            f"rebuilding {place.name} takes more than {format_duration(took)}: it was not measured to its end"
        )
        return Finding("rebuild", text, (f"{study.flow.name}, cut short",))
    whole = f"{study.flow.name}: {format_count(len(study.repeats), 'repeat')}, the median"
    stood_in = [name for name in study.flow.path if evidence.place(name).stand_in]
    doubts = (f"with stand-ins: {', '.join(stood_in)}",) if stood_in else ()
    share = share_of_files(evidence, study.flow.path[0])
    if share is None:
        text = f"rebuilding {place.name} takes {format_duration(took)}, measured"
        return Finding("rebuild", text, (whole, *doubts))
    scaled = format_duration(took / share)
    text = (
        f"rebuilding {place.name} takes about {scaled}: its sample took {format_duration(took)}, measured, "
        f"and is {share:.1%} of the bytes; scaled by bytes"
    )
    return Finding("rebuild", text, (whole, *doubts))
