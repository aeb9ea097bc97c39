"""Percentiles with their null rules, and the interval of a median over repeats."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pathtrace.analysis.executions import Ints
from pathtrace.model.report import Estimate, Latency
from pathtrace.units import seconds

FEWEST = {50: 1, 90: 10, 99: 100}
"""Operations that a percentile needs to mean anything."""
CONFIDENCE = 0.95


def latency(elapsed_ns: Ints) -> Latency:
    """Percentiles in seconds, by linear interpolation; None where there are too few operations."""
    values = {
        rank: seconds(float(np.percentile(elapsed_ns, rank))) if len(elapsed_ns) >= fewest else None
        for rank, fewest in FEWEST.items()
    }
    longest = seconds(int(elapsed_ns.max())) if len(elapsed_ns) else None
    return Latency(values[50], values[90], values[99], longest)


def interval(values: Sequence[float]) -> tuple[float, float] | tuple[None, None]:
    """Bounds of the median by order statistics (binomial; no assumption about the shape).

    Below six values no pair of them holds the median with 95 %: then the widest, smallest to largest.
    """
    if len(values) < 2:
        return None, None
    ordered = sorted(values)
    tail, rank = 0.0, 0
    for rank in range(len(ordered) // 2):
        tail += math.comb(len(ordered), rank) / 2 ** len(ordered)
        if tail > (1 - CONFIDENCE) / 2:
            break
    rank = max(0, rank - 1)
    return ordered[rank], ordered[-1 - rank]


def estimate(chosen: float, values: Sequence[float], unit: str) -> Estimate:
    """``chosen`` (the median repeat's figure) with the interval that all repeats give."""
    low, high = interval(values)
    return Estimate(chosen, low, high, len(values), unit)


def middle(values: Sequence[float]) -> int:
    """Index of the (lower) median: one that was really measured."""
    order = sorted(range(len(values)), key=lambda index: values[index])
    return order[(len(order) - 1) // 2]
