"""Rows per second against rows stored: an index that is kept up to date makes inserts slower and slower.

Looks at what inserting took, commits apart, in the order in which batches were stored. A slope counts
only if rows and bytes both say so, in steps that keep their direction, in most of the repeats.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.executions import Execution, execution
from pathtrace.analysis.study import FlowStudy
from pathtrace.model.report import Finding
from pathtrace.model.scenario import Action, DatabaseSpec, Stage
from pathtrace.units import format_bytes, format_duration, format_rate

PARTS = 12
"""Into how many parts of as many batches an execution is cut; a merge now and then evens out in one."""
ENOUGH = 4 * PARTS
"""Batches below which nothing is said."""
SLOWED = 0.8
"""Last quarter's rate over the first's."""
STEADY = -0.5
"""Kendall's rank correlation of rate with what was stored: -1 if each part is slower than the last."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Slope:
    """One execution's insert stage. Rates per part, in order; ``stored`` are rows at the middle of each."""

    stored: Floats
    rows_per_s: Floats
    bytes_per_s: Floats
    rows: int
    bytes: int

    @property
    def slows(self) -> bool:
        """True if rows and bytes both slow down, steadily."""
        from scipy.stats import kendalltau

        return all(
            _last(rates) <= SLOWED * _first(rates) and float(kendalltau(self.stored, rates)[0]) <= STEADY
            for rates in (self.rows_per_s, self.bytes_per_s)
        )

    @property
    def added_s_per_row(self) -> float:
        """By how much each stored row lengthens the next one's insert: Theil and Sen's median slope."""
        from scipy.stats import theilslopes

        return float(theilslopes(1 / self.rows_per_s, self.stored)[0])


def slopes(evidence: Evidence, study: FlowStudy) -> Iterator[Finding]:
    """Insert stages that became slower as they filled, in more than half of the repeats."""
    for stage in study.flow.stages:
        if stage.action is not Action.INSERT or stage.index not in study.stages:
            continue
        repeats = [_of_repeat(evidence, study, stage, each.repeat) for each in study.repeats]
        judged = [slope for slope in repeats if slope is not None]
        shown = _of_repeat(evidence, study, stage, study.chosen.repeat)
        if shown is not None and shown.slows and 2 * sum(slope.slows for slope in judged) > len(judged):
            yield _finding(stage.place, shown)


def slope_of(part: Execution, stage: int, batch: int, workers: int) -> Slope | None:
    """The slope of one stage; None if it has too few batches. ``batch``: rows of each but the last."""
    mine = (part.stage == stage) & part.ok & (part.bytes > 0)
    took = (part.elapsed - part.setup - part.finish)[mine]
    order = np.argsort(part.end[mine], kind="stable")
    took, size = took[order], part.bytes[mine][order]
    if len(took) < ENOUGH or not took.all():
        return None
    spent = np.array([each.sum() for each in np.array_split(took, PARTS)]) / 1e9 / workers
    batches = np.array([len(each) for each in np.array_split(took, PARTS)])
    moved = np.array([each.sum() for each in np.array_split(size, PARTS)])
    ends = np.cumsum(batches) * batch
    return Slope(
        stored=ends - batches * batch / 2,
        rows_per_s=batches * batch / spent,
        bytes_per_s=moved / spent,
        rows=int(ends[-1]),
        bytes=int(moved.sum()),
    )


def _of_repeat(evidence: Evidence, study: FlowStudy, stage: Stage, repeat: int) -> Slope | None:
    spec = evidence.place(stage.place).spec
    assert isinstance(spec, DatabaseSpec)
    part = execution(evidence.run, repeat, study.index, study.chosen.number)
    return slope_of(part, stage.index, spec.batch, study.stages[stage.index].figures.workers)


def _finding(place: str, slope: Slope) -> Finding:
    first, last = _first(slope.rows_per_s), _last(slope.rows_per_s)
    text = (
        f"inserts into {place} slowed from {first:,.0f} to {last:,.0f} rows/s as {slope.rows:,} rows were "
        "stored: an index is kept up to date at each insert"
    )
    quarters = ", ".join(f"{rate:,.0f}" for rate in _quarters(slope.rows_per_s))
    each = format_duration(slope.added_s_per_row * 10_000)
    return Finding(
        "index-slope",
        text,
        (
            f"rows/s by quarter, commits apart: {quarters}",
            f"{format_bytes(slope.bytes)} stored, from {format_rate(_first(slope.bytes_per_s))} "
            f"to {format_rate(_last(slope.bytes_per_s))}",
            f"every 10,000 rows stored add {each} to the next one's insert; "
            "filling first and indexing afterwards avoids it",
        ),
    )


def _quarters(rates: Floats) -> list[float]:
    """Of parts with as many rows each: the mean time counts, not the mean rate."""
    return [float(1 / np.mean(1 / part)) for part in np.array_split(rates, 4)]


def _first(rates: Floats) -> float:
    return _quarters(rates)[0]


def _last(rates: Floats) -> float:
    return _quarters(rates)[-1]
