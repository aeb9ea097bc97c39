"""Two years of nights in the shape of kept ones: what is planted is told rightly and once.

Two sets were kept, each as wide as it is: runs between the lab's hosts on a machine that did nothing else, in
which changes must be found, and runs on a machine that others used meanwhile, in which nothing must be told.
Drawn in blocks (Politis and Romano, The Stationary Bootstrap, 1994) they keep their levels and what flows
have in common.
"""

from __future__ import annotations

import math
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pathtrace.analysis.nightly.nights import changes
from pathtrace.model.history import CREEP, ENDED, GROWTH, NEW, OUTAGE, STEP
from tests.unit.analysis.made_nights import (
    INDEX,
    INSERT,
    LINK,
    NAMES,
    Floats,
    Heard,
    heard,
    made,
    plus,
    run_id,
)

KEPT = Path(__file__).parents[2] / "data" / "nights"
NIGHTS = 730
BLOCK = 5
LAB, BUSY = "lab", "quickstart"
KEPT_NAMES = {
    LAB: "load load/weights->reader index index/archive->indexer index/indexer->library",
    BUSY: "load load/weights->model index index/documents->chunker index/chunker->library",
}
AS_KEPT = {
    "index": (2, 0),
    "index/archive->indexer": (3, 0),
    "index/indexer->embedder": (3, 1),
    "index/embedder->library": (4, 0),
    "load": (0, 0),
    "load/weights->model": (1, 0),
    "answer": (5, 0),
    "answer/library->model": (6, 1),
    "answer/model->people": (6, 0),
}
"""The kept series, by its place, that each is made of; of what was not kept, from nights of its own (1)."""
LOAD, FILL = "load/weights->model", "index/embedder->library"


@cache
def kept(machine: str) -> tuple[list[str], Floats]:
    """Names, and logarithms by night, name and (median, low, high)."""
    text = (KEPT / f"{machine}.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    nights = [[[float(each) for each in cell.split()] for cell in line.split(";")[1:]] for line in lines[1:]]
    return lines[0].split(";")[1:], np.log(nights)


def drawn(nights: int, seed: int, machine: str = LAB) -> tuple[Floats, Floats]:
    """What nights differ by, and half of their own intervals' widths: logarithms by night and name."""
    logs = kept(machine)[1]
    random = np.random.default_rng(seed)
    order = [_blocks(nights, len(logs), random) for _ in range(2)]
    found = np.stack([logs[order[which], at] for at, which in AS_KEPT.values()], axis=1)
    levels = np.median(logs[:, [at for at, _ in AS_KEPT.values()], 0], axis=0)
    return found[:, :, 0] - levels, (found[:, :, 2] - found[:, :, 1]) / 2


def _blocks(nights: int, of: int, random: np.random.Generator) -> list[int]:
    order: list[int] = []
    while len(order) < nights:
        start = int(random.integers(of))
        order += [(start + step) % of for step in range(int(random.geometric(1 / BLOCK)))]
    return order[:nights]


def weeks(since: int) -> Floats:
    return np.maximum(0, np.arange(NIGHTS) - since) / 7


def of(found: list[Heard], names: set[str]) -> list[Heard]:
    """What was told of some flows and hops."""
    return [each for each in found if each.change.name in names]


@pytest.mark.parametrize("machine", [LAB, BUSY])
def test_the_kept_nights_are_there_with_every_series(machine: str) -> None:
    names, logs = kept(machine)
    assert names == [*KEPT_NAMES[machine].split(), "answer", "answer/library->people"]
    assert {at for at, _ in AS_KEPT.values()} == set(range(len(names)))
    assert logs.shape == (39, 7, 3)
    assert tuple(AS_KEPT) == NAMES


@pytest.mark.parametrize("machine", [LAB, BUSY])
@pytest.mark.parametrize("group", range(5))
def test_half_years_without_a_change_tell_one_in_two_or_less(group: int, machine: str) -> None:
    """Ten in each group, 50 in all, from the first night on."""
    told = []
    for seed in range(10 * group, 10 * group + 10):
        noise, own = drawn(180, seed, machine)
        told.append(sum(each.change.state == NEW for each in heard(made(noise, own=own))))
    assert sum(told) <= 5, told


@pytest.mark.parametrize("seed", range(2))
def test_a_step_of_15_percent_in_two_years_is_told_once_and_when_it_ends(seed: int) -> None:
    noise, own = drawn(NIGHTS, seed)
    found = of(heard(made(plus(noise, LINK, math.log(1.15), 400, 600), own=own), first=300), LINK)
    assert [each.words[1:] for each in found] == [(STEP, NEW, LOAD), (STEP, ENDED, LOAD)]
    assert 403 <= found[0].night <= 407
    assert 603 <= found[1].night <= 607
    assert found[0].change.ratio == pytest.approx(1.15, abs=0.04)


@pytest.mark.parametrize("seed", range(8))
def test_it_is_told_within_a_week_whatever_the_nights(seed: int) -> None:
    noise, own = drawn(440, seed)
    (found,) = of(heard(made(plus(noise, LINK, math.log(1.15), 400), own=own), first=390), LINK)
    assert found.words[1:] == (STEP, NEW, LOAD)
    assert 403 <= found.night <= 407


def test_the_wider_nights_are_the_longer_it_takes() -> None:
    """Runs of index differ by 3 %, the repeats of each by 5 %; those of the link by a tenth of a percent."""
    waited = []
    for seed in range(10):
        noise, own = drawn(500, seed)
        found = of(heard(made(plus(noise, INSERT, math.log(1.15), 400), own=own), first=395), INDEX)
        waited += [each.night - 400 for each in found if each.change.state == NEW][:1]
    assert len(waited) >= 9
    assert 4 <= np.median(waited) <= 14


@pytest.mark.parametrize("seed", range(4))
def test_a_creep_of_1_percent_a_week_is_told_once_as_a_creep(seed: int) -> None:
    noise, own = drawn(NIGHTS, seed)
    entries = made(plus(noise, LINK, weeks(365) * math.log(1.01)), own=own)
    (found,) = of(heard(entries, first=350), LINK)
    assert found.words[1:] == (CREEP, NEW, LOAD)
    assert found.change.per_week is not None
    assert 1.005 < found.change.per_week < 1.02
    assert 365 + 4 * 7 <= found.night <= 365 + 14 * 7


@pytest.mark.parametrize("seed", range(3))
def test_an_index_that_grows_is_told_once_as_growth(seed: int) -> None:
    noise, own = drawn(NIGHTS, seed)
    more = weeks(200) * math.log(1.01)
    entries = made(plus(noise, INDEX, more), work=plus(np.zeros_like(noise), INDEX, more), own=own)
    found = of(heard(entries, first=190), INDEX)
    assert [each.words[1:3] for each in found] == [(GROWTH, NEW)]
    assert 200 + 4 * 7 <= found[0].night <= 200 + 20 * 7


@pytest.mark.parametrize("seed", range(4))
def test_one_bad_night_is_not_told(seed: int) -> None:
    noise, own = drawn(420, seed)
    bad = made(plus(noise, NAMES, 1.0, 400, 401), own=own)
    usual = made(noise, own=own)
    assert [each.words for each in heard(bad, first=395)] == [each.words for each in heard(usual, first=395)]


@pytest.mark.parametrize("seed", range(4))
def test_a_link_that_is_dead_for_three_nights_is_told_once_and_when_it_is_back(seed: int) -> None:
    noise, own = drawn(420, seed)
    entries = made(noise, own=own, missing=LINK, dead=(400, 401, 402))
    new, ended = of(heard(entries, first=395), LINK)
    assert (new.words, ended.words) == ((401, OUTAGE, NEW, "load"), (404, OUTAGE, ENDED, "load"))
    assert new.change.since == ended.change.since == run_id(400)


def test_repeats_that_differ_much_make_a_night_count_less() -> None:
    noise = drawn(120, 1)[0]
    found = [
        [each.night for each in heard(made(plus(noise, LINK, math.log(1.15), 100), own=own), first=95)]
        for own in (0.02, 0.4)
    ]
    (told,), nothing = found
    assert 103 <= told <= 107
    assert nothing == []


def test_a_night_of_two_years_is_judged_in_a_moment() -> None:
    noise, own = drawn(NIGHTS, 1)
    entries = made(plus(noise, LINK, weeks(365) * math.log(1.01)), own=own)
    began = time.process_time()
    for count in range(NIGHTS - 9, NIGHTS + 1):
        changes(entries[:count])
    assert (time.process_time() - began) / 10 < 0.3
