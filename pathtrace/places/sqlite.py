"""A ``database`` place on SQLite: inserts into a scratch file, lookups by full text or the user's query.

The scratch file lies in the folder of the file that the URL names, so that that folder's disk is what
is measured; the user's own tables are never written to. SQL and files are ``sqlite_file``'s.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.run import Mount
from pathtrace.model.scenario import Action, Commit, DatabaseSpec, Place, Start
from pathtrace.model.work import Clock, Done, Item, LayerState, PlaceFacts
from pathtrace.places import sqlite_file
from pathtrace.places.mounts import database_warning, mount_of
from pathtrace.places.outside import forget, remember
from pathtrace.places.pieces import Passage, found_item, pieces_of
from pathtrace.places.threads import in_thread

_SCHEME = "sqlite://"
_CHECK_S = 2.0
_WAIT_RATIO = 0.9
"""Of the time limit, to wait for a lock: so that SQLite's own message comes before the limit does."""


class Sqlite:
    """One writer in a thread of its own; readers with a connection for each of their threads."""

    def __init__(self, place: Place, clock: Clock, seed: int) -> None:
        assert isinstance(place.spec, DatabaseSpec)
        self._place = place
        self._spec = place.spec
        self._clock = clock
        self._wait_s = place.timeout_s * _WAIT_RATIO
        self._own = file_of(place.spec.url)
        self._file: Path | None = None
        self._scratch: Path | None = None
        self._connection: sqlite3.Connection | None = None
        self._identity: str | None = None
        self._stored = 0
        self._pending = 0
        self._readers: list[sqlite3.Connection] = []
        self._local = threading.local()
        self._generation = 0
        self._writer = ThreadPoolExecutor(1, f"pathtrace-{place.name}-writer")
        self._pool = ThreadPoolExecutor(place.workers, f"pathtrace-{place.name}")

    @property
    def mount(self) -> Mount | None:
        return None if self._file is None else mount_of(self._file.parent)

    @property
    def scratch_folder(self) -> Path | None:
        return None if self._file is None else self._file.parent

    @property
    def server_pid(self) -> int | None:
        return None

    @property
    def identity(self) -> str | None:
        return self._identity

    @property
    def rows_stored(self) -> int:
        """Rows committed since the repeat began."""
        return self._stored

    @property
    def kept(self) -> Path | None:
        """Where the rows stay after closing: ``keep`` was asked for and something was stored."""
        return self._file if self._spec.keep and self._own is not None and self._stored > 0 else None

    def concurrency(self, action: Action) -> int:
        return 1 if action is Action.INSERT else self._place.workers

    def batch(self, action: Action) -> int:
        return self._spec.batch if action is Action.INSERT else 0

    async def check(self) -> PlaceFacts:
        return await asyncio.to_thread(self._check)

    async def open(self, scratch: Path) -> PlaceFacts:
        facts = await self.check()
        folder = scratch if self._own is None else self._own.parent
        self._file = folder.absolute() / f".pathtrace-{secrets.token_hex(4)}.db"
        if self._own is not None and not self._spec.keep:
            self._scratch = scratch
            await in_thread(self._writer, partial(remember, scratch, self._file))
        await in_thread(self._writer, self._fresh)
        return facts

    async def begin(self, start: Start, actions: frozenset[Action]) -> tuple[LayerState, ...]:
        if Action.INSERT in actions:
            await in_thread(self._writer, self._fresh)
        if Action.LOOKUP not in actions:
            evidence = "a scratch file made afresh before the repeat"
            return (LayerState("database", self._place.name, "cold", evidence),)
        if self._spec.query is not None and self._own is not None:
            evidence = "the user's own file, whose pages may or may not be in memory"
            return (LayerState("database", self._place.name, "unknown", evidence),)
        if Action.INSERT not in actions and not self._stored:
            raise PlaceError(
                f"{self._place.name}: there is nothing to search: no flow stores anything here before",
                hint="add a flow that ends in it, or give `query` to search a database of your own",
            )
        return (LayerState("database", self._place.name, "warm", "filled by the flow just before"),)

    async def supply(self, action: Action) -> Sequence[Item]:
        raise PlaceError(f"{self._place.name}: a database is asked questions, it has no work of its own")

    async def draw(self, items: Sequence[Item]) -> Sequence[Done]:
        raise OperationError(f"{self._place.name}: a database is asked questions, not read")

    async def perform(self, action: Action, items: Sequence[Item]) -> Done:
        if action is Action.INSERT:
            return await in_thread(self._writer, partial(self._insert, items), (self._interrupt,))
        (item,) = items
        running: list[sqlite3.Connection] = []
        stop = partial(_interrupt_all, running)
        return await in_thread(self._pool, partial(self._lookup, item, running), (stop,))

    async def finish(self, action: Action) -> Done | None:
        if action is not Action.INSERT or self._spec.commit is not Commit.FLOW:
            return None
        return await in_thread(self._writer, self._commit)

    async def questions(self, count: int, seed: int) -> tuple[str, ...]:
        """Questions of a few words drawn from what is stored; empty where that cannot be known."""
        if not self._stored:
            return ()
        return await in_thread(self._pool, partial(self._questions, count, seed))

    async def fingerprint(self) -> str | None:
        return None

    async def close(self) -> None:
        self._interrupt()
        for pool in (self._writer, self._pool):
            await asyncio.to_thread(pool.shutdown, wait=True, cancel_futures=True)
        await asyncio.to_thread(self._end)

    def _check(self) -> PlaceFacts:
        if self._spec.insert is not None:
            raise PlaceError(
                f"{self._place.name}: an `insert` of your own is not available in this version",
                hint="leave it out: rows go into a scratch file beside your database",
            )
        with self._mapped(PlaceError, "cannot be used"):
            _refuse_without_full_text()
            if self._own is not None:
                self._check_folder(self._own)
            self._check_query()
        return PlaceFacts(summary=self._summary(), warnings=self._warnings())

    def _check_folder(self, own: Path) -> None:
        if own.is_dir():
            raise PlaceError(f"{self._place.name}: {own} is a folder, not a database file")
        if not own.parent.is_dir():
            raise PlaceError(
                f"{self._place.name}: there is no folder {own.parent}",
                hint="sqlite:////absolute/path.db has four slashes, sqlite:///relative.db three",
            )
        if not os.access(own.parent, os.W_OK | os.X_OK):
            raise PlaceError(
                f"{self._place.name}: no permission to write a scratch file into {own.parent}",
                hint="allow it, or use sqlite:// for the run's scratch folder",
            )
        sqlite_file.header_of(own)

    def _check_query(self) -> None:
        if self._spec.query is None or self._own is None:
            return
        if not self._own.exists():
            raise PlaceError(f"{self._place.name}: `query` needs a database, but {self._own} is not there")
        connection = sqlite_file.open_for_reading(self._own, _CHECK_S)
        try:
            sqlite_file.explain(connection, self._spec.query)
        finally:
            connection.close()

    def _summary(self) -> str:
        where = "the run's scratch folder" if self._own is None else str(self._own.parent.absolute())
        return f"SQLite {sqlite3.sqlite_version}, a scratch file in {where}"

    def _warnings(self) -> tuple[str, ...]:
        far = None if self._own is None else database_warning(mount_of(self._own.parent))
        return tuple(warning for warning in (far, self._keeping()) if warning is not None)

    def _keeping(self) -> str | None:
        if not self._spec.keep:
            return None
        if self._own is None:
            return "keep: has no effect without a path, since the run's scratch folder is removed"
        return f"keep: the rows stay in {self._own.parent} as .pathtrace-….db"

    def _fresh(self) -> None:
        """A new, empty file in the old one's place, so that repeats are alike."""
        assert self._file is not None
        with self._mapped(PlaceError, f"a scratch file in {self._file.parent} cannot be made"):
            self._end_connections()
            sqlite_file.remove(self._file)
            like = None if self._own is None else sqlite_file.header_of(self._own)
            self._connection = sqlite_file.create(self._file, like, self._wait_s)
            self._identity = sqlite_file.settings(self._connection)
        self._stored = self._pending = 0

    def _insert(self, items: Sequence[Item]) -> Done:
        connection = self._open_connection()
        cpu = time.thread_time_ns()
        rows = [sqlite_file.row(piece) for item in items for piece in pieces_of(item)]
        with self._mapped(OperationError, "insert failed"):
            done = sqlite_file.insert(connection, rows, self._spec.commit, self._clock)
        cpu = time.thread_time_ns() - cpu
        self._pending += len(rows)
        if not connection.in_transaction:
            self._settle()
        size = sqlite_file.row_bytes(rows)
        return Done(done.start_ns, done.elapsed_ns, size, finish_ns=done.commit_ns, cpu_ns=cpu)

    def _commit(self) -> Done:
        cpu = time.thread_time_ns()
        with self._mapped(OperationError, "commit failed"):
            done = sqlite_file.commit_open(self._open_connection(), self._clock)
        self._settle()
        cpu = time.thread_time_ns() - cpu
        return Done(done.start_ns, done.elapsed_ns, 0, finish_ns=done.commit_ns, cpu_ns=cpu)

    def _settle(self) -> None:
        self._stored += self._pending
        self._pending = 0

    def _lookup(self, item: Item, running: list[sqlite3.Connection]) -> Done:
        question = item.texts[0] if item.texts else item.name
        with self._mapped(OperationError, "lookup failed"):
            connection = self._reader()
            running.append(connection)
            cpu = time.thread_time_ns()
            start = self._clock()
            found = self._found(connection, question)
            elapsed = self._clock() - start
            cpu = time.thread_time_ns() - cpu
        running.clear()
        answer = found_item(item, question, found)
        return Done(start, elapsed, answer.size_bytes, (answer,), cpu_ns=cpu)

    def _found(self, connection: sqlite3.Connection, question: str) -> tuple[Passage, ...]:
        if self._spec.query is not None:
            return sqlite_file.ask(connection, self._spec.query, question)
        if not self._stored:
            raise OperationError(f"{self._place.name}: nothing has been stored that could be searched")
        return sqlite_file.search(connection, question)

    def _questions(self, count: int, seed: int) -> tuple[str, ...]:
        assert self._file is not None
        with self._mapped(PlaceError, "questions cannot be drawn"):
            connection = sqlite_file.open_for_reading(self._file, self._wait_s)
            try:
                return sqlite_file.questions(connection, count, seed)
            finally:
                connection.close()

    def _reader(self) -> sqlite3.Connection:
        """This thread's own connection to what is searched; a new one after each fresh file."""
        if getattr(self._local, "generation", None) != self._generation:
            searched = self._own if self._spec.query is not None and self._own is not None else self._file
            assert searched is not None
            self._local.connection = sqlite_file.open_for_reading(searched, self._wait_s)
            self._local.generation = self._generation
            self._readers.append(self._local.connection)
        connection: sqlite3.Connection = self._local.connection
        return connection

    def _open_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            raise OperationError(f"{self._place.name}: the database is not open")
        return self._connection

    def _interrupt(self) -> None:
        if self._connection is not None:
            self._connection.interrupt()

    def _end_connections(self) -> None:
        self._generation += 1
        ended, self._readers = self._readers, []
        for reader in ended:
            reader.close()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _end(self) -> None:
        self._end_connections()
        if self._file is not None and self.kept is None:
            sqlite_file.remove(self._file)
        if self._scratch is not None:
            forget(self._scratch)

    def _mapped(self, error: type[OperationError] | type[PlaceError], what: str) -> _Mapped:
        return _Mapped(error, f"{self._place.name}: {what}")


class _Mapped:
    """Turns what SQLite and the file system say into one of our errors."""

    def __init__(self, error: type[OperationError] | type[PlaceError], what: str) -> None:
        self._error = error
        self._what = what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, raised: BaseException | None, trace: object) -> None:
        if isinstance(raised, sqlite3.Error):
            raise self._error(f"{self._what}: {raised}", hint=_hint(str(raised))) from raised
        if isinstance(raised, OSError):
            raise self._error(f"{self._what}: {raised.strerror or raised}") from raised


def _hint(said: str) -> str | None:
    if "full" in said:
        return "make room on that disk"
    if "locked" in said:
        return "another program holds the database; stop it or wait"
    if "not authorized" in said or "prohibited" in said:
        return "`query` may only read: SELECT"
    if "readonly" in said or "unable to open" in said:
        return "check the permissions of the file and its folder"
    return None


def _refuse_without_full_text() -> None:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.OperationalError as error:
        raise sqlite3.OperationalError(f"this Python's SQLite has no full-text search ({error})") from error
    finally:
        connection.close()


def file_of(url: str) -> Path | None:
    """The file that a URL names; None for one in the run's scratch folder."""
    path = url.removeprefix(_SCHEME).removeprefix("/")
    return None if path in ("", ":scratch:") else Path(os.path.expanduser(path))


def _interrupt_all(running: list[sqlite3.Connection]) -> None:
    for connection in list(running):
        connection.interrupt()
