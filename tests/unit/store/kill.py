"""A process that does to a store what nights do, again and again, until it is killed.

Says on standard output what it has finished, a line each: what was said must be there afterwards.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pathtrace.model.history import Note
from pathtrace.store import files
from pathtrace.store.find import run_ids
from pathtrace.store.index import History
from pathtrace.store.marks import attach, change_marks
from pathtrace.store.moments import next_name
from pathtrace.store.retention import RAW, prune
from pathtrace.store.scans import new_night, write_scan
from tests.unit.store.nights import at, document, facts, scan_document

KEEP_S = 86_400.0 * 5


def main(store: Path, first: int) -> None:
    """Nights from ``first`` on: every fifth was skipped; every run is marked; the old ones are pruned."""
    for night in itertools.count(first):
        if night % 5 == 4:
            folder = new_night(store, at(night))
            write_scan(folder, scan_document(night))
            say("skipped", folder)
        else:
            say("run", keep(store, night))
        mark(store, night)
        with History(store) as history:
            history.refresh()
            if night % 7 == 6:
                history.rebuild()
            say("nights", Path(str(len(history.entries()))))
        for run in prune(store, run_ids(store), KEEP_S, at(night), ()):
            say("pruned", store / run)


def keep(store: Path, night: int) -> Path:
    """As a run leaves it: facts while it goes, samples, then facts of its end, figures and page."""
    folder = store / next_name(store, at(night))
    files.make_folder(folder)
    files.write_document(folder, files.FACTS, json.dumps(facts(night, status="running")))
    for name in RAW:
        (folder / name).write_bytes(os.urandom(2000))
    files.write_document(folder, files.FACTS, json.dumps(facts(night)))
    files.write_document(folder, files.DOCUMENT, json.dumps(document()))
    files.write_document(folder, files.PAGE, "# lab\n")
    return folder


def mark(store: Path, night: int) -> None:
    folder = sorted(path for path in store.iterdir() if (path / files.FACTS).is_file())[-1]
    note = Note(datetime.now(UTC) + timedelta(0), f"{night}", attach(folder, Path(__file__)))
    change_marks(
        folder, lambda was: dataclasses.replace(was, pinned=night % 3 == 0, notes=(*was.notes, note))
    )
    say("noted", folder)


def say(what: str, of: Path) -> None:
    """At once and whole: a line that is there was finished."""
    os.write(1, f"{what} {of.name}\n".encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
