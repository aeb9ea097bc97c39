"""A level that moved, found in a series of numbers, one a night. Knows no run, flow or date.

Values are logarithms of times, so that 0.05 is about 5 %. What is asked of a move: that it lasts, that it is
far outside of what the nights differ by anyway, and that it is worth a word.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pathtrace.analysis.comparing.ratios import LEAST_EFFECT

Floats = npt.NDArray[np.float64]

SHOWN, OF = 4, 5
"""Of the last ``OF`` nights so many must lie on the new side, more than half of the way."""
FEWEST_BEFORE = 14
"""Nights that a level needs to be known."""
RECENT, BEFORE = 30, 90
"""Nights in which a move is looked for, and nights before them that it is held against, at most."""

_SLACK, _LIMIT = 0.5, 9.0
"""Page's k and h in standard deviations. Of independent normal nights h = 5 would be passed by chance once
in 465, h = 9 once in some ten thousands; a scenario has a dozen series."""
_FAR = 3.0
"""No single night counts for more standard deviations than these."""
_SURE = 4.0
"""Standard errors that a move must have: it is the likeliest of many beginnings that were tried."""
_MORE = 1.2
"""Beside what went by without being told in the nights before: sums, and medians of ``OF`` nights."""
_LEAST_SPREAD = 0.01
_NORMAL_MAD = 1.4826
_OF_MEDIAN = math.sqrt(math.pi / 2)
"""Standard error of a normal sample's median, in units of its mean's (Kenney and Keeping, 1962)."""


@dataclass(frozen=True, slots=True)
class Noise:
    """What nights differ by without a cause. ``memory``: correlation of a night with the one before it."""

    level: float
    spread: float
    memory: float

    @property
    def lasting(self) -> float:
        """The spread that a mean over many nights answers to, since neighbours are alike: of an AR(1)."""
        return self.spread * math.sqrt((1 + self.memory) / (1 - self.memory))


@dataclass(frozen=True, slots=True)
class Move:
    """``at``: index of the first value of the new level. Logarithms, with the 95 % interval."""

    at: int
    effect: float
    low: float
    high: float


def noise(values: Floats, own: float = 0.0) -> Noise:
    """Of nights at one level. ``own``: the standard error that their own repeats give them.

    Median and median absolute deviation, which a bad night does not move. Few nights know their spread
    badly, so it is taken wider then.
    """
    level = _median(values)
    off = values - level
    few = 1 + 3 / len(values) + 60 / len(values) ** 2
    spread = few * max(_NORMAL_MAD * _median(np.abs(off)), own, _LEAST_SPREAD)
    near = np.clip(off / spread, -_FAR, _FAR)
    power = float(near @ near)
    memory = float(near[1:] @ near[:-1]) / power if power else 0.0
    return Noise(level, spread, min(max(memory + 2 / len(values), 0.0), 0.8))


def move(values: Floats, own: float = 0.0, recent: int = RECENT, least: float = LEAST_EFFECT) -> Move | None:
    """A level that the last values have left for good, or None.

    Page's two-sided CUSUM (Biometrika 41, 1954), over the last ``recent`` values beside those before,
    with far values drawn in and no verdict on a single one, after Lucas and Crosier (Communications in
    Statistics 11, 1982), and its limits widened for correlated values as Johnson and Bagshaw say
    (Technometrics 16, 1974).
    """
    apart = max(0, len(values) - BEFORE - recent)
    values = values[apart:]
    known = max(FEWEST_BEFORE, len(values) - min(recent, len(values) // 3))
    if len(values) < known + SHOWN:
        return None
    before = noise(values[:known], own)
    scale = 1 / before.lasting
    off = np.clip((values - before.level) / before.spread, -_FAR, _FAR) * before.spread * scale
    slack = _SLACK + _OF_MEDIAN / math.sqrt(known)
    side = _passed(off[known:], max(_LIMIT, _MORE * _highest(off[:known], slack)), slack)
    if not side:
        return None
    found = _judged(values, _began(values, before), side, own, least)
    return None if found is None else replace(found, at=found.at + apart)


def _passed(off: Floats, limit: float, slack: float) -> int:
    """1 or -1 if the sum of what is above or below is beyond the limit at the last value, else 0."""
    above, below = list(_sums(off, slack))[-1]
    if max(above, below) <= limit:
        return 0
    return 1 if above > below else -1


def _highest(off: Floats, slack: float) -> float:
    """How far the sums went where there was nothing."""
    return max(max(sums) for sums in _sums(off, slack))


def _sums(off: Floats, slack: float) -> Iterator[tuple[float, float]]:
    above = below = 0.0
    for each in off.tolist():
        above = max(0.0, above + each - slack)
        below = max(0.0, below - each - slack)
        yield above, below


def _began(values: Floats, before: Noise) -> int:
    """Where two levels explain the values best, by least squares of values whose far ones are drawn in."""
    tame = tamed(values, before.spread)
    at, _ = two_levels(tame, FEWEST_BEFORE, SHOWN)
    return at


def tamed(values: Floats, spread: float) -> Floats:
    """A value alone far off is drawn to what lies around it; a level that moves stays as it is."""
    if len(values) < OF:
        return values
    around = medians(values)
    return np.asarray(np.clip(values, around - _FAR * spread, around + _FAR * spread), dtype=np.float64)


def medians(values: Floats) -> Floats:
    """Of each value and its neighbours, ``OF`` in all; the first and last stand for what lies outside."""
    wide = np.pad(values, OF // 2, mode="edge")
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(wide, OF), axis=1), dtype=np.float64)


def two_levels(values: Floats, first: int, last: int) -> tuple[int, float]:
    """Index at which the second level begins, and the squares that two levels leave.

    ``first`` and ``last``: values that each side has at least.
    """
    count = len(values)
    sums = np.cumsum(values)
    cuts = np.arange(first, count - last + 1)
    left, total = sums[cuts - 1], sums[-1]
    gain = left**2 / cuts + (total - left) ** 2 / (count - cuts)
    best = int(np.argmax(gain))
    return int(cuts[best]), float(values @ values - gain[best])


def _judged(values: Floats, at: int, side: int, own: float, least: float) -> Move | None:
    before = noise(values[max(0, at - BEFORE) : at], own)
    found = measured(values, at, before)
    if found.effect * side < least or abs(found.effect) < _SURE / 1.96 * (found.effect - found.low):
        return None
    if abs(found.effect) < _MORE * _farthest(values[max(0, at - BEFORE) : at], before.level):
        return None
    half = before.level + found.effect / 2
    shown = int(np.count_nonzero((values[-OF:] - half) * side > 0))
    return found if shown >= SHOWN and (values[-1] - half) * side > 0 else None


def _farthest(values: Floats, level: float) -> float:
    """How far any ``OF`` nights in a row were from their level."""
    around = np.median(np.lib.stride_tricks.sliding_window_view(values, OF), axis=1)
    return float(np.max(np.abs(around - level)))


def measured(values: Floats, at: int, before: Noise) -> Move:
    """What the median from ``at`` on differs by from the level before, with its interval."""
    after = len(values) - at
    effect = _median(values[at:]) - before.level
    error = 1.96 * _OF_MEDIAN * before.lasting * math.sqrt(1 / max(1, min(at, BEFORE)) + 1 / after)
    return Move(at, effect, effect - error, effect + error)


def returned(values: Floats, before: Noise, effect: float) -> int | None:
    """How many of the last values are back at the level before, enough to say so; None: they are not.

    The smaller the move is beside the spread, the more nights are asked for.
    """
    enough = math.ceil((6 * before.lasting / effect) ** 2) if effect else len(values)
    asked = min(max(enough, OF), 4 * 7)
    if len(values) < asked:
        return None
    half, side = before.level + effect / 2, 1 if effect > 0 else -1
    back = (values - half) * side < 0
    shown = int(np.count_nonzero(back[-OF:])) >= SHOWN and bool(back[-1])
    if not shown or (_median(values[-asked:]) - half) * side >= 0:
        return None
    return asked


def _median(values: Floats) -> float:
    """As numpy's, without what it costs to ask of so few."""
    ordered = np.sort(values)
    half = len(ordered) // 2
    return float(ordered[half]) if len(ordered) % 2 else float(ordered[half - 1] + ordered[half]) / 2
