from __future__ import annotations

import numpy as np
import pytest

from pathtrace.analysis.counters import Counters
from pathtrace.model.sample import Reading, ReadingTable


def counters(*pairs: tuple[int, float]) -> Counters:
    return Counters(
        ReadingTable(tuple(Reading(at, "disk", "sda", "read_bytes", value) for at, value in pairs))
    )


def test_growth_is_interpolated_at_both_ends() -> None:
    seen = counters((0, 100.0), (10, 200.0), (20, 200.0))
    assert seen.growth("disk", "sda", "read_bytes", 5, 15) == pytest.approx(50)


def test_the_order_of_readings_does_not_matter() -> None:
    assert counters((10, 200.0), (0, 100.0)).growth("disk", "sda", "read_bytes", 0, 10) == 100


def test_a_counter_that_began_anew_counts_on() -> None:
    assert (
        counters((0, 500.0), (10, 600.0), (20, 0.0), (30, 50.0)).growth("disk", "sda", "read_bytes", 0, 30)
        == 150
    )


def test_growth_during_stretches_leaves_out_what_lies_between() -> None:
    seen = counters((0, 0.0), (10, 10.0), (20, 1000.0), (30, 1010.0))
    stretches = (np.array([0, 20]), np.array([10, 30]))
    assert seen.growth_during("disk", "sda", "read_bytes", stretches) == pytest.approx(20)


@pytest.mark.parametrize("pairs", [(), ((5, 1.0),), ((50, 1.0), (60, 2.0))])
def test_a_counter_that_was_not_read_around_the_span_is_unknown(pairs: tuple[tuple[int, float], ...]) -> None:
    assert counters(*pairs).growth("disk", "sda", "read_bytes", 0, 10) is None


def test_the_lowest_value_of_a_gauge_is_looked_for_within_the_span() -> None:
    seen = counters((0, 1.0), (10, 7.0), (20, 5.0), (30, 2.0))
    assert seen.lowest("disk", "sda", "read_bytes", 10, 20) == 5
    assert seen.lowest("disk", "sda", "read_bytes", 11, 12) is None
