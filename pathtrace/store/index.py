"""History over the folders of a store: which nights there were, what they took, what was marked and told.

The folders are the truth. What is read of them is kept in ``history.sqlite``; only folders that changed since
are read again. A damaged index is made anew, and where none can be written it is kept in memory for once:
then ``caveats`` says so. How a folder is read is for ``nights``.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from pathtrace.errors import RunFileError
from pathtrace.model.history import HistoryEntry, Told
from pathtrace.model.report import Caveat
from pathtrace.store import index_file, index_rows
from pathtrace.store.nights import Night, read_night
from pathtrace.units import NANOSECONDS_PER_SECOND

Result = TypeVar("Result")
Watch = Callable[[int, int], None]
"""Folders read so far, and all that are to be read."""

UNWRITTEN, REMADE, UNREADABLE = "history-unwritten", "history-remade", "history-unreadable"
_UNSETTLED_NS = 2 * NANOSECONDS_PER_SECOND
"""A folder that changed so lately may change again without its time showing that: it is read again."""
_AT_ONCE = 200
"""Folders whose rows are written in one transaction: a crash costs at most the reading of so many."""


class History:
    """A context manager over a store's nights. ``refresh`` it, then ask.

    NewerIndexError (a RunFileError) on entry where a newer version wrote the index. A store that is not there
    yet has no nights, and is not made.
    """

    def __init__(self, store: Path, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._store = store
        self._now_ns = now_ns
        self._connection: sqlite3.Connection | None = None
        self._file: int | None = None
        self._notices: list[Caveat] = []
        self.on_disk = True
        """False: kept in memory for this time only."""

    def __enter__(self) -> History:
        if not self._store.is_dir():
            self._to_memory()
            return self
        self._file = index_file.identity(self._store)
        try:
            self._open()
        except sqlite3.Error as error:
            self._recover(error)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def refresh(self, watch: Watch = lambda done, of: None) -> None:
        """Take in what is in the folders and not in the index, and forget what is no more. RunFileError."""
        self._do(lambda: self._take_in(self._db, watch))

    def rebuild(self, watch: Watch = lambda done, of: None) -> None:
        """The same as if there were no index; until that is done the old one holds. RunFileError."""
        if not self.on_disk:
            self._to_memory()
        self._do(lambda: self._remake(watch))

    def entries(self, scenario: str | None = None, limit: int | None = None) -> tuple[HistoryEntry, ...]:
        """Nights, oldest first; of one scenario by its name, the last ``limit`` of them."""
        where = "scenario IS NOT NULL" if scenario is None else "scenario = ?"
        return self._select(where, () if scenario is None else (scenario,), limit)

    def like(self, workload: str, setup: str) -> tuple[HistoryEntry, ...]:
        """Nights of the same work and set-up, by their fingerprints, oldest first."""
        return self._select("workload = ? AND setup = ?", (workload, setup), None)

    def scenarios(self) -> tuple[str, ...]:
        """Names, the one with the latest night last."""
        query = "SELECT scenario FROM nights WHERE scenario IS NOT NULL GROUP BY scenario ORDER BY max(id)"
        return tuple(name for (name,) in self._rows(query))

    def baseline(self, scenario: str, workload_fingerprint: str) -> str | None:
        """The id of the run that later ones are held against; None if none was chosen."""
        found = self.baselines(scenario, workload_fingerprint)
        return found[0] if found else None

    def baselines(self, scenario: str, workload_fingerprint: str) -> tuple[str, ...]:
        """Ids of all runs that are marked so, the one that holds first: a crash may have left another."""
        query = (
            "SELECT id FROM nights WHERE scenario = ? AND workload = ? AND baseline IS NOT NULL"
            " ORDER BY baseline DESC, id DESC"
        )
        return tuple(run for (run,) in self._rows(query, (scenario, workload_fingerprint)))

    def told(self, scenario: str | None = None) -> tuple[Told, ...]:
        """Everything that nights told, of one scenario or of all, oldest first."""
        where = "" if scenario is None else " AND scenario = ?"
        query = f"SELECT told FROM nights WHERE told IS NOT NULL{where} ORDER BY id"
        rows = self._rows(query, () if scenario is None else (scenario,))
        return self._do(lambda: tuple(each for (text,) in rows for each in index_rows.told(text)))

    def labels(self) -> Mapping[str, str | None]:
        """Of every run by its id: the label that was given last."""
        query = "SELECT id, label FROM nights WHERE scenario IS NOT NULL ORDER BY id"
        return {run: label for run, label in self._rows(query)}

    def unanalysed(self) -> tuple[str, ...]:
        """Runs that ended well but whose figures were never written, or are lost."""
        return tuple(run for (run,) in self._rows("SELECT id FROM nights WHERE unanalysed ORDER BY id"))

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """What stood in the way: an index that could not be written or read, folders that could not be."""
        rows = self._rows("SELECT id, faults FROM nights WHERE faults IS NOT NULL ORDER BY id")
        unreadable = (
            Caveat(UNREADABLE, text, "restore the folder from a copy, or remove it", run)
            for run, texts in rows
            for text in texts.split("\n")
        )
        return (*self._notices, *unreadable)

    @property
    def _db(self) -> sqlite3.Connection:
        assert self._connection is not None, "History is a context manager"
        return self._connection

    def _select(self, where: str, values: Sequence[str], limit: int | None) -> tuple[HistoryEntry, ...]:
        query = f"SELECT {index_rows.COLUMNS} FROM nights WHERE {where} ORDER BY id DESC LIMIT ?"

        def read() -> tuple[HistoryEntry, ...]:
            rows = self._db.execute(query, (*values, -1 if limit is None else limit)).fetchall()
            texts = dict(self._db.execute("SELECT number, text FROM texts").fetchall())
            return index_rows.entries(reversed(rows), texts)

        return self._do(read)

    def _rows(self, query: str, values: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        return self._do(lambda: self._db.execute(query, values).fetchall())

    def _do(self, work: Callable[[], Result]) -> Result:
        """Whatever the file refuses is done once more with another one: a new one, or one in memory."""
        try:
            return work()
        except sqlite3.Error as error:
            if not self.on_disk:
                raise
            self._recover(error)
            return work()

    def _recover(self, error: sqlite3.Error) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if not index_file.is_damage(error):
            self._to_memory(error)
            return
        try:
            index_file.replace_file(self._store, self._file, self._take_in)
            self._open()
        except (OSError, sqlite3.Error) as refused:
            self._to_memory(refused)
            return
        kept = self._store / index_file.DAMAGED
        text = f"the index of history was damaged ({error}) and was made anew from the run folders"
        self._notices.append(Caveat(REMADE, text, f"nothing is lost; remove {kept}"))

    def _open(self) -> None:
        self._connection = index_file.open_file(self._store)
        self._file = index_file.identity(self._store)

    def _to_memory(self, error: Exception | None = None) -> None:
        if self._connection is not None:
            self._connection.close()
        self.on_disk = False
        self._connection = index_file.open_memory(self._store)
        if error is not None:
            self._take_in(self._connection)
            text = f"the index of history cannot be written ({error}): the run folders were read instead"
            remedy = "nothing is lost, this takes longer each time: make room there, or make it writable"
            self._notices.append(Caveat(UNWRITTEN, text, remedy, str(self._store / index_file.NAME)))

    def _take_in(self, db: sqlite3.Connection, watch: Watch = lambda done, of: None) -> None:
        now_ns = self._now_ns()
        found = dict(_folders(self._store))
        known = dict(db.execute("SELECT id, seen FROM nights").fetchall())
        gone = [name for name in known if name not in found]
        changed = sorted(name for name, seen in found.items() if known.get(name) != seen)
        if gone:
            with _transaction(db):
                db.executemany("DELETE FROM nights WHERE id = ?", [(name,) for name in gone])
        for start in range(0, len(changed), _AT_ONCE):
            names = changed[start : start + _AT_ONCE]
            nights = [self._night(name, found[name], now_ns) for name in names]
            with _transaction(db):
                index_rows.write(db, nights)
            watch(start + len(names), len(changed))

    def _night(self, name: str, seen_ns: int, now_ns: int) -> tuple[str, int, Night]:
        """One that cannot be read is read again each time: mending it may not change the folder's time."""
        night = read_night(self._store / name)
        return name, -1 if night.faults else _settled(seen_ns, now_ns), night

    def _remake(self, watch: Watch) -> None:
        """In one transaction: until its end everybody sees the old rows."""
        now_ns, found = self._now_ns(), sorted(_folders(self._store))
        nights = []
        for done, (name, seen) in enumerate(found, 1):
            nights.append(self._night(name, seen, now_ns))
            if done % _AT_ONCE == 0 or done == len(found):
                watch(done, len(found))
        with _transaction(self._db):
            index_rows.clear(self._db)
            index_rows.write(self._db, nights)


def set_newer_aside(store: Path) -> None:
    """Put an empty index of this version in the place of a newer version's, which is kept. RunFileError."""
    try:
        index_file.replace_file(store, index_file.identity(store), lambda made: None)
    except (OSError, sqlite3.Error) as error:
        raise RunFileError(f"the index of history cannot be made anew: {error}", where=str(store)) from error


def _settled(seen_ns: int, now_ns: int) -> int:
    return seen_ns if seen_ns < now_ns - _UNSETTLED_NS else -1


def _folders(store: Path) -> Iterator[tuple[str, int]]:
    """Folders that may be nights, and when each last changed. RunFileError."""
    try:
        with os.scandir(store) as listed:
            for each in listed:
                if not each.name.startswith(".") and each.is_dir():
                    with contextlib.suppress(FileNotFoundError):
                        yield each.name, each.stat().st_mtime_ns
    except FileNotFoundError:
        return
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise RunFileError(f"cannot read: {reason}", where=str(store)) from error


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise
