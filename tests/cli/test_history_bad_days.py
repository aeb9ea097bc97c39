"""History on a full disk and on a store that cannot be written: read, said, nothing lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from pathtrace.cli import main
from pathtrace.store.index import History
from tests.unit.store.nights import keep_run, keep_scan, run_id

pytestmark = pytest.mark.needs_root

Capture = pytest.CaptureFixture[str]
SIZE = 4 << 20
NIGHTS = 40


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A store on a small file system of its own."""
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("a mount needs root")
    folder = tmp_path / "runs"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)], check=True)
    try:
        for night in range(NIGHTS):
            if night % 9 == 8:
                keep_scan(folder, night)
            else:
                keep_run(folder, night)
        monkeypatch.setenv("PATHTRACE_STORE", str(folder))
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def remount(store: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(store)], check=True)


def fill(store: Path, left: int) -> Path:
    """Leave about so many bytes free."""
    path = store / ".filler"
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"\0" * 4096)
    os.truncate(path, max(0, path.stat().st_size - left))
    return path


def mind(out: str) -> str:
    return " ".join(out.partition("\nMind")[2].split())


@pytest.mark.parametrize("left", [0, 4 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10])
@pytest.mark.parametrize("had", ["nothing", "an index"])
def test_a_full_disk_costs_no_night_and_no_index(store: Path, left: int, had: str, capsys: Capture) -> None:
    if had == "an index":
        assert main(["history"]) == 0
    for night in range(NIGHTS, NIGHTS + 10):
        keep_run(store, night)
    filler = fill(store, left)
    capsys.readouterr()
    with History(store) as history:
        history.refresh()
        assert len(history.entries()) == NIGHTS + 10
    assert main(["history"]) == 0
    out = capsys.readouterr().out
    assert run_id(NIGHTS + 9) in out
    if left == 0:
        assert "the index of history cannot be written" in mind(out)
        assert "nothing is lost" in mind(out)
    filler.unlink()
    assert main(["history"]) == 0
    assert capsys.readouterr().out.partition("\nMind")[0].rstrip() == out.partition("\nMind")[0].rstrip()
    with closing(sqlite3.connect(store / "history.sqlite")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("SELECT count(*) FROM nights").fetchone() == (NIGHTS + 10,)


def test_what_is_said_of_a_run_on_a_full_disk_is_refused_whole(
    store: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert main(["note", "last", "before"]) == 0
    photo = tmp_path / "photo.jpg"
    photo.write_bytes(b"\xff" * 200_000)
    fill(store, 100_000)
    listed = sorted((store / run_id(NIGHTS - 1)).rglob("*"))
    capsys.readouterr()
    assert main(["note", "last", "after", "--attach", str(photo)]) == 3
    captured = capsys.readouterr()
    assert "cannot write: no space left on device" in captured.err
    assert "make room there" in captured.err
    after = [path for path in sorted((store / run_id(NIGHTS - 1)).rglob("*")) if path.name != "attached"]
    assert after == listed
    (store / ".filler").unlink()
    assert main(["history", "--limit", "1"]) == 0
    out = capsys.readouterr().out
    assert "before" in out
    assert "after" not in out


@pytest.mark.parametrize("had", ["nothing", "an index", "an old index", "an index in use", "a damaged index"])
def test_a_store_that_cannot_be_written_is_read(store: Path, had: str, capsys: Capture) -> None:
    if had != "nothing":
        assert main(["history"]) == 0
    if had == "an old index":
        keep_run(store, NIGHTS)
    if had == "a damaged index":
        (store / "history.sqlite").write_bytes(b"\xa5" * 20_000)
    user = sqlite3.connect(store / "history.sqlite") if had == "an index in use" else None
    if user is not None:
        user.execute("SELECT count(*) FROM nights").fetchone()  # a log lies beside the index
        user.close()
    remount(store, "ro")
    listed = sorted(path.name for path in store.iterdir())
    capsys.readouterr()
    assert main(["history"]) == 0
    out = capsys.readouterr().out
    assert run_id(NIGHTS if had == "an old index" else NIGHTS - 1) in out
    assert "the index of history cannot be written" in mind(out)
    for refused in (["note", "last", "x"], ["baseline", "last"], ["note", "last", "--pin"]):
        assert main(refused) == 3
        assert "cannot write: read-only file system" in capsys.readouterr().err
    assert sorted(path.name for path in store.iterdir()) == listed
    remount(store, "rw")
    assert main(["history"]) == 0
    assert "cannot be written" not in capsys.readouterr().out
