"""A night beside what came before: which runs count, how sure a change is, and in what words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.analysis.nightly.beside import LAST, Reference, beside, reference
from pathtrace.model.history import FAILED, PARTIAL, HistoryEntry, Took

FIRST = datetime(2026, 11, 1, 2, 0, tzinfo=UTC)
TIMES = st.floats(0.01, 1e4)


def night(day: int, median_s: float = 10.0, spread: float = 0.01, **more: object) -> HistoryEntry:
    at = FIRST + timedelta(days=day)
    took = (Took("index", median_s, median_s * (1 - spread), median_s * (1 + spread), "disk:archive"),)
    entry = HistoryEntry(
        f"{at:%Y%m%d-%H%M%S}-aaaa", at, "lab", "work", "setup", "cold", "complete", 60.0, took
    )
    return replace(entry, **more)  # type: ignore[arg-type]


def test_without_a_baseline_the_median_of_the_last_like_runs_counts() -> None:
    nights = [night(day, 10.0 + day) for day in range(10)]
    found = reference(night(10), nights, None)
    assert found == Reference(f"the median of the last {LAST} runs", tuple(nights[-LAST:]))


def test_runs_of_other_work_or_another_start_nights_without_figures_and_later_ones_do_not_count() -> None:
    nights = [
        night(0),
        night(1, workload_fingerprint="other"),
        night(2, start="warm"),
        night(3, took=(), status=FAILED),
        night(4, status=PARTIAL),
        night(6),
    ]
    found = reference(night(5), nights, None)
    assert found is not None
    assert found.runs == (nights[0], nights[4])
    assert reference(night(0), nights, None) is None


def test_a_baseline_counts_alone_and_is_called_by_its_label() -> None:
    nights = [night(0, label="new disk"), night(1), night(2)]
    found = reference(night(3), nights, nights[0].id)
    assert found == Reference(f"the baseline new disk ({nights[0].id})", (nights[0],), chosen=True)


def test_a_baseline_from_another_start_is_no_reference_and_that_is_said() -> None:
    nights = [night(0, start="warm"), night(1), night(2)]
    found = reference(night(3), nights, nights[0].id)
    why = f"(the baseline {nights[0].id} started warm, this one cold)"
    assert found == Reference(f"the median of the last 2 runs {why}", (nights[1], nights[2]))
    assert reference(night(3), nights[:1], nights[0].id) is None


def test_a_slower_night_is_slower_only_as_far_as_days_do_not_differ_by_as_much() -> None:
    calm = [night(day, 10.0 + 0.05 * (day % 3)) for day in range(12)]
    (found,) = beside(night(12, 12.0), Reference("", tuple(calm[-7:])), calm)
    assert (found.verdict, round(found.ratio, 2)) == ("slower", 1.19)
    assert 1 < found.low < found.ratio < found.high
    wild = [night(day, 10.0 + 2 * (day % 3)) for day in range(12)]
    (found,) = beside(night(12, 12.0), Reference("", tuple(wild[-7:])), wild)
    assert found.verdict == "unclear"


def test_a_night_that_stood_out_does_not_hide_the_next_one() -> None:
    calm = [night(day, 10.0 + 0.05 * (day % 3)) for day in range(9)]
    nights = [*calm, night(9, 50.0)]
    (found,) = beside(night(10, 50.0), Reference("", tuple(nights[-7:])), nights)
    assert found.verdict == "slower"


def test_of_few_runs_nothing_is_sure_unless_one_was_chosen() -> None:
    few = [night(0), night(1)]
    (found,) = beside(night(2, 20.0), Reference("", tuple(few)), few)
    assert (found.verdict, found.low) == ("unclear", 1.0)
    (found,) = beside(night(2, 20.0), Reference("", (few[0],), chosen=True), few)
    assert (found.verdict, found.low > 1) == ("slower", True)


def test_one_repeat_beside_one_run_proves_nothing() -> None:
    (found,) = beside(night(1, 20.0, spread=0.0), Reference("", (night(0, spread=0.0),)))
    assert (found.ratio, found.verdict) == (pytest.approx(2.0), "unclear")


def test_what_only_one_of_both_has_is_not_held_against_anything() -> None:
    assert beside(night(1, took=()), Reference("", (night(0),))) == ()
    assert beside(night(1), Reference("", (night(0, took=()),))) == ()


@given(TIMES, TIMES, st.floats(0, 0.5))
def test_swapping_both_inverts_the_ratio_and_its_interval(now_s: float, then_s: float, spread: float) -> None:
    one, other = night(0, then_s, spread), night(1, now_s, spread)
    (found,) = beside(other, Reference("", (one,)))
    (inverse,) = beside(replace(one, id=other.id), Reference("", (replace(other, id=one.id),)))
    assert found.ratio == pytest.approx(1 / inverse.ratio)
    assert found.low == pytest.approx(1 / inverse.high)
    assert found.low <= found.ratio <= found.high
