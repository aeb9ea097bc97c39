"""Whether the repeats of a flow belong together: a trend, two kinds, one that lies far from the others.

Knows durations in order of the repeats and nothing of where they come from. Nothing is left out of any
figure for what is found here: it is told.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

DRIFT = 0.1
"""Of the shortest: a trend, or the gap between two kinds, below this is not worth a word."""
FEWEST_TREND = 4
FEWEST_KINDS = 5
FEWEST_OUTLIERS = 5
CHANCE = 0.01
"""How often a series without a trend may be said to have one."""
FAR_SCORE = 3.5
FAR_RATIO = 0.05
"""Of the median: nearer than this no repeat is far from the others, however alike those are."""
LONELY = 10
"""One in so many repeats may lie outside of both kinds."""

_NORMAL_MAD = 0.6745
"""The median absolute deviation of a normal distribution, in standard deviations."""
_NORMAL_MEAN = math.sqrt(math.pi / 2)
"""The standard deviation of a normal distribution, in mean absolute deviations."""


def drifts(took: Sequence[float], least: float = DRIFT) -> bool:
    """True if the repeats became steadily longer or shorter, by ``least`` of the shortest from first to last.

    Each step the same way; of six repeats and more, which noise keeps from that, a trend by Mann and
    Kendall (1945), as large as Theil and Sen's slope says.
    """
    if len(took) < FEWEST_TREND or min(took) <= 0:
        return False
    steps = np.diff(took)
    if np.all(steps > 0) or np.all(steps < 0):
        return abs(took[-1] - took[0]) >= least * min(took)
    return _trend_s(took) >= least * min(took)


def _trend_s(took: Sequence[float]) -> float:
    """By how much a trend changed the repeats from first to last; 0 where chance may have made it."""
    from scipy.stats import kendalltau, theilslopes

    order = range(len(took))
    if not float(kendalltau(order, took).pvalue) < CHANCE:  # no number where all are the same
        return 0.0
    return abs(float(theilslopes(took, order)[0])) * (len(took) - 1)


def two_kinds(took: Sequence[float]) -> bool:
    """True if the largest gap parts two groups of at least two, each far narrower than the gap.

    Few that lie alone at an end are passed over: they are told as outliers.
    """
    ordered = np.sort(np.asarray(took, dtype=float))
    for _ in range(1 + max(1, len(took) // LONELY)):
        if len(ordered) < FEWEST_KINDS:
            return False
        cut = int(np.argmax(np.diff(ordered))) + 1
        if 2 <= cut <= len(ordered) - 2:
            return _far_apart(ordered[:cut], ordered[cut:])
        ordered = ordered[1:] if cut == 1 else ordered[:-1]
    return False


def _far_apart(low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]) -> bool:
    gap = float(high[0] - low[0])
    return bool(gap >= DRIFT * low[0] and np.ptp(low) < gap / 3 and np.ptp(high) < gap / 3)


def outliers(took: Sequence[float]) -> tuple[bool, ...]:
    """Which of the repeats lie far from the others; none where there are two kinds.

    Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993): modified z-score above 3.5, by the
    median absolute deviation, or the mean one where more than half are the same.
    """
    values = np.asarray(took, dtype=float)
    if len(values) < FEWEST_OUTLIERS or two_kinds(took):
        return (False,) * len(values)
    median = float(np.median(values))
    off = np.abs(values - median)
    deviation = float(np.median(off)) / _NORMAL_MAD or float(off.mean()) * _NORMAL_MEAN
    far = (off > FAR_SCORE * deviation) & (off > FAR_RATIO * median)
    return tuple(bool(each) for each in far)
