"""What of an insert is there once for each batch, and what for each row.

Set-up and commit are there once, as the samples tell. Of the time between, which holds both, bounds are
known: at least the round trips to a far database are there once; at most what longer rows do not take more
of, and no more than a few rows cost. Where rows were measured alone it is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.executions import Execution
from pathtrace.analysis.limits import Judged
from pathtrace.analysis.round_trips import trip_time

TRIPS = 2
"""Of a statement that sends rows: one until the server takes them, one until it has them."""
WORTH_OF_ROWS = 10
"""A statement costs at most as much as so many rows, beside its round trips."""
SPREAD = 1.2
"""Long rows are at least so many times as long as short ones, where their times are to tell anything."""
FEW = 40


@dataclass(frozen=True, slots=True)
class Once:
    """Shares of the time between set-up and commit that are there once for each batch."""

    least: float
    most: float


def once(judged: Judged, evidence: Evidence, part: Execution, rows: float) -> Once:
    """``rows``: in a batch as it is. ``part``: an execution of the stage, for how its operations differ."""
    figures = judged.figures
    place = figures.stage.place
    body_s = max(0.0, figures.elapsed_s - figures.setup_s - figures.finish_s)
    alone = evidence.ceiling(f"database:{place}")
    if alone is not None and alone.operations_per_s and body_s:
        by_rows = min(1.0, rows * figures.operations / alone.operations_per_s / body_s)
        return Once(1.0 - by_rows, 1.0 - by_rows)
    trips_s = TRIPS * (trip_time(evidence, place, None) or 0.0) if evidence.is_far(place) else 0.0
    least = min(1.0, trips_s * figures.operations / body_s) if body_s else 0.0
    worth = WORTH_OF_ROWS / (WORTH_OF_ROWS + max(1.0, rows))
    most = min(1.0 - _by_length(part, figures.stage.index), least + worth)
    return Once(least, max(least, most))


def _by_length(part: Execution, stage: int) -> float:
    """The share of the time that grows with the bytes of the rows; 0 where they hardly differ."""
    mine = part.stage == stage
    sizes = part.bytes[mine].astype(np.float64)
    body = np.maximum(0, part.elapsed - part.setup - part.finish)[mine].astype(np.float64)
    if len(sizes) < FEW:
        return 0.0
    low, high = np.quantile(sizes, (0.25, 0.75))
    short, long = sizes <= low, sizes >= high
    if sizes[long].mean() < SPREAD * sizes[short].mean() or not np.median(body):
        return 0.0
    grown = np.median(body[long]) - np.median(body[short])
    slope = grown / (sizes[long].mean() - sizes[short].mean())
    return float(np.clip(slope * sizes.mean() / np.median(body), 0.0, 1.0))
