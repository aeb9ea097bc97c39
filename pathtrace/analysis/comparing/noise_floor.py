"""What two like runs differ by anyway, which no repeat within either of them shows.

From a history of like runs where there is one. Without it, from what else went on at the hosts: work that
takes a third of the cores may make a run half as long again, and may do so in one of two runs only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist

import numpy as np

from pathtrace.model.comparison import HISTORY, OTHER_WORK, ActivityPair

CONFIDENCE = 0.95
FEWEST_RUNS = 3
"""Like runs that a history needs."""
MOST_TAKEN = 0.95
"""Of the cores: what others take beyond it makes the bound no wider."""

_SURE = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True, slots=True)
class Floor:
    """``between``: a difference of logarithms of times."""

    between: float
    source: str
    """``history`` or ``other work``."""


def noise_floor(history: float | None, activity: Iterable[ActivityPair]) -> Floor | None:
    """The floor of a time; None where nothing is known. ``history``: what ``between_runs`` says of it.

    A history has seen other work too, so beside it only counts by how much that differs between the two.
    """
    known = [
        tuple(percent or 0.0 for percent in pair.cpu_percent)
        for pair in activity
        if any(percent is not None for percent in pair.cpu_percent)
    ]
    if history is not None:
        more = max((taken(abs(after - before)) for before, after in known), default=0.0)
        return Floor(more, OTHER_WORK) if more > history else Floor(history, HISTORY)
    if not known:
        return None
    return Floor(max(taken(max(pair)) for pair in known), OTHER_WORK)


def taken(cpu_percent: float) -> float:
    """How much longer work may take, as a logarithm, where others have so much of all cores."""
    return -math.log(1 - min(MOST_TAKEN, cpu_percent / 100))


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
