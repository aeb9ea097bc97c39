"""How much two series of times differ, and what that means. Knows numbers only, no run.

The ratio of medians with the interval of ``shift``, never narrower than what two like runs differ by
anyway (``noise_floor``). Swapped series give the inverse, a series beside itself exactly 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from pathtrace.analysis.comparing.noise_floor import Floor
from pathtrace.analysis.comparing.shift import CONFIDENCE, Floats, apart, half_width
from pathtrace.model.comparison import FASTER, SAME, SLOWER, UNCLEAR, Ratio

LEAST_EFFECT = math.log(1.05)
"""Of the ratio's logarithm, so that faster and slower are judged alike."""
WORTH_SEEING = 0.10
"""The change that is looked for when it is said how many repeats would do."""
POWER = 0.90
FEWEST_REPEATS = 3
"""Below it an interval says nothing: every verdict is ``unclear``."""
ENOUGH, MOST_REPEATS = 5, 10_000

_SURE = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
_FOUND = NormalDist().inv_cdf(POWER)
_OF_MIDDLE = 1.15
"""Standard error of a series' middle in units of its mean's: trimmed, with neighbours somewhat alike."""


def compare_times(
    before: Sequence[float], after: Sequence[float], floor: Floor | None = None
) -> Ratio | None:
    """Of two series of seconds, one value a repeat in their order; None where either is empty or holds a
    time of 0. ``floor``: what two like runs differ by anyway; the interval is never narrower.
    """
    if not before or not after or min(*before, *after) <= 0:
        return None
    old, new = np.log(before), np.log(after)
    same = sorted(before) == sorted(after)
    effect = 0.0 if same else float(np.median(new) - np.median(old))
    low, high = (0.0, 0.0) if same else _interval(old, new, effect, floor)
    enough = same or min(len(old), len(new)) >= FEWEST_REPEATS
    spread, between = _pooled(old, new), floor.between if floor else 0.0
    return Ratio(
        ratio=math.exp(effect),
        low=math.exp(low),
        high=math.exp(high),
        verdict=judged(effect, low, high) if enough else UNCLEAR,
        detectable=None if spread is None else detectable(spread, len(old), len(new), between),
        repeats_needed=None if spread is None else repeats_needed(spread, between),
        floor=math.expm1(floor.between) if floor else None,
        floor_from=floor.source if floor else None,
    )


def _interval(old: Floats, new: Floats, effect: float, floor: Floor | None) -> tuple[float, float]:
    """Of the difference; ``effect`` and all that like runs differ by lie within."""
    middle, width = apart(old, new), half_width(old, new)
    between = floor.between if floor else 0.0
    return min(middle - width, effect - between), max(middle + width, effect + between)


def judged(effect: float, low: float, high: float) -> str:
    """Of logarithms. ``same``: whatever the truth within the interval, it is under 5 %."""
    if low > 0 and effect >= LEAST_EFFECT:
        return SLOWER
    if high < 0 and effect <= -LEAST_EFFECT:
        return FASTER
    return SAME if low > -LEAST_EFFECT and high < LEAST_EFFECT else UNCLEAR


def detectable(spread: float, before: int, after: int, between: float = 0.0) -> float:
    """The least slowdown that would be found 9 times in 10, at this spread and these numbers of repeats,
    where like runs differ by ``between`` anyway (as a logarithm)."""
    error = _OF_MIDDLE * spread * math.sqrt(1 / before + 1 / after)
    width = _sure(before + after - 2) * error
    return math.expm1(max(width, between, LEAST_EFFECT) + _FOUND * error)


def repeats_needed(spread: float, between: float = 0.0, change: float = WORTH_SEEING) -> int | None:
    """Repeats of each run that would find ``change`` 9 times in 10 at this spread, five at least; None
    where like runs differ by so much anyway that none would."""
    least = math.log1p(change) - max(between, LEAST_EFFECT)
    if least <= 0:
        return None
    single = _OF_MIDDLE * spread * math.sqrt(2)
    count = max(ENOUGH, math.ceil((_FOUND * single / least) ** 2))
    while count < MOST_REPEATS:
        if (_sure(2 * count - 2) + _FOUND) * single / math.sqrt(count) <= math.log1p(change):
            return count
        count += 1
    return MOST_REPEATS


def _sure(freedom: int) -> float:
    """Student's t by its expansion (Abramowitz and Stegun 26.7.5)."""
    freedom = max(1, freedom)
    near = (_SURE**3 + _SURE) / (4 * freedom)
    return _SURE + near + (5 * _SURE**5 + 16 * _SURE**3 + 3 * _SURE) / (96 * freedom**2)


def spread_of(values: Sequence[float]) -> float | None:
    """Relative standard deviation; None under two values or where their mean is 0."""
    mean = float(np.mean(values)) if len(values) > 1 else 0.0
    return float(np.std(values, ddof=1)) / mean if mean else None


def _pooled(old: Floats, new: Floats) -> float | None:
    """Standard deviation of the logarithms, which is the relative spread; None under two values each."""
    freedom = len(old) + len(new) - 2
    if min(len(old), len(new)) < 2:
        return None
    squares = sum(float(((logs - logs.mean()) ** 2).sum()) for logs in (old, new))
    return math.sqrt(squares / freedom)
