"""How much two series of times differ, and how sure that is. Knows numbers only, no run.

The ratio of medians with a bootstrap interval (percentile method). Each series has a random stream of
its own that depends on its values alone: the same two series give the same interval every time, swapped
the inverse, and a series beside itself exactly 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import sha256
from itertools import combinations
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from pathtrace.model.comparison import FASTER, SAME, SLOWER, UNCLEAR, Ratio

LEAST_EFFECT = math.log(1.05)
"""Of the ratio's logarithm, so that faster and slower are judged alike."""
WORTH_SEEING = 0.10
"""The change that is looked for when it is said how many repeats would do."""
CONFIDENCE, POWER = 0.95, 0.90
RESAMPLES = 2000
FEWEST_REPEATS = 3
"""Below it an interval says nothing: every verdict is ``unclear``."""
FEWEST_RUNS = 3
"""Like runs that a history needs."""

_SURE = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
_FOUND = NormalDist().inv_cdf(POWER)
_OF_MEDIAN = math.sqrt(math.pi / 2)
"""Standard error of a normal sample's median, in units of its mean's (Kenney and Keeping, 1962)."""

Floats = npt.NDArray[np.float64]


def compare_times(
    before: Sequence[float], after: Sequence[float], *, between: float | None = None, seed: int = 1
) -> Ratio | None:
    """Of two series of seconds, one value a repeat; None where either is empty or holds a time of 0.

    ``between``: what two like runs differ by anyway (``between_runs``), where a history of them exists.
    The interval is never narrower.
    """
    if not before or not after or min(*before, *after) <= 0:
        return None
    old, new = np.log(np.sort(before)), np.log(np.sort(after))
    effect = float(np.median(new) - np.median(old))
    drawn = _medians(new, seed) - _medians(old, seed)
    tail = (1 - CONFIDENCE) / 2
    low, high = (float(bound) for bound in np.quantile(drawn, (tail, 1 - tail)))
    if between is not None and not _identical(old, new):
        low, high = min(low, effect - between), max(high, effect + between)
    enough = min(len(old), len(new)) >= FEWEST_REPEATS or _identical(old, new)
    verdict = judged(effect, low, high) if enough else UNCLEAR
    spread = _pooled(old, new)
    return Ratio(
        ratio=math.exp(effect),
        low=math.exp(low),
        high=math.exp(high),
        verdict=verdict,
        detectable=None if spread is None else detectable(spread, len(old), len(new)),
        repeats_needed=None if spread is None else repeats_needed(spread),
    )


def judged(effect: float, low: float, high: float) -> str:
    """Of logarithms. ``same``: whatever the truth within the interval, it is under 5 %."""
    if low > 0 and effect >= LEAST_EFFECT:
        return SLOWER
    if high < 0 and effect <= -LEAST_EFFECT:
        return FASTER
    return SAME if low > -LEAST_EFFECT and high < LEAST_EFFECT else UNCLEAR


def detectable(spread: float, before: int, after: int) -> float:
    """The least slowdown that would be found 9 times in 10, at this spread and these numbers of repeats."""
    error = _OF_MEDIAN * spread * math.sqrt(1 / before + 1 / after)
    return math.expm1(max((_SURE + _FOUND) * error, LEAST_EFFECT + _FOUND * error))


def repeats_needed(spread: float, change: float = WORTH_SEEING) -> int:
    """Repeats of each run that would find ``change`` 9 times in 10 at this spread; at least five."""
    effect = math.log1p(change)
    error = min(effect / (_SURE + _FOUND), (effect - LEAST_EFFECT) / _FOUND)
    return max(5, math.ceil(2 * (_OF_MEDIAN * spread / error) ** 2))


def between_runs(medians: Sequence[float]) -> float | None:
    """The difference, as a logarithm, that 19 in 20 pairs of like runs stay under; None of too few runs.

    By their standard deviation or by the pairs themselves, whichever is more: machines have several
    levels rather than one bell-shaped one.
    """
    logs = [math.log(value) for value in medians if value > 0]
    if len(logs) < FEWEST_RUNS:
        return None
    pairs = [abs(one - other) for one, other in combinations(logs, 2)]
    return max(_SURE * math.sqrt(2) * float(np.std(logs, ddof=1)), float(np.quantile(pairs, CONFIDENCE)))


def spread_of(values: Sequence[float]) -> float | None:
    """Relative standard deviation; None under two values or where their mean is 0."""
    mean = float(np.mean(values)) if len(values) > 1 else 0.0
    return float(np.std(values, ddof=1)) / mean if mean else None


def _medians(logs: Floats, seed: int) -> Floats:
    """Medians of resamples of a series, from a stream that its values decide."""
    digest = sha256(logs.tobytes()).digest()
    random = np.random.default_rng([seed, int.from_bytes(digest[:8], "big")])
    chosen = random.integers(0, len(logs), size=(RESAMPLES, len(logs)))
    return np.asarray(np.median(logs[chosen], axis=1), dtype=np.float64)


def _pooled(old: Floats, new: Floats) -> float | None:
    """Standard deviation of the logarithms, which is the relative spread; None under two values each."""
    freedom = len(old) + len(new) - 2
    if min(len(old), len(new)) < 2:
        return None
    squares = sum(float(((logs - logs.mean()) ** 2).sum()) for logs in (old, new))
    return math.sqrt(squares / freedom)


def _identical(old: Floats, new: Floats) -> bool:
    return len(old) == len(new) and bool((old == new).all())
