"""What recording costs, and whether a run says so truly."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from pathtrace.model.scenario import Access, Place
from pathtrace.replay.operations import Draw, hand_over
from tests.bench.conftest import Sizes
from tests.bench.ledger import Ledger, by_turns
from tests.bench.streams import Pass, Took
from tests.places.files_described import described

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]


def test_recording_small_warm_files_costs_little(
    ledger: Ledger, sizes: Sizes, small_files: Path, tmp_path: Path
) -> None:
    """Measured on the whole: the same reads recorded, and with their samples thrown away.

    CPU seconds rather than elapsed time: they do not count what neighbours on the machine take away.
    """
    pairs = taken(described(small_files), tmp_path, 3 * sizes.pairs)
    costs = [100 * (recorded.cpu_s - bare.cpu_s) / bare.wall_s for recorded, bare in pairs]
    ledger.at_most("recording, small files, warm", costs, 5, " %")


def test_recording_costs_next_to_nothing_elsewhere_and_a_run_says_so_truly(
    ledger: Ledger, sizes: Sizes, small_files: Path, long_file: Path, tmp_path: Path
) -> None:
    """The cost of a sample, from pairs of the same engine that only hands on, so that recording is most
    of the difference; then its share in what reading takes. On the whole it would drown in the noise."""
    pairs = taken(described(small_files), tmp_path, 3 * sizes.pairs, hand_over)
    costs_s = [(recorded.cpu_s - bare.cpu_s) / sizes.files for recorded, bare in pairs]
    for name, place, operations, most in (
        ("small files, off the disk", described(small_files, access=Access.DIRECT), sizes.files, 1),
        ("sequential, warm", described(long_file, data="weights"), sizes.file_bytes >> 20, 5),
        ("sequential, direct", described(long_file, access=Access.DIRECT), sizes.file_bytes >> 20, 1),
    ):
        wall_s = statistics.median(bare.wall_s for _, bare in taken(place, tmp_path, 3))
        shares = [100 * cost_s * operations / wall_s for cost_s in costs_s]
        ledger.at_most(f"recording, {name}", shares, most, " %")
    ratios = [(recorded.cpu_s - bare.cpu_s) / recorded.own_s for recorded, bare in pairs]
    ledger.between("recording cost, measured / as stated", ratios, 1 / 1.5, 1.5)


def taken(place: Place, scratch: Path, pairs: int, draw: Draw | None = None) -> list[tuple[Took, Took]]:
    ours = Pass(place, scratch, draw)
    try:
        ours.recorded()
        return by_turns(pairs, ours.recorded, ours.discarded)
    finally:
        ours.close()
