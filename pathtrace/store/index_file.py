"""``history.sqlite``: the file that history is kept in, how it is opened, healed, and done without.

It is only a cache of what lies in the folders: a damaged one is made anew beside and then put in its place,
and where none can be written the same tables are kept in memory. What a row means is for ``index``.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pathtrace.errors import RunFileError
from pathtrace.store import files

NAME = "history.sqlite"
DAMAGED = "history.sqlite.damaged"
VERSION = 1
"""Of what the tables hold. 1: the first (nights, texts). To be raised also where a folder is read in another
way than before (``nights``, ``surroundings``): an index of an older version is filled anew."""

BUSY_S = 5.0
_BESIDE = ".history-"
_LOCK = ".history.lock"
_WRONG = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
"""Primary result codes of a file that is not what it should be; the first: a table is missing."""

_TABLES = """
CREATE TABLE texts (number INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE nights (
    id TEXT PRIMARY KEY, seen INTEGER NOT NULL, at TEXT, scenario TEXT, workload TEXT, setup TEXT,
    start TEXT, status TEXT, duration_s REAL, label TEXT, pinned INTEGER, baseline TEXT, reason TEXT,
    scanned INTEGER, took TEXT, datasets INTEGER, environment INTEGER, notes TEXT, told TEXT, faults TEXT,
    unanalysed INTEGER
);
CREATE INDEX seen ON nights (id, seen);
CREATE INDEX work ON nights (workload, setup);
"""


class DamagedIndexError(sqlite3.DatabaseError):
    """A row that nobody of ours has written."""


class NewerIndexError(RunFileError):
    """Written by a later version of pathtrace. The runs themselves can be read."""


def open_file(store: Path) -> sqlite3.Connection:
    """The store's index; made if there is none. sqlite3.Error if it cannot be, NewerIndexError."""
    path = store / NAME
    with contextlib.suppress(FileExistsError):  # private, which sqlite's own would not be
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, files.PRIVATE_FILE))
        except FileExistsError:
            raise
        except OSError as error:
            raise sqlite3.OperationalError(f"{error.strerror or error}".lower()) from error
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
    try:
        _prepare(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def open_memory(store: Path) -> sqlite3.Connection:
    """The same tables in memory, with what can be read of the store's index."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    path = (store / NAME).absolute()
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as kept:
            if _version(kept) == VERSION:
                kept.backup(connection)
    except sqlite3.Error:
        connection.close()
        connection = sqlite3.connect(":memory:", isolation_level=None)
    if _version(connection) != VERSION:
        _make_tables(connection)
    return connection


def identity(store: Path) -> int | None:
    """Which file the index is: another one has been put in its place where this changes."""
    try:
        return os.stat(store / NAME).st_ino
    except OSError:
        return None


def replace_file(store: Path, seen: int | None, fill: Callable[[sqlite3.Connection], None]) -> None:
    """Make an index anew beside the one that is there, then put it in its place; the old one is kept aside.

    Nothing is done where it is another one than was ``seen``: somebody else did it. sqlite3.Error, OSError.
    """
    with _healing(store):
        _remove_leavings(store)
        if identity(store) != seen:
            return
        descriptor, name = tempfile.mkstemp(prefix=_BESIDE, dir=store)
        os.close(descriptor)
        try:
            _fill(Path(name), fill)
            _swap(store, Path(name))
        finally:
            for left in (name, f"{name}-journal"):
                with contextlib.suppress(OSError):
                    os.unlink(left)


def _fill(path: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
    """One whole file, without a log beside it."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as made:
        _make_tables(made)
        fill(made)


def _swap(store: Path, made: Path) -> None:
    """The log of the old one goes with it: a crash between leaves no index, and the next one makes it."""
    with contextlib.suppress(FileNotFoundError):
        os.replace(store / NAME, store / DAMAGED)
    for log in (f"{NAME}-wal", f"{NAME}-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(store / log)
    os.replace(made, store / NAME)


def is_damage(error: sqlite3.Error) -> bool:
    """True if the file is not what it should be, rather than out of reach, out of room or in use."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, DamagedIndexError) or (code is not None and code & 0xFF in _WRONG)


def _remove_leavings(store: Path) -> None:
    """What a killed process had begun to make beside."""
    for left in store.glob(f"{_BESIDE}*"):
        with contextlib.suppress(OSError):
            left.unlink()


@contextmanager
def _healing(store: Path) -> Iterator[None]:
    """One process at a time. The lock goes with the process; its file is empty and stays."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    descriptor = os.open(store / _LOCK, os.O_CREAT | os.O_RDWR, files.PRIVATE_FILE)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Tables, and a log beside the file, so that readers and a writer do not wait for each other."""
    found = _version(connection)
    if found > VERSION:
        raise NewerIndexError(
            f"the index of history has version {found}, this version of pathtrace reads version {VERSION}",
            where=str(path),
            hint="use the newer pathtrace; or make the index anew from the run folders, which are whole: "
            "pathtrace history --rebuild",
        )
    with contextlib.suppress(sqlite3.OperationalError):  # another one does just that: then it is done
        connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    if found < VERSION:
        _make_tables(connection)


def _make_tables(connection: sqlite3.Connection) -> None:
    """In one transaction; nothing is done where another process was quicker."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _version(connection) < VERSION:
            for name in ("nights", "texts"):
                connection.execute(f"DROP TABLE IF EXISTS {name}")
            for statement in _TABLES.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
