"""Planted series: a trend, two kinds, one repeat far from the others, and noise in which nothing is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.analysis.repeats import drifts, outliers, two_kinds


def noisy(count: int, spread: float, seed: int) -> list[float]:
    """Repeats of about a second that differ by chance alone."""
    return [float(each) for each in np.random.default_rng(seed).normal(1.0, spread, count)]


@pytest.mark.parametrize(
    ("took", "expected"),
    [
        ((30, 33, 36, 39), True),
        ((42, 39, 36, 33, 30), True),
        ((30, 30.1, 30.2, 30.3, 30.4), False),
        ((30, 33, 36), False),
        ((30, 33, 32, 36, 35, 39, 38, 42), True),
        ((30, 30, 30, 30, 30, 30), False),
        ((30, 42, 31, 40, 30, 41, 30, 42), False),
        ((0, 0, 0, 0, 0), False),
    ],
)
def test_a_steady_trend_is_told_also_through_noise(took: tuple[float, ...], expected: bool) -> None:
    assert drifts(took) is expected


def test_how_large_a_trend_must_be_is_the_callers() -> None:
    slow = (1.0, 1.011, 1.008, 1.02, 1.025, 1.03, 1.041, 1.038)
    assert (drifts(slow), drifts(slow, 0.03)) == (False, True)


@pytest.mark.parametrize(
    ("took", "expected"),
    [
        ((30, 45, 30, 45, 30), True),
        ((30, 45, 31, 46, 30, 45, 90), True),
        ((30, 30, 30, 30, 45), False),
        ((30, 31, 32, 33, 34), False),
        ((30, 45, 30, 45), False),
        ((30, 30, 30, 30, 30), False),
    ],
)
def test_two_kinds_are_told_also_beside_one_that_is_of_neither(
    took: tuple[float, ...], expected: bool
) -> None:
    assert two_kinds(took) is expected


@pytest.mark.parametrize(
    ("took", "expected"),
    [
        ((1.0, 1.01, 0.99, 1.0, 1.8), [4]),
        ((1.0, 1.0, 1.0, 1.0, 1.8, 1.0), [4]),
        ((1.0, 0.2, 1.01, 0.99, 1.0, 1.02), [1]),
        ((1.0, 1.0, 1.0, 1.0, 1.03, 1.0), []),
        ((1.0, 1.1, 1.2, 1.3, 1.4, 1.5), []),
        ((30, 30.1, 45, 45.1, 30.2), []),
        ((1.0, 1.0, 1.0, 1.8), []),
        ((1.0, 1.0, 1.0, 1.0, 1.0), []),
        ((), []),
    ],
)
def test_a_repeat_far_from_the_others_is_marked(took: Sequence[float], expected: list[int]) -> None:
    assert [index for index, far in enumerate(outliers(took)) if far] == expected


@pytest.mark.parametrize("count", [5, 8, 20, 60])
def test_chance_alone_is_seldom_taken_for_anything(count: int) -> None:
    series = [noisy(count, 0.08, seed) for seed in range(200)]
    assert sum(map(drifts, series)) <= 6
    assert sum(map(two_kinds, series)) <= 16  # of five, a gap is soon wide beside two that happen to be alike
    assert sum(far for each in series for far in outliers(each)) <= 0.04 * 200 * count


@given(st.lists(st.floats(0.5, 2.0), min_size=1, max_size=30))
def test_what_is_told_does_not_depend_on_the_unit_nor_on_the_direction(
    took: list[float],
) -> None:
    backwards = took[::-1]
    assert outliers(backwards) == outliers(took)[::-1]
    assert drifts(backwards) is drifts(took)
    assert sum(outliers(took)) <= len(took) / 2
    exact = [each * 4 for each in took]
    assert (drifts(exact), two_kinds(exact), outliers(exact)) == (
        drifts(took),
        two_kinds(took),
        outliers(took),
    )
