"""What of an insert is there once for each batch, and what for each row.

Set-up and commit are there once, as the samples tell. Of the time between, which holds both, bounds are
known: the round trips to a far database are there once; what longer rows take more of is each row's own, and
what a row costs whatever its length is hardly more than that, in a table that is searched by full text; a
statement costs no more than a few rows. Where rows were measured alone it is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.executions import Execution
from pathtrace.analysis.limiting.limits import Judged
from pathtrace.analysis.limiting.round_trips import trip_time
from pathtrace.analysis.predicting.altering import Times
from pathtrace.units import NANOSECONDS_PER_SECOND, seconds

TRIPS = 2
"""Of a statement that sends rows: one until the server takes them, one until it has them."""
WORTH_OF_ROWS = 10
"""A statement costs at most as much as so many rows, beside its round trips."""
SPREAD = 1.2
"""Long rows are at least so many times as long as short ones, where their times are to tell anything."""
FEW = 40
WHATEVER_LENGTH = 2.0
"""A row costs at most so many times what its length costs."""
SHORTEST = 0.01
"""Of the operations: those beside which the least time of one is taken."""
SURE = 3.0
"""Standard errors beyond which long rows take longer not just by chance."""


@dataclass(frozen=True, slots=True)
class Once:
    """Shares of the time between set-up and commit that are there once for each batch."""

    least: float
    most: float


def once(judged: Judged, evidence: Evidence, part: Execution, rows: float) -> Once:
    """``rows``: in a batch as it is. ``part``: an execution of the stage, for how its operations differ."""
    figures, place = judged.figures, judged.figures.stage.place
    mine = (part.stage == figures.stage.index) & part.ok
    sizes = part.bytes[mine].astype(np.float64)
    body = np.maximum(0, part.elapsed - part.setup - part.finish)[mine].astype(np.float64)
    if not body.any():
        return Once(0.0, 0.0)
    alone = evidence.ceiling(f"database:{place}")
    if alone is not None and alone.operations_per_s:
        by_rows = min(1.0, rows / alone.operations_per_s / seconds(float(body.mean())))
        return Once(1.0 - by_rows, 1.0 - by_rows)
    trips_s = TRIPS * (trip_time(evidence, place, None) or 0.0) if evidence.is_far(place) else 0.0
    # A trip that was measured beside other work may be too long: no insert took less than its own.
    trips = float(min(trips_s * NANOSECONDS_PER_SECOND, np.quantile(body, SHORTEST)) / body.mean())
    short, long = _of_rows(sizes, body)
    most = min(1.0 - short, trips + WORTH_OF_ROWS / (WORTH_OF_ROWS + max(1.0, rows)))
    least = max(trips, 1.0 - WHATEVER_LENGTH * long)
    return Once(min(least, most), max(least, most))


def _of_rows(sizes: Times, body: Times) -> tuple[float, float]:
    """The share of the time that grows with the bytes of the rows, at least and at most; 0 and 1 where that
    does not show."""
    if len(sizes) < FEW:
        return 0.0, 1.0
    low, high = np.quantile(sizes, (0.25, 0.75))
    short, long = sizes <= low, sizes >= high
    apart = sizes[long].mean() - sizes[short].mean()
    grown = np.median(body[long]) - np.median(body[short])
    error = math.hypot(_error(body[long]), _error(body[short]))
    if sizes[long].mean() < SPREAD * sizes[short].mean() or grown < SURE * error or not grown:
        return 0.0, 1.0
    whole = sizes.mean() / apart / np.median(body)
    shares = np.clip([(grown - error) * whole, (grown + error) * whole], 0.0, 1.0)
    return float(shares[0]), float(shares[1])


def _error(values: Times) -> float:
    """Standard error of the median, from the middle half of the values."""
    low, high = np.quantile(values, (0.25, 0.75))
    return float(1.253 * (high - low) / 1.349 / math.sqrt(len(values)))
