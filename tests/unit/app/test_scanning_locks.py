"""Locks that a dead scan does not leave behind, and words on who holds them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pathtrace.app.scanning_locks import HOST_LOCK, STORE_LOCK, ScanLocks, holder, lock_folder
from pathtrace.errors import StoreError

HOLD = """
import sys, time
from pathlib import Path
from pathtrace.app.scanning_locks import ScanLocks
locks = ScanLocks(Path(sys.argv[1]), Path(sys.argv[2]), "archive")
assert locks.take() is None
print("held", flush=True)
time.sleep(60)
"""


def locks_of(store: Path, host: Path, scenario: str = "lab") -> ScanLocks:
    return ScanLocks(store, host, scenario)


def test_the_second_scan_of_a_host_is_told_who_scans(tmp_path: Path) -> None:
    with (
        locks_of(tmp_path / "one", tmp_path, "archive") as first,
        locks_of(tmp_path / "two", tmp_path) as other,
    ):
        assert first.take() is None
        said = other.take()
        assert said is not None
        assert said.startswith(f"the scan of archive (pid {os.getpid()} on ")
        first.release()
        assert other.take() is None


def test_the_second_scan_of_a_store_from_another_host_is_told_who_scans(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with locks_of(store, tmp_path / "here", "archive") as first, locks_of(store, tmp_path / "there") as other:
        assert first.take() is None
        assert "archive" in (other.take() or "")
        with locks_of(tmp_path / "else", tmp_path / "there") as third:
            assert third.take() is None, "who gets one lock only keeps none"


def test_a_scan_that_is_killed_leaves_no_lock(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path / "store"), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with locks_of(tmp_path / "store", tmp_path) as locks:
            assert f"pid {process.pid} " in (locks.take() or "")
            process.kill()
            process.wait()
            assert locks.take() is None


def test_a_lock_file_that_was_tidied_away_meanwhile_lets_nobody_in_twice(tmp_path: Path) -> None:
    with locks_of(tmp_path / "store", tmp_path) as locks:
        assert locks.take() is None
        locks.release()
        (tmp_path / HOST_LOCK).unlink()
        assert locks.take() is None
        with locks_of(tmp_path / "store", tmp_path) as other:
            assert other.take() is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[1]",
        "[" * 2000,
        '{"pid": 1, "host": "a\\u001b[31m", "since": "2026-01-01T02:00:00", "scenario": ""}',
        '{"pid": 1, "host": "nas", "since": "0001-01-01T00:00:00+23:59", "scenario": ""}',
    ],
)
def test_what_stands_in_a_lock_file_is_not_trusted(tmp_path: Path, text: str) -> None:
    (tmp_path / "lock").write_text(text)
    assert holder(tmp_path / "lock") == "another scan"


def test_the_lock_of_a_host_may_be_taken_by_each_of_its_users_in_turn(tmp_path: Path) -> None:
    with locks_of(tmp_path / "store", tmp_path / "run") as locks:
        assert locks.take() is None
    assert stat.S_IMODE((tmp_path / "run" / HOST_LOCK).stat().st_mode) == 0o666
    (tmp_path / "run" / HOST_LOCK).chmod(0o444)
    with locks_of(tmp_path / "store", tmp_path / "run") as locks:
        assert locks.take() is None


@pytest.mark.skipif(os.name != "posix", reason="needs links")
def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("kept")
    (tmp_path / HOST_LOCK).symlink_to(tmp_path / "victim")
    with locks_of(tmp_path / "store", tmp_path) as locks, pytest.raises(StoreError, match="cannot write"):
        locks.take()
    assert (tmp_path / "victim").read_text() == "kept"


def test_a_store_that_is_no_folder_is_an_error_and_leaves_no_lock(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("")
    with (
        locks_of(tmp_path / "store", tmp_path) as locks,
        pytest.raises(StoreError, match=f"{STORE_LOCK}: cannot write: its folder is a file"),
    ):
        locks.take()
    with locks_of(tmp_path / "other", tmp_path) as locks:
        assert locks.take() is None


def test_all_users_of_a_host_look_in_one_folder_unless_one_is_named(tmp_path: Path) -> None:
    assert lock_folder({"PATHTRACE_RUNTIME": str(tmp_path)}) == tmp_path
    assert lock_folder({"XDG_RUNTIME_DIR": "/run/user/1000"}) == lock_folder({})
