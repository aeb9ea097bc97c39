from __future__ import annotations

import asyncio
import itertools
import sys
from pathlib import Path

import pytest

from pathtrace.model.run import Ceiling
from pathtrace.probes import round_trip
from pathtrace.probes.round_trip import RoundTripProbe

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="advises the page cache")


def measured(files: list[tuple[str, int]]) -> Ceiling | None:
    ticks = itertools.count(0, 2_000_000)  # two looks at the clock per page, one at the deadline
    return asyncio.run(RoundTripProbe("round-trips:w", files, lambda: next(ticks), limit_s=0.06).measure())


def test_one_request_is_timed_and_with_it_pages_that_come_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(round_trip, "_read_ahead", lambda path: 16384)
    path = tmp_path / "weights"
    path.write_bytes(bytes(100_000))
    ceiling = measured([(str(path), 100_000)])
    assert ceiling is not None
    assert (ceiling.latency_s, ceiling.bytes_per_s) == (0.002, 16384 / 0.002)
    assert ceiling.evidence.endswith("p10 2 ms, p90 2 ms; 16 KiB are read for each page that is missing")


def test_a_mount_that_does_not_tell_its_read_ahead_leaves_the_rate_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(round_trip, "_read_ahead", lambda path: None)
    path = tmp_path / "weights"
    path.write_bytes(bytes(100_000))
    ceiling = measured([(str(path), 100_000)])
    assert ceiling is not None
    assert (ceiling.latency_s, ceiling.bytes_per_s) == (0.002, None)


def test_files_that_are_gone_or_shorter_than_a_page_give_no_figure(tmp_path: Path) -> None:
    assert measured([(str(tmp_path / "gone"), 100_000)]) is None
    assert measured([(str(tmp_path), 10)]) is None
