"""What each further byte of small operations takes, found again in noise; and when nothing can be said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from pathtrace.analysis.assembly import measured_flows
from pathtrace.analysis.predicting.marginal_time import marginal_time
from pathtrace.model.sample import SampleTable
from tests.unit.analysis import far

COUNT = 600
SMALL = far.Way(took_ms=1, each=16_384, blocks=COUNT)
NS_A_BYTE = 8.5


def slope_s(sizes: Callable[[np.random.Generator], np.ndarray], seed: int = 1) -> float | None:
    """Of operations that take 0.8 ms, by a fifth more or less, and some time for each byte."""
    run, random = far.run(SMALL), np.random.default_rng(seed)
    rows = run.samples.rows.copy()
    mine = rows["stage"] == 0
    drawn = sizes(random)
    rows["bytes"][mine] = drawn
    rows["elapsed_ns"][mine] = random.normal(800_000, 160_000, COUNT) + NS_A_BYTE * drawn
    evidence, [study] = measured_flows(replace(run, samples=SampleTable(rows)))
    return marginal_time(study.stages[0], study, evidence)


@pytest.mark.parametrize("seed", range(20))
def test_it_is_no_less_than_what_was_planted_and_not_much_more(seed: int) -> None:
    found = slope_s(lambda random: random.integers(4_000, 60_000, COUNT), seed)
    assert found is not None
    assert 0.98 * NS_A_BYTE <= found * 1e9 <= 1.4 * NS_A_BYTE


def test_operations_of_one_size_tell_nothing() -> None:
    assert slope_s(lambda random: random.integers(16_000, 17_000, COUNT)) is None


def test_large_operations_are_not_looked_at() -> None:
    """A tenth of them has most of the bytes."""

    def sizes(random: np.random.Generator) -> np.ndarray:
        drawn = random.integers(4_000, 60_000, COUNT)
        return np.where(random.random(COUNT) < 0.1, 5_000_000, drawn)

    assert slope_s(sizes) is None
