"""A level that moves little by little: whether a series of nights has one, or whether it was a step.

Knows numbers and days only. Values are logarithms of times, days count from anywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from pathtrace.analysis.comparing.ratios import LEAST_EFFECT
from pathtrace.analysis.nightly.steps import (
    FEWEST_BEFORE,
    SHOWN,
    Floats,
    Noise,
    noise,
    tamed,
    two_levels,
)

WEEK = 7
SPANS = {8: 3.3, 12: 3.7, 16: 3.85, 24: 4.0, 32: 4.0}
"""Weeks of nights in which a trend is looked for, and the standard deviations that Kendall's S must have in
them, which chance brings about once in ten thousand times (of few weeks by its exact distribution)."""
LONGEST = max(SPANS) * WEEK
SLOWEST_STEP = 21
"""Nights: what comes to its height sooner is a step."""

_CHI_SQUARED = 3.84
_NOTHING = 1e-9
_CLEARLY, _CLEARLY_STEP = 0.97, 0.95
"""A shape explains the nights better than the other if it leaves so much of what the other leaves: of nights
that are still alike a creep looks like a step sooner than a step like a creep."""


@dataclass(frozen=True, slots=True)
class Trend:
    """``at``: index of the value from which on it moves. ``per_day`` and ``effect`` are logarithms."""

    at: int
    per_day: float
    effect: float
    low: float
    high: float


def rising_or_falling(values: Floats) -> bool:
    """True if weeks follow each other upwards, or downwards, by more than chance and worth a word.

    Mann (Econometrica 13, 1945) and Kendall (Rank Correlation Methods, 1975), of medians of seven nights
    each, so that neither a bad night nor what neighbouring nights have in common counts for much, with
    the variance that Hamed and Rao (Journal of Hydrology 204, 1998) give for weeks that are still alike.
    """
    count = min(len(values) // WEEK, max(SPANS))
    every = np.median(values[len(values) - count * WEEK :].reshape(count, WEEK), axis=1)
    for span, asked in SPANS.items():
        if count < span:
            return False
        weeks = every[-span:]
        if _kendall(weeks, asked) > asked and abs(slope(weeks)) * (span - 1) >= LEAST_EFFECT:
            return True
    return False


def _kendall(weeks: Floats, asked: float) -> float:
    """S beside its standard deviation, without a sign; 0 where it cannot be what is asked."""
    count = len(weeks)
    earlier, later = _pairs(count)
    score = abs(float(np.sign(weeks[later] - weeks[earlier]).sum())) - 1
    variance = count * (count - 1) * (2 * count + 5) / 18
    if score < asked * math.sqrt(variance):
        return 0.0
    return score / math.sqrt(variance * _alike(weeks))


@cache
def _pairs(count: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Both indices of each pair, the earlier one first."""
    return np.triu_indices(count, 1)


def _alike(weeks: Floats) -> float:
    """By how much the variance of S grows where neighbouring weeks, their trend apart, are alike."""
    count = len(weeks)
    rest = weeks - slope(weeks) * np.arange(count)
    if float(np.ptp(rest)) < _NOTHING:
        return 1.0
    ranks = np.argsort(np.argsort(rest)) - (count - 1) / 2
    memory = float(ranks[1:] @ ranks[:-1]) / float(ranks @ ranks) + 1 / count
    if memory <= 0:
        return 1.0
    lags = np.arange(1, count - 1)
    weighed = (count - lags) * (count - lags - 1) * (count - lags - 2) * memory**lags
    return 1 + 2 / (count * (count - 1) * (count - 2)) * float(weighed.sum())


def slope(values: Floats, at: Floats | None = None) -> float:
    """Theil and Sen's median of the slopes of all pairs, which a bad night does not move."""
    from scipy.stats import theilslopes

    return float(theilslopes(values, np.arange(len(values)) if at is None else at)[0])


def bend(values: Floats, days: Floats) -> Trend | None:
    """Where a level begins to move steadily, as it does up to the last value; None if a step is likelier.

    A step and a level with a bend have three numbers each: the one that leaves the smaller squares is
    meant. Where neither does clearly, None as well.
    """
    if len(values) < FEWEST_BEFORE + SLOWEST_STEP:
        return None
    spread = noise(values[:SLOWEST_STEP]).spread
    tame = tamed(values, spread)
    _, by_step = two_levels(tame, FEWEST_BEFORE, SHOWN)
    at, by_bend = _bent(tame, days)
    return _measured(values, days, at) if by_bend < _CLEARLY * by_step else None


def stepped(values: Floats, days: Floats) -> bool:
    """True if a step explains the values clearly better than a bend."""
    if len(values) < FEWEST_BEFORE + SLOWEST_STEP:
        return True
    tame = tamed(values, noise(values[:SLOWEST_STEP]).spread)
    return two_levels(tame, FEWEST_BEFORE, SHOWN)[1] < _CLEARLY_STEP * _bent(tame, days)[1]


def _bent(values: Floats, days: Floats) -> tuple[int, float]:
    """Index of the bend, and the squares that the best one leaves; at 0 it is a line.

    Many bends are nearly as good as the best, which is often the latest and steepest of them: the middle
    one of those that 95 % of chance allows (profile likelihood).
    """
    centred = values - values.mean()
    squares = float(centred @ centred)
    tried = range(0, len(values) - SLOWEST_STEP, 3)
    left = []
    for at in tried:
        since = np.maximum(days - days[at], 0.0)
        since -= since.mean()
        power = float(since @ since)
        left.append(squares - float(since @ centred) ** 2 / power if power else squares)
    least = min(left)
    allowed = [
        at for at, each in zip(tried, left, strict=True) if each <= least * (1 + _CHI_SQUARED / len(values))
    ]
    return allowed[len(allowed) // 2], least


def _measured(values: Floats, days: Floats, at: int) -> Trend:
    from scipy.stats import theilslopes

    per_day, _, low, high = (float(each) for each in theilslopes(values[at:], days[at:]))
    span = float(days[-1] - days[at])
    return Trend(at, per_day, per_day * span, low * span, high * span)


def flattened(values: Floats, days: Floats, per_day: float, before: Noise) -> bool:
    """True if the last weeks no longer show a quarter of the slope, nor half of it by its 95 % interval.

    As many weeks as it takes to tell; False where there are not so many.
    """
    from scipy.stats import theilslopes

    if not per_day:
        return False
    asked = math.ceil((6 * before.lasting * math.sqrt(12) / abs(per_day)) ** (2 / 3))
    asked = min(max(asked, 4 * WEEK), 16 * WEEK)
    if len(values) < asked:
        return False
    now, _, *ends = (float(each) / per_day for each in theilslopes(values[-asked:], days[-asked:]))
    return now < 1 / 4 and max(ends) < 1 / 2
