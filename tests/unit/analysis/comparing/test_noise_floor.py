import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.analysis.comparing.noise_floor import MOST_TAKEN, Floor, between_runs, noise_floor, taken
from pathtrace.model.comparison import HISTORY, OTHER_WORK, ActivityPair


def others(before: float | None, after: float | None) -> ActivityPair:
    return ActivityPair("here", (before, after), (None, None), (None, None))


def test_without_a_history_what_others_took_of_the_cpu_may_explain_a_difference() -> None:
    assert noise_floor(None, [others(0.0, 50.0)]) == Floor(math.log(2), OTHER_WORK)
    assert noise_floor(None, [others(50.0, None)]) == Floor(math.log(2), OTHER_WORK)
    assert noise_floor(None, [others(10.0, 5.0), others(20.0, 50.0)]) == Floor(math.log(2), OTHER_WORK)


def test_nothing_is_made_up_where_nobody_looked() -> None:
    assert noise_floor(None, []) is None
    assert noise_floor(None, [others(None, None)]) is None


def test_a_history_has_seen_other_work_so_only_its_difference_counts_beside_it() -> None:
    assert noise_floor(0.1, [others(50.0, 52.0)]) == Floor(0.1, HISTORY)
    assert noise_floor(0.1, [others(0.0, 50.0)]) == Floor(math.log(2), OTHER_WORK)
    assert noise_floor(0.1, []) == Floor(0.1, HISTORY)


@given(st.floats(0, 400), st.floats(0, 400))
def test_more_other_work_never_makes_the_floor_lower(one: float, other: float) -> None:
    less, more = sorted((one, other))
    assert 0 <= taken(less) <= taken(more) <= -math.log(1 - MOST_TAKEN)


def test_of_few_like_runs_nothing_is_known() -> None:
    assert between_runs([1.0, 1.3]) is None
    assert between_runs([1.0, 1.0, 1.0]) == 0.0
    assert between_runs([1.0, 1.1, 0.9]) == pytest.approx(0.278, abs=1e-3)
