"""Several processes at the index at once, while runs come and the file itself is damaged under them."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from pathtrace.store.index import History
from pathtrace.store.nights import read_night
from tests.unit.store.nights import keep_run

ROOT = Path(__file__).parents[3]
PROCESSES = 4
WORK_S = 3.0


def test_whatever_others_do_to_the_index_everybody_sees_all_nights(tmp_path: Path) -> None:
    for night in range(20):
        keep_run(tmp_path, night)
    code = [sys.executable, "-m", "tests.unit.store.at_once", str(tmp_path), str(WORK_S)]
    processes = [
        subprocess.Popen(code, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(PROCESSES)
    ]
    damaged = damage_now_and_then(tmp_path, random.Random())
    results = [process.communicate(timeout=60) for process in processes]
    assert [err.decode() for _, err in results] == [""] * PROCESSES
    assert min(int(out) for out, _ in results) > 0
    assert damaged > 0
    with History(tmp_path) as history:
        history.refresh()
        assert history.on_disk
        assert history.entries() == tuple(
            read_night(folder).entry for folder in sorted(tmp_path.iterdir()) if folder.is_dir()
        )
    with closing(sqlite3.connect(tmp_path / "history.sqlite")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert not list(tmp_path.glob(".history-*"))


def damage_now_and_then(store: Path, draw: random.Random) -> int:
    """The index is removed, or something else lies in its place; and a new run comes each time."""
    until_s, done = time.monotonic() + WORK_S, 0
    while time.monotonic() < until_s:
        time.sleep(0.2)
        keep_run(store, 100 + done)
        for name in ("history.sqlite", "history.sqlite-wal", "history.sqlite-shm"):
            (store / name).unlink(missing_ok=True)
        (store / ".other").write_bytes(draw.randbytes(draw.choice((0, 100, 30_000))))
        if draw.random() < 0.7:
            os.replace(store / ".other", store / "history.sqlite")
        done += 1
    return done
