from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest

from pathtrace.model.run import Ceiling
from pathtrace.probes import fsync
from pathtrace.probes.fsync import FsyncProbe


def test_the_median_commit_is_reported_and_no_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []

    def fdatasync(descriptor: int) -> None:
        synced.append(descriptor)

    monkeypatch.setattr(fsync, "_sync", fdatasync)
    ticks = itertools.count(0, 5_000_000)  # two looks at the clock per commit

    ceiling = asyncio.run(FsyncProbe("commit:library", tmp_path, lambda: next(ticks), limit_s=0.1).measure())

    assert ceiling == Ceiling(
        resource="commit:library",
        bytes_per_s=None,
        operations_per_s=200.0,
        latency_s=0.005,
        source="measured",
        evidence="append of 4 KiB and fdatasync, 10 times: p10 5 ms, p90 5 ms",
        took_s=0.11,
    )
    assert len(synced) == 10
    assert list(tmp_path.iterdir()) == []


def test_a_real_folder_has_a_commit_latency(tmp_path: Path) -> None:
    ticks = itertools.count(0, 20_000_000)

    ceiling = asyncio.run(FsyncProbe("commit:library", tmp_path, lambda: next(ticks)).measure())

    assert ceiling is not None
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_has_none(tmp_path: Path) -> None:
    ticks = itertools.count()

    assert asyncio.run(FsyncProbe("commit:library", tmp_path / "gone", lambda: next(ticks)).measure()) is None
