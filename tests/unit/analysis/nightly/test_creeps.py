from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from pathtrace.analysis.nightly.creeps import bend, flattened, rising_or_falling, slope, stepped
from pathtrace.analysis.nightly.steps import noise

Floats = npt.NDArray[np.float64]
A_WEEK = math.log(1.01) / 7
"""1 % a week, a day's part."""


def nights(count: int, seed: int, spread: float = 0.03) -> Floats:
    return np.random.default_rng(seed).normal(0.0, spread, count)


def creeping(count: int, since: int, seed: int, per_day: float = A_WEEK) -> Floats:
    return nights(count, seed) + per_day * np.maximum(0, np.arange(count) - since)


def days(values: Floats) -> Floats:
    return np.arange(len(values), dtype=float)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("seed", range(8))
def test_one_percent_a_week_is_seen_after_two_to_three_months(seed: int, side: int) -> None:
    values = creeping(300, 150, seed, side * A_WEEK)
    first = next(count for count in range(50, 301) if rising_or_falling(values[:count]))
    assert 150 + 5 * 7 <= first <= 150 + 13 * 7
    found = bend(values[:first], days(values[:first]))
    assert found is None or found.per_day * side > 0


@pytest.mark.parametrize("seed", range(8))
def test_where_it_bends_and_how_steeply_is_about_right(seed: int) -> None:
    values = creeping(300, 200, seed)
    found = bend(values, days(values))
    assert found is not None
    assert abs(found.at - 200) <= 21
    assert found.per_day == pytest.approx(A_WEEK, rel=0.25)
    assert found.low < found.effect < found.high


def test_a_creep_is_no_step_and_a_step_no_creep() -> None:
    creep, step = creeping(240, 120, 1), nights(240, 1)
    step[160:] += 0.14
    shapes = [(stepped(each, days(each)), bend(each, days(each)) is not None) for each in (creep, step)]
    assert shapes == [(False, True), (True, False)]


def test_quiet_nights_rarely_rise_or_fall() -> None:
    found = [
        rising_or_falling(nights(400, seed)[:count]) for seed in range(40) for count in range(60, 400, 7)
    ]
    assert sum(found) <= 2


def test_a_trend_under_5_percent_is_not_told_however_steady() -> None:
    assert not rising_or_falling(np.linspace(0.0, 0.045, 224))
    assert rising_or_falling(np.linspace(0.0, 0.06, 224))


def test_seven_weeks_are_too_few() -> None:
    assert not rising_or_falling(np.linspace(0.0, 1.0, 55))
    assert rising_or_falling(np.linspace(0.0, 1.0, 56))


def test_one_bad_week_makes_no_trend() -> None:
    values = nights(200, 1)
    values[-5:] += 1.0
    assert not rising_or_falling(values)


def test_the_slope_is_that_of_most_pairs() -> None:
    values = np.arange(20.0) * 0.5
    values[7] = 100.0
    assert slope(values) == 0.5
    assert slope(values, np.arange(20.0) * 2) == 0.25


def test_it_has_flattened_once_there_are_enough_flat_weeks() -> None:
    before = noise(nights(60, 1, spread=0.01))
    rising = A_WEEK * np.minimum(np.arange(200), 100) + nights(200, 2, spread=0.01)
    flat = [
        count for count in range(30, 201) if flattened(rising[:count], days(rising[:count]), A_WEEK, before)
    ]
    assert 115 <= flat[0] <= 145
    assert flattened(rising, days(rising), A_WEEK, before)
