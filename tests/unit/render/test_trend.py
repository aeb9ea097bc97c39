from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pathtrace.render.over_time import BARS
from pathtrace.render.trend import GAP, WIDTH, grouped, trend

NIGHTS = st.lists(st.none() | st.floats(1e-6, 1e6), max_size=120)


@given(NIGHTS)
def test_there_is_a_sign_for_each_night_up_to_the_width(values: list[float | None]) -> None:
    drawn = trend(values)
    assert len(drawn) == min(WIDTH, len(values))
    assert set(drawn) <= set(BARS + GAP)
    if len(values) <= WIDTH:
        assert [sign == GAP for sign in drawn] == [value is None for value in values]


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=WIDTH))
def test_a_longer_night_never_has_a_lower_bar(values: list[float]) -> None:
    bars = [BARS.index(sign) for sign in trend(values)]
    ordered = [bar for _, bar in sorted(zip(values, bars, strict=True))]
    assert ordered == sorted(ordered)


@given(st.lists(st.integers(), max_size=200), st.integers(1, 50))
def test_groups_are_neighbours_of_nearly_one_size(values: list[int], width: int) -> None:
    groups = grouped(values, width)
    assert [each for group in groups for each in group] == values
    sizes = {len(group) for group in groups}
    assert max(sizes, default=0) - min(sizes, default=0) <= 1


def test_noise_looks_like_noise_and_a_step_like_a_step() -> None:
    assert trend([1.0, 1.01, 0.99, 1.02]) == "▁▁▁▁"
    assert trend([1.0, 1.01, 1.5, None, 1.4]) == "▁▁█·▇"
    assert trend([None, None]) == "··"
    assert trend([0.0, 0.0]) == "▁▁"
    assert trend([]) == ""
