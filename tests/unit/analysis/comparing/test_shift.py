import numpy as np
import pytest

from pathtrace.analysis.comparing.shift import apart, half_width


def series(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.asarray(values, dtype=np.float64)


@pytest.mark.parametrize(("count", "spread"), [(3, 1.0), (5, 1.0), (5, 30.0), (9, 1.0), (40, 1.0)])
def test_nineteen_of_twenty_intervals_of_normal_series_hold_the_truth(count: int, spread: float) -> None:
    random = np.random.default_rng(1)
    pairs = random.standard_normal((400, 2, count)) * spread
    held = sum(abs(apart(old, new)) <= half_width(old, new) for old, new in pairs)
    assert 0.92 <= held / len(pairs) <= 0.99


def test_one_value_that_lies_far_off_moves_neither_middle_nor_width_much() -> None:
    old, new = series(0.0, 0.1, -0.1, 0.05, -0.05), series(1.0, 1.1, 0.9, 1.05, 0.95)
    stray = series(0.0, 0.1, -0.1, 9.0, -0.05)
    assert apart(old, new) == pytest.approx(1.0)
    assert apart(stray, new) == pytest.approx(1.0, abs=0.05)
    assert half_width(stray, new) == pytest.approx(half_width(old, new), rel=0.15)


def test_a_fixed_value_has_no_width() -> None:
    assert half_width(series(1.0, 1.0, 1.0), series(2.0, 2.0, 2.0)) == 0.0
    assert half_width(series(1.0), series(2.0)) == 0.0


def test_a_pair_swapped_is_as_wide() -> None:
    old, new = series(1.0, 1.3, 0.9), series(2.0, 2.2, 2.1, 1.9, 2.5)
    assert half_width(old, new) == half_width(new, old)
    assert apart(old, new) == -apart(new, old)
