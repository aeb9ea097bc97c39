from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.analysis.nightly.steps import Noise, measured, move, noise, returned, tamed, two_levels

Floats = npt.NDArray[np.float64]
SLOWER = math.log(1.15)


def nights(count: int, seed: int, spread: float = 0.03) -> Floats:
    return np.random.default_rng(seed).normal(0.0, spread, count)


def first_told(values: Floats) -> int | None:
    return next((count - 1 for count in range(1, len(values) + 1) if move(values[:count])), None)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("seed", range(10))
def test_a_step_of_15_percent_is_found_within_a_week_where_it_began(side: int, seed: int) -> None:
    values = nights(160, seed)
    values[120:] += side * SLOWER
    night = first_told(values)
    assert night is not None
    assert 123 <= night <= 127
    found = move(values[: night + 1])
    assert found is not None
    assert abs(found.at - 120) <= 1


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    held = 0
    for seed in range(60):
        values = nights(140, seed)
        values[120:] += SLOWER
        found = measured(values, 120, noise(values[:120]))
        held += found.low < SLOWER < found.high
    assert held >= 54


@pytest.mark.parametrize(
    ("nights_off", "by"), [(1, 0.15), (2, 0.15), (1, 1.0), (2, 1.0), (3, 1.0), (3, -2.0), (1, 5.0)]
)
def test_up_to_three_bad_nights_are_no_step(nights_off: int, by: float) -> None:
    values = nights(160, 1)
    values[120 : 120 + nights_off] += by
    assert first_told(values) is None


def test_nights_that_differ_as_much_anyway_hide_a_step() -> None:
    values = nights(160, 1, spread=0.3)
    values[120:125] += SLOWER
    assert first_told(values[:125]) is None


def test_a_step_under_5_percent_is_not_told_however_quiet_it_is() -> None:
    values = nights(200, 1, spread=0.001)
    values[120:] += math.log(1.045)
    assert first_told(values) is None


def test_levels_that_come_and_go_are_noise_too() -> None:
    values = nights(240, 3, spread=0.01)
    for start in range(5, 235, 12):
        values[start : start + 6] += 0.1
    assert first_told(values) is None


def test_too_few_nights_before_say_nothing() -> None:
    assert move(np.array([0.0] * 13 + [0.5] * 4)) is None
    assert move(np.array([0.0] * 14 + [0.5] * 6)) is not None


def test_noise_says_level_spread_and_memory() -> None:
    random = np.random.default_rng(1)
    values = np.zeros(5000)
    for night in range(1, len(values)):
        values[night] = 0.5 * values[night - 1] + random.normal(0.0, 0.03)
    found = noise(values)
    assert (found.level, found.spread, found.memory) == (
        pytest.approx(0.0, abs=0.005),
        pytest.approx(0.03 / math.sqrt(0.75), rel=0.05),
        pytest.approx(0.5, abs=0.05),
    )
    assert found.lasting == pytest.approx(0.06, rel=0.1)


def test_bad_nights_change_neither_level_nor_spread_much() -> None:
    values = nights(60, 1)
    bad = values.copy()
    bad[[10, 30, 50]] += 5.0
    assert noise(bad).level == pytest.approx(noise(values).level, abs=0.01)
    assert noise(bad).spread == pytest.approx(noise(values).spread, rel=0.2)


@given(st.lists(st.floats(-5, 5), min_size=8, max_size=30), st.floats(-3, 3))
@settings(max_examples=60)
def test_another_unit_of_time_changes_nothing(values: list[float], shift: float) -> None:
    before = np.array([*values, *(each + 2.0 for each in values)])
    found, shifted = move(before), move(before + shift)
    assert (found is None) == (shifted is None)
    if found is not None and shifted is not None:
        assert (shifted.at, shifted.effect) == (found.at, pytest.approx(found.effect))


@given(st.lists(st.floats(-1, 1), min_size=8, max_size=40))
@settings(max_examples=60)
def test_two_levels_are_the_best_cut_of_all(values: list[float]) -> None:
    each = np.array(values)

    def left(cut: int) -> float:
        return float(sum(((part - part.mean()) ** 2).sum() for part in (each[:cut], each[cut:])))

    at, squares = two_levels(each, 3, 2)
    assert squares == pytest.approx(min(left(cut) for cut in range(3, len(each) - 1)), abs=1e-9)
    assert left(at) == pytest.approx(squares, abs=1e-9)


def test_one_far_value_is_tamed_and_a_level_is_not() -> None:
    values = np.array([0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    assert tamed(values, 0.01) == pytest.approx([0, 0, 0.03, 0, 0, 0, 1, 1, 1, 1], abs=0.031)


def test_a_level_is_back_when_enough_nights_are() -> None:
    before = Noise(0.0, 0.02, 0.0)
    gone = np.full(20, SLOWER)
    assert returned(np.append(gone, [0.0] * 3), before, SLOWER) is None
    assert returned(np.append(gone, [0.0] * 4), before, SLOWER) == 5
    assert returned(np.append(gone, [0.0] * 4 + [SLOWER]), before, SLOWER) is None


def test_the_wider_the_nights_the_more_of_them_must_be_back() -> None:
    wide = Noise(0.0, 0.06, 0.0)
    gone = np.full(40, SLOWER)
    counts = [count for count in range(30) if returned(np.append(gone, [0.0] * count), wide, SLOWER)]
    assert 3 < counts[0] <= 5
    asked = returned(np.append(gone, [0.0] * counts[0]), wide, SLOWER)
    assert asked is not None
    assert asked > 5
