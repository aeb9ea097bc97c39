import json
import math
import random
import statistics
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.analysis.ratios import between_runs, compare_times, detectable, repeats_needed, spread_of
from pathtrace.model.comparison import FASTER, SAME, SLOWER, UNCLEAR, Ratio

KEPT: dict[str, list[int]] = json.loads(
    (Path(__file__).parents[2] / "data" / "comparison" / "repeats.json").read_text()
)
STEADY = 30
"""The repeat from which the machine's other job had ended."""
PAIRS = 200
REPEATS = 5
OPPOSITE = {FASTER: SLOWER, SLOWER: FASTER, SAME: SAME, UNCLEAR: UNCLEAR}
SERIES = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=9)


def compared(before: list[float], after: list[float], between: float | None = None) -> Ratio:
    ratio = compare_times(before, after, between=between)
    assert ratio is not None
    return ratio


def verdicts(pair: Callable[[random.Random], Ratio]) -> Counter[str]:
    """Of 200 seeded pairs."""
    chance = random.Random(1)
    return Counter(pair(chance).verdict for _ in range(PAIRS))


def with_spread(values: list[int], spread: float) -> list[float]:
    """A real series' shape, tails and all, brought to another spread around 1."""
    logs = [math.log(value) for value in values]
    middle, deviation = statistics.median(logs), statistics.stdev(logs)
    return [math.exp((value - middle) / deviation * spread) for value in logs]


@given(SERIES)
def test_a_series_beside_itself_is_the_same_whatever_its_spread(values: list[float]) -> None:
    ratio = compared(values, values)
    assert (ratio.ratio, ratio.low, ratio.high, ratio.verdict) == (1.0, 1.0, 1.0, SAME)


@given(SERIES, SERIES)
def test_swapped_gives_the_inverse(before: list[float], after: list[float]) -> None:
    there, back = compared(before, after), compared(after, before)
    assert back.ratio == pytest.approx(1 / there.ratio)
    assert (back.low, back.high) == pytest.approx((1 / there.high, 1 / there.low))
    assert back.verdict == OPPOSITE[there.verdict]


@given(SERIES, SERIES, st.randoms())
def test_the_order_of_repeats_does_not_count(
    before: list[float], after: list[float], chance: random.Random
) -> None:
    shuffled = chance.sample(before, len(before))
    assert compared(shuffled, after) == compared(before, after)


@pytest.mark.parametrize("flow", ["index", "answer"])
def test_repeats_of_one_real_run_divided_by_chance_raise_few_false_alarms(flow: str) -> None:
    def pair(chance: random.Random) -> Ratio:
        drawn = [float(value) for value in chance.sample(KEPT[flow], 2 * REPEATS)]
        return compared(drawn[:REPEATS], drawn[REPEATS:])

    found = verdicts(pair)
    assert found[FASTER] + found[SLOWER] <= 0.05 * PAIRS


@pytest.mark.parametrize("flow", ["index", "answer"])
def test_real_runs_that_drift_raise_few_false_alarms_where_a_history_exists(flow: str) -> None:
    """The history is every second run, the pairs are of the others."""
    values = [float(value) for value in KEPT[flow][STEADY:]]
    runs = [values[at : at + REPEATS] for at in range(0, len(values), REPEATS)]
    between = between_runs([statistics.median(run) for run in runs[::2]])

    def pair(chance: random.Random) -> Ratio:
        before, after = chance.sample(runs[1::2], 2)
        return compared(before, after, between)

    found = verdicts(pair)
    assert found[FASTER] + found[SLOWER] <= 0.05 * PAIRS


def planted(slowdown: float, spread: float) -> Callable[[random.Random], Ratio]:
    def pair(chance: random.Random) -> Ratio:
        before = [chance.gauss(1, spread) for _ in range(REPEATS)]
        after = [(1 + slowdown) * chance.gauss(1, spread) for _ in range(REPEATS)]
        return compared(before, after)

    return pair


@pytest.mark.parametrize("spread", [0.005, 0.01, 0.02, 0.03])
def test_a_planted_slowdown_of_ten_per_cent_is_found_in_five_repeats(spread: float) -> None:
    found = verdicts(planted(0.10, spread))
    assert found[SLOWER] >= 0.9 * PAIRS
    assert found[FASTER] == 0


@pytest.mark.parametrize("flow", ["index", "answer"])
def test_where_times_have_a_real_shape_with_outliers_it_is_found_four_times_in_five(flow: str) -> None:
    values = with_spread(KEPT[flow][STEADY:], 0.03)

    def pair(chance: random.Random) -> Ratio:
        drawn = chance.sample(values, 2 * REPEATS)
        return compared(drawn[:REPEATS], [1.1 * value for value in drawn[REPEATS:]])

    found = verdicts(pair)
    assert found[SLOWER] >= 0.8 * PAIRS
    assert found[FASTER] == 0


def test_at_more_spread_it_is_mostly_unclear_and_the_repeats_that_it_would_take_find_it() -> None:
    spread = 0.08
    found = verdicts(planted(0.10, spread))
    assert found[UNCLEAR] > found[SLOWER]
    enough = repeats_needed(spread)
    assert enough == 24

    def with_enough(chance: random.Random) -> Ratio:
        before = [chance.gauss(1, spread) for _ in range(enough)]
        return compared(before, [1.1 * chance.gauss(1, spread) for _ in range(enough)])

    assert verdicts(with_enough)[SLOWER] >= 0.85 * PAIRS


def test_what_could_have_been_seen_is_said() -> None:
    ratio = compared([1.0, 1.05, 0.9, 1.2, 0.85], [1.1, 0.95, 1.0, 1.25, 0.9])
    assert ratio.verdict == UNCLEAR
    assert ratio.detectable == pytest.approx(0.405, abs=1e-3)
    assert ratio.repeats_needed == 64
    assert detectable(0.03, 5, 5) == pytest.approx(0.082, abs=1e-3)


def test_small_effects_are_the_same_however_sure() -> None:
    assert compared([1.0, 1.001, 0.999], [1.03, 1.031, 1.029]).verdict == SAME
    assert compared([1.0, 1.001, 0.999], [1.06, 1.061, 1.059]).verdict == SLOWER
    assert compared([1.06, 1.061, 1.059], [1.0, 1.001, 0.999]).verdict == FASTER


def test_two_repeats_are_too_few_for_a_verdict() -> None:
    assert compared([1.0, 1.0], [9.0, 9.0]).verdict == UNCLEAR


def test_a_history_that_varies_more_than_the_change_makes_it_unclear() -> None:
    before, after = [1.0, 1.01, 0.99, 1.0, 1.0], [1.2, 1.21, 1.19, 1.2, 1.2]
    assert compared(before, after).verdict == SLOWER
    assert compared(before, after, between_runs([1.0, 1.3, 0.8])).verdict == UNCLEAR
    assert between_runs([1.0, 1.3]) is None


def test_nothing_is_said_of_nothing() -> None:
    assert compare_times([], [1.0]) is None
    assert compare_times([0.0], [1.0]) is None
    assert spread_of([1.0]) is None
