"""What recording costs, and whether a run says so truly."""

from __future__ import annotations

from pathlib import Path

import pytest

from pathtrace.model.scenario import Access, Place
from pathtrace.replay.stream import hand_over
from tests.bench.conftest import Sizes
from tests.bench.ledger import Ledger, by_turns
from tests.bench.streams import Pass, Took
from tests.places.files_described import described

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]


def costs(pairs: list[tuple[Took, Took]]) -> list[float]:
    """CPU seconds of recording, in percent of the time that the work takes without it.

    CPU rather than elapsed time: it does not count what neighbours on the machine take away.
    """
    return [100 * (recorded.cpu_s - bare.cpu_s) / bare.wall_s for recorded, bare in pairs]


def taken(place: Place, scratch: Path, pairs: int) -> list[tuple[Took, Took]]:
    ours = Pass(place, scratch)
    try:
        ours.recorded()
        return by_turns(pairs, ours.recorded, ours.discarded)
    finally:
        ours.close()


def test_recording_small_warm_files_costs_little(
    ledger: Ledger, sizes: Sizes, small_files: Path, tmp_path: Path
) -> None:
    pairs = taken(described(small_files), tmp_path, 3 * sizes.pairs)
    ledger.at_most("recording, small files, warm", costs(pairs), 5, " %")


def test_recording_costs_next_to_nothing_where_a_disk_is_read(
    ledger: Ledger, sizes: Sizes, small_files: Path, long_file: Path, tmp_path: Path
) -> None:
    pairs = taken(described(small_files, access=Access.DIRECT), tmp_path, sizes.pairs)
    ledger.at_most("recording, small files, off the disk", costs(pairs), 1, " %")
    pairs = taken(described(long_file, access=Access.READ, data="weights"), tmp_path, sizes.pairs)
    ledger.at_most("recording, sequential, warm", costs(pairs), 1, " %")


def test_a_run_states_its_own_recording_cost_truly(
    ledger: Ledger, sizes: Sizes, small_files: Path, tmp_path: Path
) -> None:
    """Against the same engine that only hands on, so that recording is most of the difference."""
    ours = Pass(described(small_files), tmp_path, hand_over)
    try:
        ours.recorded()
        pairs = by_turns(3 * sizes.pairs, ours.recorded, ours.discarded)
    finally:
        ours.close()
    ratios = [(recorded.cpu_s - bare.cpu_s) / recorded.own_s for recorded, bare in pairs]
    ledger.at_most("recording cost, measured / as stated", ratios, 1.5)
    ledger.entries.pop()  # one line, held from both sides
    ledger.at_least("recording cost, measured / as stated", ratios, 1 / 1.5)
