"""How long something took night after night, in a row of bars. Knows seconds and gaps, no run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import TypeVar

from pathtrace.render.over_time import BARS

Value = TypeVar("Value")

GAP = "·"
"""A night without a figure."""
WIDTH = 24
LEAST_RANGE = 0.25
"""Of the shortest: nights that differ by less do not fill the height, so that noise looks like noise."""


def trend(values: Sequence[float | None], width: int = WIDTH) -> str:
    """A bar for each night, oldest first; of more nights than ``width`` the median of so many neighbours."""
    shown = [_middle(group) for group in grouped(values, width)]
    known = [value for value in shown if value is not None]
    if not known:
        return GAP * len(shown)
    low = min(known)
    reach = max(max(known) - low, LEAST_RANGE * low) or 1.0
    return "".join(GAP if value is None else _bar((value - low) / reach) for value in shown)


def grouped(values: Sequence[Value], width: int = WIDTH) -> list[Sequence[Value]]:
    """Neighbours together, so that there are ``width`` groups at most; their sizes differ by one at most."""
    count = min(width, len(values))
    ends = [len(values) * number // count for number in range(count + 1)] if count else []
    return [values[start:end] for start, end in pairwise(ends)]


def _middle(group: Sequence[float | None]) -> float | None:
    known = [value for value in group if value is not None]
    return median(known) if known else None


def _bar(share: float) -> str:
    return BARS[min(len(BARS) - 1, int(share * len(BARS)))]
