from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pathtrace.probes.path_mtu import largest_passing, largest_usual


@given(limit=st.integers(576, 9000))
def test_the_largest_size_that_passes_is_found_in_few_questions(limit: int) -> None:
    asked: list[int] = []

    def passes(size: int) -> bool:
        asked.append(size)
        return size <= limit

    assert largest_passing(576, 9000, passes) == limit
    assert len(asked) <= 26


def test_nothing_is_found_where_nothing_passes() -> None:
    assert largest_passing(576, 9000, lambda size: False) is None


def test_all_is_well_after_one_question() -> None:
    asked: list[int] = []
    assert largest_passing(576, 1500, lambda size: not asked.append(size)) == 1500  # type: ignore[func-returns-value]
    assert asked == [1500]


@given(limit=st.integers(576, 9000))
def test_without_an_echo_the_largest_usual_size_is_found_in_four_questions(limit: int) -> None:
    asked: list[int] = []

    def passes(size: int) -> bool:
        asked.append(size)
        return size <= limit

    usual = (9000, 4352, 1500, 1492, 1480, 1476, 1460, 1420, 1400, 1280, 576)
    assert largest_usual(576, 9001, passes) == max(size for size in usual if size <= limit)
    assert len(asked) <= 4
