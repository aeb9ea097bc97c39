from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.probes.slices import Figures, Group, Stretch, Timed, groups, stretches

MIB = 1 << 20
files = st.lists(st.integers(1, 100 * MIB), min_size=1, max_size=5).map(
    lambda sizes: [(f"/f{n}", size) for n, size in enumerate(sizes)]
)


@given(files, st.integers())
def test_stretches_cover_every_block_once(files: list[tuple[str, int]], seed: int) -> None:
    found = stretches(files, MIB, random.Random(seed))

    blocks = sorted((stretch.path, offset) for stretch in found for offset in stretch.offsets)
    assert blocks == sorted((path, at) for path, size in files for at in range(0, size, MIB))
    assert all(
        stretch.offsets == tuple(range(stretch.offsets[0], stretch.offsets[-1] + 1, MIB)) for stretch in found
    )


def test_stretches_begin_anywhere_in_the_file_and_the_short_rest_comes_last() -> None:
    found = stretches([("/f", 1000 * MIB + 1)], MIB, random.Random(1))

    assert found[0].offsets[0] > 16 * MIB
    assert found[-1] == Stretch("/f", tuple(range(992 * MIB, 1000 * MIB + 1, MIB)))


def test_the_same_seed_draws_the_same_order() -> None:
    assert stretches([("/f", 99 * MIB)], MIB, random.Random(3)) == stretches(
        [("/f", 99 * MIB)], MIB, random.Random(3)
    )


def test_every_file_is_in_one_group() -> None:
    names = [f"/{n}" for n in range(130)]

    found = groups([(name, 1) for name in names], random.Random(1))

    assert [len(group.paths) for group in found] == [64, 64, 2]
    assert sorted(path for group in found for path in group.paths) == sorted(names)
    assert found[0] != Group(tuple(names[:64]))


def test_one_lucky_slice_does_not_make_the_figure() -> None:
    slices = tuple(Timed(100_000_000, int(1e9 / speed), (10_000_000,) * 2) for speed in (1, 1.1, 30))

    figures = Figures(4, slices)

    assert figures.bytes_per_s == pytest.approx(110_000_000)
    assert figures.latency_s == 0.01
    assert figures.text() == "depth 4: 110 MB/s, 2.2/s (100 MB/s to 3000 MB/s over 3 slices)"


def test_a_single_slice_has_no_spread_and_says_so() -> None:
    figures = Figures(1, (Timed(100_000_000, 1_000_000_000, (10_000_000,) * 2),))

    assert figures.text() == "depth 1: 100 MB/s, 2/s (one slice: how much it varies was not seen)"
