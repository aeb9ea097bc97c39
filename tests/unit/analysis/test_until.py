"""When a run has been repeated often enough, from the windows of its executions alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.analysis.spread import estimate, interval, middle
from pathtrace.analysis.until import half_width, judge
from pathtrace.model.run import FlowWidth, Until
from pathtrace.model.sample import Window
from tests.unit.store.example import SCENARIO

INDEX, ANSWER = SCENARIO.flows[0].name, SCENARIO.flows[1].name
MS = 1_000_000


def windows(flow: int, took_ms: Sequence[float], execution: int = 0, complete: bool = True) -> list[Window]:
    """One execution in each repeat, one after the other."""
    return [
        Window(repeat, flow, execution, 1, 0, round(each * MS), complete, (1, 1))
        for repeat, each in enumerate(took_ms)
    ]


def test_every_flow_must_be_told_and_the_widest_decides() -> None:
    narrow, wide = windows(0, [100, 101, 99, 100, 102]), windows(1, [100, 104, 98, 99, 100])
    flows = (
        FlowWidth(INDEX, 5, pytest.approx(0.02), False, False),
        FlowWidth(ANSWER, 5, pytest.approx(0.04), False, False),
    )
    assert judge(SCENARIO, 0.03, [*narrow, *wide]) == Until(0.03, False, 5, flows)
    assert judge(SCENARIO, 0.04, [*narrow, *wide]) == Until(0.04, True, 5, flows)


def test_the_order_of_the_windows_does_not_matter() -> None:
    some = [*windows(0, [100, 101, 99, 100, 102]), *windows(1, [100, 104, 98, 99, 100])]
    assert judge(SCENARIO, 0.03, some[::-1]) == judge(SCENARIO, 0.03, some)


def test_warm_ups_later_executions_and_those_cut_short_do_not_count() -> None:
    some = windows(0, [100] * 5)
    warm_up = Window(-1, 0, 0, 1, 0, 900 * MS, True, (1, 1))
    others = [warm_up, *windows(0, [700] * 5, execution=1), *windows(1, [800] * 5, complete=False)]
    same = (FlowWidth(INDEX, 5, 0.0, False, False),)
    assert judge(SCENARIO, 0.03, [*some, *others]) == Until(0.03, True, 5, same)


def test_nothing_measured_is_never_enough() -> None:
    assert judge(SCENARIO, 0.03, []) == Until(0.03, False, 0, ())


def test_four_repeats_are_not_enough_though_they_are_alike() -> None:
    assert not judge(SCENARIO, 0.03, windows(0, [100] * 4)).reached


@pytest.mark.parametrize("asked", [0.03, 0.05])
def test_a_drift_within_the_interval_asked_for_does_not_count_as_reached(asked: float) -> None:
    drifting = judge(SCENARIO, asked, windows(0, [100, 101, 102, 103, 104]))
    assert drifting == Until(asked, False, 5, (FlowWidth(INDEX, 5, pytest.approx(2 / 102), True, False),))


def test_a_drift_too_small_to_matter_is_none() -> None:
    assert judge(SCENARIO, 0.03, windows(0, [100, 100.1, 100.2, 100.3, 100.4])).reached


def test_two_kinds_are_told_where_the_interval_is_narrow_all_the_same() -> None:
    took = [100, 130, 101, 100, 100, 101, 100, 131, 100, 101, 100, 100, 101, 100]
    found = judge(SCENARIO, 0.03, windows(0, took))
    assert (found.reached, found.flows[0].two_kinds) == (True, True)


@given(st.lists(st.floats(0.1, 10.0), min_size=2, max_size=40))
def test_the_half_width_is_that_of_the_interval_that_is_shown(took: list[float]) -> None:
    shown = estimate(took[middle(took)], took, "s")
    width = half_width(took)
    assert width is not None
    assert shown.low is not None
    assert shown.high is not None
    assert shown.value * (1 + width) >= shown.high * (1 - 1e-9)
    assert shown.value * (1 - width) <= shown.low * (1 + 1e-9)
    assert half_width([each * 8 for each in took]) == pytest.approx(width)


def test_one_repeat_has_no_interval() -> None:
    assert half_width([1.0]) is None


def test_stopping_at_the_first_narrow_interval_seldom_misses_what_is_true() -> None:
    """Looked at after every repeat, an interval of 95 % holds a little less; this is what it holds."""
    missed = 0
    for seed in range(200):
        took = [float(each) for each in np.random.default_rng(seed).normal(1.0, 0.03, 100)]
        narrow = (count for count in range(5, 100) if (half_width(took[:count]) or 0) <= 0.03)
        low, high = interval(took[: next(narrow)])
        assert low is not None
        assert high is not None
        missed += not low <= 1.0 <= high
    assert missed <= 0.1 * 200
