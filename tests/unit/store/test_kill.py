"""kill -9 at random moments of all that history writes: no run lost, the index whole, no lock left."""

from __future__ import annotations

import fcntl
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pathtrace.store import files
from pathtrace.store.index import History
from pathtrace.store.marks import MARKS, pruned_at, read_marks
from pathtrace.store.nights import read_night
from pathtrace.store.retention import RAW

ROOT = Path(__file__).parents[3]
KILLS = int(os.environ.get("PATHTRACE_KILLS", "40"))
LONGEST_S = max(60.0, 1.5 * KILLS)
"""However slow the machine: fewer kills are made then, but ``FEWEST``."""
FEWEST = 10
WORKS_S = 0.25
"""At most: a night takes some hundredths of it."""


@pytest.mark.timeout(120 + 3 * KILLS)
def test_whenever_a_process_is_killed_nothing_that_was_finished_is_lost(tmp_path: Path) -> None:
    store, draw = tmp_path / "store", random.Random()
    store.mkdir()
    finished: list[tuple[str, str]] = []
    kills, until_s = 0, time.monotonic() + LONGEST_S
    while kills < KILLS and (kills < FEWEST or time.monotonic() < until_s):
        finished += killed_after(store, len(finished), draw.uniform(0, WORKS_S))
        kills += 1
        check(store, finished)
    assert len({what for what, _ in finished}) == 5, "everything must have been written, to have been cut off"


def killed_after(store: Path, first: int, seconds: float) -> list[tuple[str, str]]:
    """What a process had finished that was killed so long after it said that it was at work."""
    code = [sys.executable, "-m", "tests.unit.store.kill", str(store), str(first)]
    with subprocess.Popen(code, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        said += process.stdout.read()
    assert process.returncode == -signal.SIGKILL, "it ended by itself"
    lines = (line.split(" ") for line in said.decode().splitlines())
    return [(what, name) for what, name in lines]


def check(store: Path, finished: list[tuple[str, str]]) -> None:
    for what, name in finished:
        CHECKS[what](store, name)
    assert_whole(store / "history.sqlite")
    with History(store) as history:
        history.refresh()
        assert history.on_disk
        assert history.caveats == ()
        known = {entry.id: entry for entry in history.entries()}
    for name in {name for what, name in finished if what in ("run", "skipped")}:
        assert known[name] == read_night(store / name).entry
    assert not list(store.glob(".history-*"))
    assert_unlocked(store)


def is_run(store: Path, name: str) -> None:
    night = read_night(store / name)
    assert night.entry is not None
    assert (night.entry.status, len(night.entry.took), night.faults) == ("complete", 3, ())
    raw = {each for each in RAW if (store / name / each).exists()}
    assert raw == set(RAW) or pruned_at(store / name) is not None or read_marks(store / name).pruned


def is_skipped(store: Path, name: str) -> None:
    night = read_night(store / name)
    assert night.entry is not None
    assert night.entry.status == "skipped"


def is_noted(store: Path, name: str) -> None:
    notes = read_marks(store / name).notes
    assert notes
    script = (Path(__file__).parent / "kill.py").read_bytes()
    assert all((store / name / (note.file or "")).read_bytes() == script for note in notes)


def is_pruned(store: Path, name: str) -> None:
    assert pruned_at(store / name) is not None
    assert not read_marks(store / name).pinned
    kept = {files.FACTS, files.DOCUMENT, files.PAGE, MARKS}
    assert kept <= {path.name for path in (store / name).iterdir()}


def is_counted(store: Path, name: str) -> None:
    assert int(name) > 0


CHECKS = {"run": is_run, "skipped": is_skipped, "noted": is_noted, "pruned": is_pruned, "nights": is_counted}


def assert_whole(path: Path) -> None:
    if not path.exists() or path.stat().st_size == 0:
        return  # killed before there was one
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def assert_unlocked(store: Path) -> None:
    """Every lock that is taken in the store can be had at once."""
    for path in lockable(store):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(descriptor)
    with closing(sqlite3.connect(store / "history.sqlite", timeout=0, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        db.execute("ROLLBACK")


def lockable(store: Path) -> Iterator[Path]:
    yield from (path for path in store.iterdir() if path.is_dir() or path.name == ".history.lock")
