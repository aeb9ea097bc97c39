"""What the disk under a place takes of a mean operation: known, or between which bounds it lies.

A disk that was not measured alone still left traces. The first read of a file finds nothing read ahead, and
nothing beside it hides what it takes; and files that the server has in its memory are as quick without any
disk. Whatever is left open lies between nothing and a disk that was busy all the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pathtrace.analysis.evidence import Evidence, Span
from pathtrace.analysis.executions import Execution, execution
from pathtrace.analysis.limiting.far_host import far_disk
from pathtrace.analysis.limiting.limits import Judged
from pathtrace.analysis.study import FlowStudy
from pathtrace.model.scenario import Action
from pathtrace.units import seconds

ALONE = 1.05
"""Operations at once, up to which hardly any waits for another."""
_FEWEST_FIRST = 3
_OPENING = 20
"""Times the usual set-up of a read: that one opened a file."""
_SEQUENTIAL = 0.7
"""Of a first read's time at the disk, what a later one of as many bytes takes at least: no seek, no ramp."""
_LATE = 1.15
"""The same at most: first reads differ by so much."""
_SEEKS = 0.5
"""Of the link's time: a first read that took longer than the link hid was a seek in part. No disk that kept
up with the link is more than about twice as fast as its seeks let it look."""
_DOUBT = 0.1
"""Of an operation's time: two passes over the same files differ by as much."""
_DOUBT_OF_ONE = 0.04
"""Of the link's time: what a single read may be late by."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Seconds of a mean operation."""

    least_s: float
    most_s: float

    @property
    def known(self) -> bool:
        return self.least_s == self.most_s


def disk_bounds(
    judged: Judged, study: FlowStudy, evidence: Evidence, link_s: float, trip_s: float, full: bool
) -> Bounds:
    """``link_s``: what the link takes of a mean operation now, if it takes any; ``full``: it was."""
    figures = judged.figures
    known = disk_time(judged, evidence, study.span)
    if known is not None:
        return Bounds(known / figures.operations, known / figures.operations)
    each_s, at_once = figures.elapsed_s / figures.operations, _at_once(judged)
    most_s = _most_of_time(judged, evidence, full) * each_s / at_once
    if full and at_once <= ALONE and figures.stage.action is Action.READ:
        return _by_first_reads(judged, study, evidence, link_s, trip_s) or Bounds(0.0, most_s)
    return Bounds(0.0, most_s)


def disk_time(judged: Judged, evidence: Evidence, span: Span) -> float | None:
    """Seconds that the disk takes for all of the stage's operations, as fast as it is; None: not known."""
    figures = judged.figures
    alone = evidence.ceiling(f"disk:{figures.stage.place}")
    if alone is not None and alone.bytes_per_s:
        return min(figures.bytes / alone.bytes_per_s, figures.active_s)
    if (seen := _seen_busy(judged, evidence, span)) is not None:
        return seen * figures.active_s
    if alone is not None and alone.operations_per_s and figures.stage.action is Action.READ:
        return min(figures.operations / alone.operations_per_s, figures.active_s)
    return figures.active_s if judged.limit.resource == f"disk:{figures.stage.place}" else None


def _seen_busy(judged: Judged, evidence: Evidence, span: Span) -> float | None:
    """The share of the time in which the disk of another host had something to do."""
    figures = judged.figures
    if not evidence.is_far(figures.stage.place):
        return None
    disk = far_disk(figures, evidence, span, figures.stage.place)
    return min(1.0, disk.busy) if disk is not None and disk.busy is not None else None


def _at_once(judged: Judged) -> float:
    return max(1.0, judged.figures.elapsed_s / judged.figures.active_s)


def _most_of_time(judged: Judged, evidence: Evidence, full: bool) -> float:
    """The share of time in which a disk that nobody measured may have been busy. Round trips are not its,
    nor is what the same files take once the server has them in its memory."""
    figures, limit = judged.figures, judged.limit
    if limit.resource.partition(":")[0] == "round-trips":
        return 1.0 - min(1.0, limit.utilisation or 0.0)
    server = evidence.ceiling(f"server:{figures.stage.place}")
    if full or server is None or not server.operations_per_s or figures.stage.action is not Action.READ:
        return 1.0
    without = figures.operation_rate / server.operations_per_s
    return min(1.0, max(0.0, 1.0 - without) + _DOUBT)


def _by_first_reads(
    judged: Judged, study: FlowStudy, evidence: Evidence, link_s: float, trip_s: float
) -> Bounds | None:
    """None where too few files were opened, one at a time, in parts."""
    figures = judged.figures
    size, link_rate = figures.bytes / figures.operations, figures.bytes / figures.operations / link_s
    found = list(_first_reads(judged, study, evidence))
    if len(found) < _FEWEST_FIRST or figures.operations < 2 * len(found) / len(study.repeats):
        return None
    rests = [(took_s - trip_s - count / link_rate) * size / count for took_s, count in found]
    disk_s = max(0.0, float(np.median(rests)))
    most_s = min(_LATE * disk_s + _DOUBT_OF_ONE * link_s, link_s)
    return Bounds(min(_SEQUENTIAL * disk_s, _SEEKS * link_s), most_s)


def _first_reads(judged: Judged, study: FlowStudy, evidence: Evidence) -> Iterator[tuple[float, int]]:
    """Seconds without opening, and bytes, of each read that opened a file and began at its start."""
    index = judged.figures.stage.index
    for repeat in study.repeats:
        part = execution(evidence.run, repeat.repeat, study.index, repeat.number)
        for row in _opening(part, index):
            took = int(part.elapsed[row] - part.setup[row] - part.finish[row])
            yield seconds(took), int(part.bytes[row])


def _opening(part: Execution, index: int) -> list[int]:
    """Rows whose set-up is out of all proportion to the others': of files in many parts, the first ones."""
    rows = np.flatnonzero((part.stage == index) & (part.bytes > 0) & part.ok)
    setup = part.setup[rows]
    return [int(row) for row in rows[setup > _OPENING * max(1.0, float(np.median(setup)))]]
