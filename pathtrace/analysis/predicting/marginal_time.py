"""What each further byte of a small operation takes, as operations of different sizes show.

A link carries bytes at its rate once there are many. What a link saved up while nobody sent (a shaper's
bucket, a card that takes a whole burst) passes faster than that, and files of some KB, read one after the
other, may be all of that kind: then the link's rate says nothing of them, and a faster one saves less.
"""

from __future__ import annotations

import numpy as np

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.executions import execution
from pathtrace.analysis.limiting.limits import Judged
from pathtrace.analysis.study import FlowStudy
from pathtrace.units import KIB, NANOSECONDS_PER_SECOND

SMALL_BYTES = 64 * KIB
"""What may pass at once. Buckets hold more or less."""
_FEWEST = 200
_MOST = 500
"""Operations that are looked at: their pairs are many enough."""
_VARIED = 1.5
"""Between the quarters of the sizes: of operations of one size nobody can tell."""
_IN_OTHERS = 0.1
"""Of all bytes, in operations that are not small."""
_CONFIDENCE = 0.99


def marginal_time(judged: Judged, study: FlowStudy, evidence: Evidence) -> float | None:
    """Seconds a byte at most; None where sizes do not differ enough, or are not small.

    The slope of Theil and Sen, whose interval outliers do not widen (Sen, 1968). Of several at once each also
    waits for the bytes of others, which have nothing to do with its own.
    """
    part = execution(evidence.run, study.chosen.repeat, study.index, study.chosen.number)
    mine = (part.stage == judged.figures.stage.index) & part.ok & (part.bytes > 0)
    small = mine & (part.bytes <= SMALL_BYTES)
    if small.sum() < _FEWEST or part.bytes[small].sum() < (1 - _IN_OTHERS) * part.bytes[mine].sum():
        return None
    chosen = np.random.default_rng(1).permutation(np.flatnonzero(small))[:_MOST]
    sizes, took = part.bytes[chosen], part.elapsed[chosen]
    lower, upper = np.quantile(sizes, (0.25, 0.75))
    if upper < _VARIED * lower:
        return None
    from scipy.stats import theilslopes

    most_ns = float(theilslopes(took, sizes, _CONFIDENCE).high_slope)
    return max(0.0, most_ns / NANOSECONDS_PER_SECOND)
