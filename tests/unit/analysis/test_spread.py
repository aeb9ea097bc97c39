from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.analysis.spread import estimate, interval, latency, middle
from pathtrace.model.report import Estimate, Latency

durations = st.lists(st.floats(0.001, 1e6), min_size=2, max_size=40)


@given(st.lists(st.integers(0, 10**12), min_size=100, max_size=300))
def test_percentiles_are_numpys(values: list[int]) -> None:
    p50, p90, p99, longest = np.percentile(values, [50, 90, 99, 100]) / 1e9
    assert latency(np.array(values)) == Latency(
        *(pytest.approx(value) for value in (p50, p90, p99, longest))  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("count", "known"),
    [
        (0, (False, False, False, False)),
        (1, (True, False, False, True)),
        (9, (True, False, False, True)),
        (10, (True, True, False, True)),
        (99, (True, True, False, True)),
        (100, (True, True, True, True)),
    ],
)
def test_a_percentile_of_too_few_operations_is_null(count: int, known: tuple[bool, ...]) -> None:
    found = latency(np.arange(count))
    assert tuple(value is not None for value in (found.p50_s, found.p90_s, found.p99_s, found.max_s)) == known


def test_one_value_has_no_interval() -> None:
    assert estimate(3.0, [3.0], "s") == Estimate(3.0, None, None, 1, "s")


def test_five_values_span_from_smallest_to_largest() -> None:
    assert interval([3.0, 1.0, 5.0, 2.0, 4.0]) == (1.0, 5.0)


def test_the_interval_of_the_median_narrows_with_the_number_of_values() -> None:
    assert interval([float(value) for value in range(1, 21)]) == (6.0, 15.0)


@given(durations)
def test_the_interval_holds_the_median_that_was_measured(values: list[float]) -> None:
    low, high = interval(values)
    assert low is not None
    assert high is not None
    assert low <= values[middle(values)] <= high


def test_the_interval_covers_the_true_median_as_often_as_promised() -> None:
    rng = np.random.default_rng(1)
    draws = rng.exponential(size=(2000, 12))
    bounds = [interval(list(row)) for row in draws]
    covered = np.mean(
        [low <= np.log(2) <= high for low, high in bounds if low is not None and high is not None]
    )
    assert covered > 0.94
