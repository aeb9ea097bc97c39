"""How fast the read path is beside a peer that does nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from pathtrace.model.scenario import Access, Place
from pathtrace.places.page_cache import fill
from tests.bench.conftest import Sizes
from tests.bench.fio import fio_rate
from tests.bench.ledger import Ledger, by_turns
from tests.bench.streams import Pass, bare_pool, fed_pool
from tests.places.files_described import described

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

BLOCK = 1 << 20
THREADS = 2


@pytest.mark.parametrize("depth", [1, 4])
def test_direct_sequential_reads_keep_up_with_fio(
    ledger: Ledger, sizes: Sizes, long_file: Path, tmp_path: Path, depth: int
) -> None:
    place = described(long_file, access=Access.DIRECT, block_bytes=BLOCK, depth=depth)
    ratios = sequential(place, long_file, tmp_path, sizes.pairs, depth, direct=True)
    ledger.at_least(f"sequential, cold, direct, depth {depth} / fio", ratios, 0.95)


def test_warm_sequential_reads_keep_up_with_fio(
    ledger: Ledger, sizes: Sizes, long_file: Path, tmp_path: Path
) -> None:
    """Out of memory the call for a block of 1 MiB takes about 35 µs, what its thread does besides 5; making
    samples takes 3, after the window."""
    fill(bytes(long_file), sizes.file_bytes, lambda: False)
    place = described(long_file, access=Access.READ, block_bytes=BLOCK, data="weights")
    ratios = sequential(place, long_file, tmp_path, sizes.pairs, 1, direct=False)
    ledger.at_least("sequential, warm / fio", ratios, 0.95)


def sequential(
    place: Place, path: Path, scratch: Path, pairs: int, depth: int, *, direct: bool
) -> list[float]:
    """Ours as a run would report it, fio's as fio does: neither counts what it does after the last byte."""
    ours = Pass(place, scratch)
    size = path.stat().st_size
    try:
        ours.recorded()
        results = by_turns(
            pairs,
            lambda: size / ours.recorded().window_s,
            lambda: fio_rate(path, block_bytes=BLOCK, depth=depth, direct=direct),
        )
    finally:
        ours.close()
    return [mine / theirs for mine, theirs in results]


def test_small_files_are_read_as_fast_as_by_a_bare_thread_pool(
    ledger: Ledger, sizes: Sizes, small_files: Path, tmp_path: Path
) -> None:
    ours = Pass(described(small_files, workers=THREADS), tmp_path)
    try:
        paths = ours.paths()
        bare_pool(paths, THREADS)
        pairs = by_turns(sizes.pairs, lambda: ours.recorded().wall_s, lambda: bare_pool(paths, THREADS))
        fed = by_turns(sizes.pairs, lambda: ours.recorded().wall_s, lambda: fed_pool(paths, THREADS))
    finally:
        ours.close()
    ledger.at_least("small files, warm, recorded / bare pool", [bare / mine for mine, bare in pairs], 0.8)
    # No bar was set beside a pool that is fed many files at once, has no queues and no event loop.
    ledger.at_least("small files, warm, recorded / pool fed 64", [bare / mine for mine, bare in fed], 0.0)
