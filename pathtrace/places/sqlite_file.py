"""The SQLite files behind a ``database`` place: a scratch file to fill and search, the user's to query.

Blocking; made for worker threads, each with a connection of its own. Raises ``sqlite3.Error``, which
``sqlite`` turns into messages. The user's own file is only ever opened for reading.
"""

from __future__ import annotations

import random
import sqlite3
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pathtrace.model.scenario import Commit
from pathtrace.model.work import Clock
from pathtrace.places.pieces import FOUND, Passage, Piece, phrase_of, row_as_text, terms_of

_TABLE = "CREATE VIRTUAL TABLE pieces USING fts5(text, name UNINDEXED, vector UNINDEXED)"
_INSERT = "INSERT INTO pieces (name, text, vector) VALUES (?, ?, ?)"
_SEARCH = f"SELECT name, text FROM pieces WHERE pieces MATCH ? ORDER BY rank LIMIT {FOUND}"
_BEYOND_READING = (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT)
_ASKED_BY_FULL_TEXT = "data_version"
_SYNCHRONOUS = ("off", "normal", "full", "extra")

Row = tuple[str, str, bytes | None]
"""Name of the document, text of the piece, its vector as 32-bit floats."""


class Header(NamedTuple):
    """What a database file says of itself in its first 100 bytes, without opening it as one."""

    page_bytes: int
    wal: bool


class Inserted(NamedTuple):
    """When an insert began and ended, and how much of it was committing."""

    start_ns: int
    elapsed_ns: int
    commit_ns: int


def header_of(file: Path) -> Header | None:
    """The header of the database at ``file``; None if there is none or it is empty. OSError if unreadable."""
    try:
        with file.open("rb") as opened:
            start = opened.read(100)
    except FileNotFoundError:
        return None
    if not start:
        return None
    if not start.startswith(b"SQLite format 3\x00"):
        raise sqlite3.DatabaseError("file is not a database")
    size = int.from_bytes(start[16:18], "big")
    return Header(65536 if size == 1 else size, start[18] == 2)


def create(file: Path, like: Header | None, wait_s: float) -> sqlite3.Connection:
    """A fresh scratch database with its table, with the journal mode and page size of the user's own."""
    connection = _connect(f"{file.absolute().as_uri()}?mode=rwc", wait_s)
    if like is not None:
        connection.execute(f"PRAGMA page_size={like.page_bytes}")
        if like.wal:
            connection.execute("PRAGMA journal_mode=wal")
    connection.execute(_TABLE)
    return connection


def open_for_reading(file: Path, wait_s: float) -> sqlite3.Connection:
    """A connection that cannot write. It leaves no file behind beside the database."""
    uri = f"{file.absolute().as_uri()}?mode=ro"
    header = header_of(file)
    if header is not None and header.wal and not Path(f"{file}-wal").exists():
        # Nobody has it open. Even a reader would create -wal and -shm beside it, and leave them there.
        uri += "&immutable=1"
    connection = _connect(uri, wait_s)
    connection.set_authorizer(_refusal)
    return connection


def _refusal(action: int, first: str | None, *rest: str | None) -> int:
    """A database opened for reading could still be copied into another file, or held open."""
    setting = action == sqlite3.SQLITE_PRAGMA and first != _ASKED_BY_FULL_TEXT
    return sqlite3.SQLITE_DENY if setting or action in _BEYOND_READING else sqlite3.SQLITE_OK


def _connect(uri: str, wait_s: float) -> sqlite3.Connection:
    # Used by one thread at a time; closed, and interrupted, from another.
    return sqlite3.connect(uri, uri=True, timeout=wait_s, isolation_level=None, check_same_thread=False)


def remove(file: Path) -> None:
    """Remove a scratch database and what SQLite keeps beside it."""
    for ending in ("", "-wal", "-shm", "-journal"):
        Path(f"{file}{ending}").unlink(missing_ok=True)


def settings(connection: sqlite3.Connection) -> str:
    """``SQLite 3.40.1, journal_mode delete, synchronous full``."""
    (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
    (number,) = connection.execute("PRAGMA synchronous").fetchone()
    return f"SQLite {sqlite3.sqlite_version}, journal_mode {journal}, synchronous {_SYNCHRONOUS[number]}"


def row(piece: Piece) -> Row:
    return piece.name, piece.text, None if piece.vector is None else array("f", piece.vector).tobytes()


def row_bytes(rows: Sequence[Row]) -> int:
    """UTF-8 of the texts and 4 bytes a vector component."""
    return sum(len(text.encode()) + len(vector or b"") for _, text, vector in rows)


def insert(connection: sqlite3.Connection, rows: Sequence[Row], commit: Commit, clock: Clock) -> Inserted:
    """Insert ``rows`` and commit as ``commit`` says; with ``flow`` the transaction stays open."""
    groups: Iterator[Sequence[Row]] = ([one] for one in rows) if commit is Commit.ROW else iter([rows])
    committing = 0
    start = clock()
    try:
        for group in groups:
            if not connection.in_transaction:
                connection.execute("BEGIN")
            connection.executemany(_INSERT, group)
            if commit is not Commit.FLOW:
                committing += commit_open(connection, clock).elapsed_ns
        return Inserted(start, clock() - start, committing)
    except sqlite3.Error:
        if connection.in_transaction and commit is not Commit.FLOW:
            connection.execute("ROLLBACK")
        raise


def commit_open(connection: sqlite3.Connection, clock: Clock) -> Inserted:
    """Commit the open transaction, if there is one."""
    start = clock()
    if connection.in_transaction:
        connection.execute("COMMIT")
    elapsed = clock() - start
    return Inserted(start, elapsed, elapsed)


def search(connection: sqlite3.Connection, question: str) -> tuple[Passage, ...]:
    """The passages that hold any of the question's words, best first."""
    match = " OR ".join(f'"{term}"' for term in terms_of(question))
    if not match:
        return ()
    return tuple(map(Passage._make, connection.execute(_SEARCH, (match,))))


def ask(connection: sqlite3.Connection, query: str, question: str) -> tuple[Passage, ...]:
    """The rows of the user's own query, columns joined by tabs; the question goes in as its parameter."""
    rows = connection.execute(query, _bound(query, question))
    return tuple(Passage(None, row_as_text(found)) for found in rows)


def explain(connection: sqlite3.Connection, query: str) -> None:
    """Have the query compiled and not run; ``sqlite3.Error`` if it is wrong."""
    connection.execute(f"EXPLAIN {query}", _bound(query, "")).close()


def _bound(query: str, question: str) -> dict[str, str] | tuple[str, ...]:
    if ":question" in query:
        return {"question": question}
    return (question,) if "?" in query else ()


def count(connection: sqlite3.Connection) -> int:
    """Rows stored, as this connection sees them."""
    (number,) = connection.execute("SELECT count(*) FROM pieces").fetchone()
    return int(number)


def questions(connection: sqlite3.Connection, number: int, seed: int) -> tuple[str, ...]:
    """A few words each, drawn from pieces that are stored; empty if none holds any words."""
    draw = random.Random(seed)
    (last,) = connection.execute("SELECT max(rowid) FROM pieces").fetchone()
    found: list[str] = []
    for _ in range(4 * number if last else 0):
        text = connection.execute(
            "SELECT text FROM pieces WHERE rowid = ?", (draw.randint(1, last),)
        ).fetchone()
        phrase = phrase_of(text[0], draw) if text else None
        if phrase is not None:
            found.append(phrase)
        if len(found) == number:
            break
    return tuple(found)
