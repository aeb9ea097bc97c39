"""How far two series of values lie apart, and how sure that is. Knows numbers only, in their order.

A t-interval for few values among which single ones lie far off: the mean of the middle three fifths of
each series (Yuen 1974), beside the deviations of both without the farthest tenth. Its quantile comes from
simulated series of the same lengths, seeded, so that equal input gives equal output. In longer series
neighbours are often alike, and then count as fewer values (Bartlett 1946).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
TRIMMED = 0.2
"""Left out at either end of a series, where its middle is looked for."""
FARTHEST = 0.1
"""Of the deviations of both series: left out of the spread, one at least."""
SIMULATED = 4000
FEWEST_NEIGHBOURS = 10
"""Values below which nothing is known of how alike neighbours are."""
MOST_ALIKE = 0.9
FAR = 3 / 0.6745
"""Deviations count up to three standard deviations here, by the median one: one far value is no trend."""

Floats = npt.NDArray[np.float64]


def half_width(old: Floats, new: Floats) -> float:
    """Of the 95 % interval about ``apart``; 0 where no value deviates."""
    lengths = sorted((len(old), len(new)))
    inflated = math.sqrt((_repeated(old) + _repeated(new)) / 2)
    return _quantile(lengths[0], lengths[1]) * float(_spread(old, new)) * inflated


def apart(old: Floats, new: Floats) -> float:
    """By how much the middle of ``new`` lies above that of ``old``."""
    return float(_middle(new) - _middle(old))


def _middle(values: Floats) -> Floats:
    """Mean without the farthest fifth at either end, along the last axis."""
    cut = int(TRIMMED * values.shape[-1])
    middle = np.sort(values, axis=-1)[..., cut : values.shape[-1] - cut].mean(axis=-1)
    return np.asarray(middle, dtype=np.float64)


def _spread(old: Floats, new: Floats) -> Floats:
    """Root mean square of what deviates from each series' median, without the farthest tenth."""
    off = [np.abs(each - np.median(each, axis=-1, keepdims=True)) for each in (old, new)]
    ordered = np.sort(np.concatenate(off, axis=-1), axis=-1)
    kept = ordered.shape[-1] - max(1, int(FARTHEST * ordered.shape[-1]))
    return np.asarray(np.sqrt((ordered[..., :kept] ** 2).mean(axis=-1)), dtype=np.float64)


@cache
def _quantile(fewer: int, more: int) -> float:
    """How many spreads the middles of two like series lie apart at most, 19 times in 20."""
    if more < 2:
        return 0.0
    random = np.random.default_rng([fewer, more])
    series = [random.standard_normal((SIMULATED, length)) for length in (fewer, more)]
    distances = np.abs(_middle(series[1]) - _middle(series[0])) / _spread(series[0], series[1])
    return float(np.quantile(distances, CONFIDENCE))


def _repeated(values: Floats) -> float:
    """How many values of the series say as much as one independent value; 1 of a short series."""
    count = len(values)
    if count < FEWEST_NEIGHBOURS:
        return 1.0
    off = values - np.median(values)
    bound = FAR * float(np.median(np.abs(off)))
    off = np.clip(off, -bound, bound)
    whole = float((off * off).sum())
    alike = float((off[1:] * off[:-1]).sum()) / whole + 1 / count if whole else 0.0
    alike = min(MOST_ALIKE, max(0.0, alike))
    return (1 + alike) / (1 - alike)
