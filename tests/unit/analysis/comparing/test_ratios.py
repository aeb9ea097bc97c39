import itertools
import json
import math
import random
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.analysis.comparing.noise_floor import Floor, between_runs, noise_floor
from pathtrace.analysis.comparing.ratios import compare_times, detectable, repeats_needed, spread_of
from pathtrace.model.comparison import FASTER, HISTORY, SAME, SLOWER, UNCLEAR, ActivityPair, Ratio

DATA = Path(__file__).parents[3] / "data" / "comparison"
KEPT: dict[str, list[int]] = json.loads((DATA / "repeats.json").read_text())
BUSY: dict[str, Any] = json.loads((DATA / "busy_runs.json").read_text())
KINDS = ["files", "insert", "command"]
STEADY = 30
"""The repeat from which the machine's other job had ended."""
PAIRS = 200
REPEATS = 5
OPPOSITE = {FASTER: SLOWER, SLOWER: FASTER, SAME: SAME, UNCLEAR: UNCLEAR}
SERIES = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=9)


class Block(NamedTuple):
    """Repeats that were made one after the other, and what others took of the CPU meanwhile."""

    took_us: list[int]
    others_percent: float


def compared(before: Sequence[float], after: Sequence[float], between: float | None = None) -> Ratio:
    ratio = compare_times(before, after, None if between is None else Floor(between, HISTORY))
    assert ratio is not None
    return ratio


def beside(before: Block, after: Block, *, slowdown: float = 0.0) -> Ratio:
    """As two runs without a history are compared."""
    busy = ActivityPair("here", (before.others_percent, after.others_percent), (None, None), (None, None))
    slower = [value * (1 + slowdown) for value in after.took_us]
    ratio = compare_times(before.took_us, slower, noise_floor(None, [busy]))
    assert ratio is not None
    return ratio


def block(kind: str, first: int) -> Block:
    """Five consecutive repeats of the one long run."""
    took = BUSY["long"][kind]["took_us"][first : first + REPEATS]
    others = BUSY["long"][kind]["others_percent"][first : first + REPEATS]
    share = sum(one * other for one, other in zip(took, others, strict=True)) / sum(took)
    return Block(took, share)


def two(chance: random.Random, runs: list[Block]) -> tuple[Block, Block]:
    before, after = chance.sample(runs, 2)
    return before, after


def short_runs(kind: str) -> list[Block]:
    return [Block(run["took_us"], run["others_percent"]) for run in BUSY["runs"][kind]]


def verdicts(pair: Callable[[random.Random], Ratio]) -> Counter[str]:
    """Of 200 seeded pairs."""
    chance = random.Random(1)
    return Counter(pair(chance).verdict for _ in range(PAIRS))


def with_spread(values: list[int], spread: float) -> list[float]:
    """A real series' shape, tails and all, brought to another spread around 1."""
    logs = [math.log(value) for value in values]
    middle, deviation = statistics.median(logs), statistics.stdev(logs)
    return [math.exp((value - middle) / deviation * spread) for value in logs]


@settings(deadline=None)
@given(SERIES)
def test_a_series_beside_itself_is_the_same_whatever_its_spread(values: list[float]) -> None:
    ratio = compared(values, values)
    assert (ratio.ratio, ratio.low, ratio.high, ratio.verdict) == (1.0, 1.0, 1.0, SAME)


@settings(deadline=None)
@given(SERIES, SERIES)
def test_swapped_gives_the_inverse(before: list[float], after: list[float]) -> None:
    there, back = compared(before, after), compared(after, before)
    assert back.ratio == pytest.approx(1 / there.ratio)
    assert (back.low, back.high) == pytest.approx((1 / there.high, 1 / there.low))
    assert back.verdict == OPPOSITE[there.verdict]


@settings(deadline=None)
@given(SERIES, SERIES, st.randoms())
def test_the_order_of_repeats_does_not_count(
    before: list[float], after: list[float], chance: random.Random
) -> None:
    shuffled = chance.sample(before, len(before))
    assert astuple(compared(shuffled, after)) == pytest.approx(astuple(compared(before, after)))


@pytest.mark.parametrize("flow", ["index", "answer"])
def test_repeats_of_one_real_run_divided_by_chance_raise_few_false_alarms(flow: str) -> None:
    def pair(chance: random.Random) -> Ratio:
        drawn = [float(value) for value in chance.sample(KEPT[flow], 2 * REPEATS)]
        return compared(drawn[:REPEATS], drawn[REPEATS:])

    found = verdicts(pair)
    assert found[FASTER] + found[SLOWER] <= 0.05 * PAIRS


@pytest.mark.parametrize("kind", KINDS)
def test_consecutive_repeats_of_one_real_run_without_a_history_raise_few_false_alarms(kind: str) -> None:
    last = len(BUSY["long"][kind]["took_us"]) - 2 * REPEATS

    def pair(chance: random.Random) -> Ratio:
        first = chance.randint(0, last)
        return beside(block(kind, first), block(kind, first + REPEATS))

    found = verdicts(pair)
    assert found[FASTER] + found[SLOWER] <= 0.05 * PAIRS


@pytest.mark.parametrize("kind", KINDS)
def test_repeats_from_anywhere_in_one_real_run_raise_few_false_alarms(kind: str) -> None:
    last = len(BUSY["long"][kind]["took_us"]) - REPEATS

    def pair(chance: random.Random) -> Ratio:
        return beside(block(kind, chance.randint(0, last)), block(kind, chance.randint(0, last)))

    found = verdicts(pair)
    assert found[FASTER] + found[SLOWER] <= 0.05 * PAIRS


@pytest.mark.parametrize("kind", KINDS)
def test_real_runs_one_after_the_other_or_at_random_raise_few_false_alarms(kind: str) -> None:
    runs = short_runs(kind)
    neighbours = Counter(beside(*pair).verdict for pair in itertools.pairwise(runs))
    assert neighbours[FASTER] + neighbours[SLOWER] <= 0.05 * len(runs)
    found = verdicts(lambda chance: beside(*two(chance, runs)))
    assert found[FASTER] + found[SLOWER] <= 0.05 * PAIRS


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_five_times_as_slow_is_found_where_others_take_half_of_the_cpu(kind: str) -> None:
    """What other work may do hides small changes, not large ones."""
    runs = [run for run in short_runs(kind) if run.others_percent <= 60]
    found = verdicts(lambda chance: beside(*two(chance, runs), slowdown=4.0))
    assert found[SLOWER] >= 0.9 * PAIRS


def test_a_slowdown_of_ten_per_cent_is_found_where_others_took_nearly_nothing() -> None:
    """Repeats of the long run of a command while the machine was left alone; they spread by 2.5 %."""
    kept = BUSY["long"]["command"]
    quiet = [took for took, other in zip(kept["took_us"], kept["others_percent"], strict=True) if other <= 2]
    assert len(quiet) == 20

    def pair(chance: random.Random, slowdown: float) -> Ratio:
        drawn = chance.sample(quiet, 2 * REPEATS)
        return beside(Block(drawn[:REPEATS], 2), Block(drawn[REPEATS:], 2), slowdown=slowdown)

    assert verdicts(lambda chance: pair(chance, 0.1))[SLOWER] >= 0.9 * PAIRS
    left = verdicts(lambda chance: pair(chance, 0.0))
    assert left[FASTER] + left[SLOWER] <= 0.05 * PAIRS


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
def test_where_times_have_a_real_shape_with_outliers_it_is_found_as_well(flow: str) -> None:
    values = with_spread(KEPT[flow][STEADY:], 0.03)

    def pair(chance: random.Random) -> Ratio:
        drawn = chance.sample(values, 2 * REPEATS)
        return compared(drawn[:REPEATS], [1.1 * value for value in drawn[REPEATS:]])

    found = verdicts(pair)
    assert found[SLOWER] >= 0.9 * PAIRS
    assert found[FASTER] == 0


def test_at_more_spread_it_is_mostly_unclear_and_the_repeats_that_it_would_take_find_it() -> None:
    spread = 0.08
    found = verdicts(planted(0.10, spread))
    assert found[UNCLEAR] > found[SLOWER]
    enough = repeats_needed(spread)
    assert enough == 21

    def with_enough(chance: random.Random) -> Ratio:
        before = [chance.gauss(1, spread) for _ in range(enough)]
        return compared(before, [1.1 * chance.gauss(1, spread) for _ in range(enough)])

    assert verdicts(with_enough)[SLOWER] >= 0.85 * PAIRS


def test_what_could_have_been_seen_is_said() -> None:
    ratio = compared([1.0, 1.05, 0.9, 1.2, 0.85], [1.1, 0.95, 1.0, 1.25, 0.9])
    assert ratio.verdict == UNCLEAR
    assert ratio.detectable == pytest.approx(0.412, abs=1e-3)
    assert ratio.repeats_needed == 55
    assert detectable(0.03, 5, 5) == pytest.approx(0.082, abs=1e-3)
    assert detectable(0.03, 5, 5, math.log(1.3)) == pytest.approx(0.337, abs=1e-3)


def test_no_number_of_repeats_shows_what_like_runs_differ_by_anyway() -> None:
    assert repeats_needed(0.03, math.log(1.11)) is None
    assert repeats_needed(0.03, math.log(1.09)) == 47
    assert repeats_needed(0.0) == 5


def test_a_trend_within_many_repeats_makes_the_interval_wider() -> None:
    """Neighbours that are alike say less than values that are not: the same values, in another order."""
    rising = [1 + 0.01 * at for at in range(12)]
    mixed = random.Random(1).sample(rising, len(rising))
    flat = [1.2 + 0.001 * (at % 3) for at in range(12)]
    wide, narrow = (compared(each, flat) for each in (rising, mixed))
    assert wide.high - wide.low > 1.3 * (narrow.high - narrow.low)


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
