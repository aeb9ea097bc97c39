"""A lab that is scanned within seconds, and what must hold of its store whatever happened to a scan."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

from pathtrace.app.scanning_locks import ScanLocks
from pathtrace.store.find import run_ids
from pathtrace.store.index import History
from pathtrace.store.runs import load
from tests.cli.command import command, environment

LAB = """\
pathtrace: 1
name: lab
places:
  documents: {kind: files, path: DOCUMENTS}
  chunker: {kind: process, run: chunk}
  library: {kind: database, url: "sqlite:///DATA/lab.db"}
flows:
  index: {path: [documents, chunker, library], frequency: every 24 h}
repeats: 2
"""


def make_lab(folder: Path) -> Path:
    """A folder with a scenario whose database lies beside the user's data; returns its store."""
    (folder / "data").mkdir()
    (folder / "documents").mkdir()
    for number in range(60):
        (folder / "documents" / f"{number}.txt").write_text(f"{number} words and more words\n" * 60)
    text = LAB.replace("DATA", str(folder / "data")).replace("DOCUMENTS", str(folder / "documents"))
    (folder / "lab.yaml").write_text(text)
    return folder / "store"


def start(folder: Path, *options: str, **more: str) -> subprocess.Popen[str]:
    """A scan under way, by a timer as it were."""
    return subprocess.Popen(
        command("scan", "lab.yaml", "--no-probes", "--json", *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(folder / "store", PATHTRACE_RUNTIME=str(folder / "run"), **more),
        cwd=folder,
        text=True,
    )


def scan(folder: Path, *options: str, **more: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, document ({} if none) and remarks of a whole scan."""
    process = start(folder, *options, **more)
    out, err = process.communicate(timeout=100)
    return process.returncode, json.loads(out) if out else {}, err


def assert_sound(folder: Path, whole: set[str]) -> None:
    """Nobody holds a lock, the index is whole, and so is every run of ``whole``."""
    store = folder / "store"
    with ScanLocks(store, folder / "run", "test") as locks:
        assert locks.take() is None
    index = store / "history.sqlite"
    if index.exists():
        with sqlite3.connect(index) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()
    for run in whole:
        assert load(store / run).status == "complete"
    with History(store) as history:
        history.refresh()
        found = {each.id: each.status for each in history.entries()}
        assert history.on_disk
    assert whole <= {run for run, status in found.items() if status == "complete"}
    assert set(run_ids(store)) <= set(found)


def assert_tidy(folder: Path) -> None:
    """No scratch data is left, neither in the store nor beside the user's data."""
    store = folder / "store"
    assert list((folder / "data").iterdir()) == []
    assert not (store / ".scratch").exists()
    halves = [path for path in store.glob("*/.*") if path.is_file()]
    assert halves == []
    empty = [
        path
        for path in store.iterdir()
        if path.is_dir() and not any((path / name).exists() for name in ("facts.json", "scan.json"))
    ]
    assert empty == []
