"""Stores that are full, not writable, damaged or of another version, and clocks that go back."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.command import pathtrace
from tests.scanning.nights import assert_sound, make_lab, scan

root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("mount") is None,
    reason="needs root, to mount a small file system",
)


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """The store on a file system of its own."""
    store = folder / "store"
    store.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(store)], check=True)
    try:
        yield store
    finally:
        subprocess.run(["umount", "-l", str(store)], check=True)


@root
@pytest.mark.needs_root
@pytest.mark.timeout(300)
def test_a_full_disk_costs_this_night_says_so_and_nothing_that_was_kept(tmp_path: Path) -> None:
    make_lab(tmp_path)
    with small_disk(tmp_path, "4m") as store:
        code, night, err = scan(tmp_path)
        assert code == 0, err
        whole = {night["run"]}
        for left in (0, 100_000, 530_000, 600_000):
            with (store / "ballast").open("wb", buffering=0) as ballast, contextlib.suppress(OSError):
                while True:
                    ballast.write(bytes(4096))
            size = (store / "ballast").stat().st_size
            os.truncate(store / "ballast", max(0, size - left))
            code, night, err = scan(tmp_path)
            assert code == 3 or left == 600_000, (left, err)
            assert "no space left on device" in err or code == 0
            assert "Traceback" not in err
            assert night["outcome"] in ("failed", "measured")
            (store / "ballast").unlink()
            assert_sound(tmp_path, whole)
        code, night, err = scan(tmp_path)
        assert code == 0, err
        assert_sound(tmp_path, whole | {night["run"]})


@root
@pytest.mark.needs_root
def test_a_store_that_is_read_only_is_said_and_nothing_in_it_changes(tmp_path: Path) -> None:
    make_lab(tmp_path)
    with small_disk(tmp_path, "16m") as store:
        assert scan(tmp_path)[0] == 0
        subprocess.run(["mount", "-o", "remount,ro", str(store)], check=True)
        before = sorted((path, path.stat().st_mtime_ns) for path in store.rglob("*"))
        code, night, err = scan(tmp_path)
        assert (code, night["outcome"]) == (3, "failed")
        assert "read-only file system" in err
        assert "Traceback" not in err
        assert sorted((path, path.stat().st_mtime_ns) for path in store.rglob("*")) == before


def test_a_clock_that_was_set_back_an_hour_leaves_nights_in_their_order(tmp_path: Path) -> None:
    store = make_lab(tmp_path)
    _, night, _ = scan(tmp_path)
    ahead = datetime.now(UTC) + timedelta(hours=1)
    earlier = f"{ahead:%Y%m%d-%H%M%S}-aaaa"  # as if it had been made before the clock was set back
    (store / night["run"]).rename(store / earlier)
    code, second, err = scan(tmp_path)
    assert code == 0, err
    code, third, err = scan(tmp_path)
    assert code == 0, err
    assert earlier < second["run"] < third["run"]
    assert third["against"] == "the median of the last 2 runs"
    assert pathtrace(store, "show", "last", "--json").out.count(third["run"]) > 0


def test_a_corrupt_run_among_the_nights_costs_itself_and_is_named(tmp_path: Path) -> None:
    store = make_lab(tmp_path)
    runs = [scan(tmp_path)[1]["run"] for _ in range(3)]
    (store / runs[0] / "run.json").write_text('{"id": ')
    (store / runs[1] / "facts.json").write_bytes(b"\0" * 100)
    (store / runs[1] / "scan.json").write_text("[]")
    for run in runs:
        os.utime(store / run)  # the index looks again at what was changed
    code, night, err = scan(tmp_path)
    assert code == 0, err
    named = {each["subject"] for each in night["caveats"]}
    assert {runs[0], runs[1]} <= named
    assert_sound(tmp_path, {runs[2], night["run"]})


def test_an_index_of_a_newer_version_is_left_alone_and_the_night_is_kept(tmp_path: Path) -> None:
    store = make_lab(tmp_path)
    scan(tmp_path)
    with contextlib.closing(sqlite3.connect(store / "history.sqlite")) as connection:
        connection.execute("PRAGMA user_version = 9999")
        connection.commit()
    code, night, err = scan(tmp_path)
    assert code == 3, err
    assert any("newer" in each["text"] for each in night["caveats"])
    assert (store / night["run"] / "run.json").exists()
    with contextlib.closing(sqlite3.connect(store / "history.sqlite")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (9999,)


@pytest.mark.parametrize("damage", [b"", b"not a database" * 1000], ids=["empty", "overwritten"])
def test_a_damaged_index_is_made_anew_from_the_run_folders(tmp_path: Path, damage: bytes) -> None:
    store = make_lab(tmp_path)
    run = scan(tmp_path)[1]["run"]
    (store / "history.sqlite").write_bytes(damage)
    code, night, err = scan(tmp_path)
    assert code == 0, err
    assert night["against"] == f"the run before, {run}"
    assert_sound(tmp_path, {run, night["run"]})
