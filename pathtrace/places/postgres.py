"""A ``database`` place on PostgreSQL: inserts into a scratch schema, lookups by full text or a ``query``.

The schema has a random name and is dropped at the end; the user's own tables are only ever read, in
read-only transactions, by the user's own ``query``. Statements are ``postgres_schema``'s, connections
``postgres_server``'s and ``postgres_connections``'.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import TypeVar

import psycopg

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.run import Mount
from pathtrace.model.scenario import Action, Commit, DatabaseSpec, Place, Start
from pathtrace.model.work import Clock, Done, Item, LayerState, PlaceFacts
from pathtrace.places import postgres_schema, postgres_server
from pathtrace.places.mounts import database_warning, mount_of
from pathtrace.places.pieces import Passage, found_item, pieces_of
from pathtrace.places.postgres_connections import Connections
from pathtrace.places.postgres_schema import How
from pathtrace.places.postgres_server import Connection, mapped

Result = TypeVar("Result")

_CLOSE_S = 10.0
"""How long the end of a run waits for a server that does not answer at once."""
_AGAIN_S = 0.5
_NOTHING = "select 1"
_LATEST = 100
"""Rows that are remembered, to be given again where rows alone are measured."""


class Postgres:
    """Each worker has a connection of its own; one more makes and removes the scratch schema."""

    def __init__(self, place: Place, clock: Clock, seed: int) -> None:
        assert isinstance(place.spec, DatabaseSpec)
        self._place = place
        self._spec = place.spec
        self._clock = clock
        self._schema = f"pathtrace_{secrets.token_hex(6)}"
        self._how = How.COPY
        self._control: Connection | None = None
        self._writers = Connections(place.workers, self._connect, clock)
        self._readers = Connections(place.workers, self._connect_to_read, clock)
        self._made = False
        self._stored = 0
        self._pending: dict[Connection, int] = {}
        self._latest: deque[postgres_schema.Row] = deque(maxlen=_LATEST)
        self._identity: str | None = None
        self._server: int | None = None
        self._mount: Mount | None = None

    @property
    def mount(self) -> Mount | None:
        return self._mount

    @property
    def scratch_folder(self) -> Path | None:
        """None: the folder is the server's, and nobody else may write there."""
        return None

    @property
    def server_pid(self) -> int | None:
        return self._server

    @property
    def identity(self) -> str | None:
        return self._identity

    @property
    def schema(self) -> str:
        """The scratch schema's name; with ``keep`` the rows stay there."""
        return self._schema

    async def rows_stored(self) -> int:
        """Rows in the scratch schema that everybody can see, as the server counts them."""
        with mapped(OperationError, f"{self._place.name}: rows cannot be counted"):
            return await self._controlled(lambda control: postgres_schema.count(control, self._schema))

    def concurrency(self, action: Action) -> int:
        return self._place.workers

    def batch(self, action: Action) -> int:
        return self._spec.batch if action is Action.INSERT else 0

    async def check(self) -> PlaceFacts:
        self._how = self._chosen_insert()
        async with self._reached("cannot be used") as connection:
            return await self._look(connection)

    async def open(self, scratch: Path) -> PlaceFacts:
        self._how = self._chosen_insert()
        async with self._reached("cannot be used") as connection:
            facts = await self._look(connection)
            self._identity = await postgres_schema.settings(connection)
        with mapped(PlaceError, f"{self._place.name}: scratch schemas of earlier runs cannot be removed"):
            async with asyncio.timeout(self._place.timeout_s):
                await self._controlled(postgres_schema.remove_leftovers)
        return facts

    async def begin(self, start: Start, actions: frozenset[Action]) -> tuple[LayerState, ...]:
        if Action.INSERT in actions:
            await self._fresh()
        if Action.LOOKUP not in actions:
            evidence = "a scratch schema made afresh before the repeat"
            return (LayerState("database", self._place.name, "cold", evidence),)
        with mapped(PlaceError, f"{self._place.name}: no connections to search with"):
            await self._readers.fill()
        if self._spec.query is not None:
            evidence = "the user's own tables, whose pages may or may not be in the server's memory"
            return (LayerState("database", self._place.name, "unknown", evidence),)
        if Action.INSERT not in actions and not self._stored:
            raise PlaceError(
                f"{self._place.name}: there is nothing to search: no flow stores anything here before",
                hint="add a flow that ends in it, or give `query` to search tables of your own",
            )
        return (LayerState("database", self._place.name, "warm", "filled by the flow just before"),)

    async def supply(self, action: Action) -> Sequence[Item]:
        raise PlaceError(f"{self._place.name}: a database is asked questions, it has no work of its own")

    async def draw(self, items: Sequence[Item]) -> Sequence[Done]:
        raise OperationError(f"{self._place.name}: a database is asked questions, not read")

    async def perform(self, action: Action, items: Sequence[Item]) -> Done:
        if action is Action.INSERT:
            return await self._insert(items)
        (item,) = items
        return await self._lookup(item)

    async def finish(self, action: Action) -> Done | None:
        """Commit what each worker's connection holds open; what a lost one held is a failure."""
        if action is not Action.INSERT or self._spec.commit is not Commit.FLOW:
            return None
        start = self._clock()
        with mapped(OperationError, f"{self._place.name}: commit failed"):
            for connection in self._writers.idle:
                await postgres_schema.commit_open(connection, self._clock)
                self._stored += self._pending.pop(connection, 0)
        elapsed = self._clock() - start
        if lost := self._lost():
            raise OperationError(f"{self._place.name}: {lost} rows were lost with a broken connection")
        return Done(start, elapsed, 0, finish_ns=elapsed)

    async def questions(self, count: int, seed: int) -> tuple[str, ...]:
        """Questions of a few words drawn from what is stored; empty where that cannot be known."""
        if not self._stored:
            return ()
        with mapped(PlaceError, f"{self._place.name}: questions cannot be drawn"):
            return await self._controlled(
                lambda control: postgres_schema.questions(control, self._schema, count, seed)
            )

    async def commit_alone(self) -> int:
        """A row of nobody's, made durable in the scratch schema, while nothing else goes on."""
        with mapped(OperationError, f"{self._place.name}: a commit alone cannot be measured"):
            async with self._writers.lend() as (connection, _):
                return await postgres_schema.commit_alone(connection, self._schema, self._clock)

    async def answer_nothing(self) -> int:
        """In a transaction of its own, as a lookup."""
        with mapped(OperationError, f"{self._place.name}: a query for nothing cannot be measured"):
            async with self._readers.lend() as (connection, _):
                start = self._clock()
                await postgres_schema.ask(connection, _NOTHING, "")
                await connection.rollback()
                return self._clock() - start

    async def rows_alone(self, count: int) -> int | None:
        """Like the latest ones, taken back: nobody sees them."""
        if not self._latest:
            return None
        rows = list(islice(cycle(self._latest), count))
        with mapped(OperationError, f"{self._place.name}: rows alone cannot be measured"):
            async with self._writers.lend() as (connection, _):
                return await postgres_schema.rows_alone(
                    connection, self._schema, rows, self._how, self._clock
                )

    async def fingerprint(self) -> str | None:
        return None

    async def close(self) -> None:
        await self._writers.close()
        await self._readers.close()
        try:
            if self._made:
                async with asyncio.timeout(_CLOSE_S):
                    await self._end_schema()
        except (TimeoutError, PlaceError):
            pass  # out of reach: the next run on this host finds the schema by its mark
        finally:
            if self._control is not None:
                await self._control.close()

    def _chosen_insert(self) -> How:
        try:
            return How(self._spec.insert or How.COPY)
        except ValueError:
            raise PlaceError(
                f"{self._place.name}: there is no `insert: {self._spec.insert}`",
                hint="allowed: copy (COPY, the default), rows (INSERT)",
            ) from None

    async def _look(self, connection: Connection) -> PlaceFacts:
        """What is there, and where; reads no table and changes nothing."""
        if self._spec.query is not None:
            await postgres_schema.explain(connection, self._spec.query)
        elif not await postgres_schema.may_create(connection):
            user, database = connection.info.user, connection.info.dbname
            raise PlaceError(
                f"{self._place.name}: {user} may not make a schema in {database}",
                hint=f'GRANT CREATE ON DATABASE "{database}" TO "{user}"',
            )
        self._server = postgres_server.process_of(connection)
        folder = await postgres_server.data_folder(connection, self._server)
        self._mount = None if folder is None else mount_of(folder)
        summary = f"{postgres_schema.version(connection)}, a scratch schema in {connection.info.dbname}"
        return PlaceFacts(summary=summary, warnings=self._warnings())

    def _warnings(self) -> tuple[str, ...]:
        far = database_warning(self._mount)
        warnings = [] if far is None else [far]
        if self._spec.keep:
            warnings.append(f"keep: the rows stay in schema {self._schema}")
        return tuple(warnings)

    @contextlib.asynccontextmanager
    async def _reached(self, what: str) -> AsyncIterator[Connection]:
        """A connection for looking only, within the time limit."""
        with mapped(PlaceError, f"{self._place.name}: {what}"):
            async with asyncio.timeout(self._place.timeout_s):
                connection = await self._connect_to_read()
                try:
                    yield connection
                finally:
                    await connection.close()

    async def _connect(self) -> Connection:
        try:
            return await postgres_server.connect(self._spec.url, self._schema, self._place.timeout_s)
        except PlaceError as error:  # the URL, before any connection
            raise PlaceError(f"{self._place.name}: {error}", hint=error.hint) from error

    async def _connect_to_read(self) -> Connection:
        connection = await self._connect()
        await connection.set_read_only(True)
        return connection

    async def _controlled(self, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        """Work on the schema itself; done once more where its connection turns out to be lost."""
        try:
            return await work(await self._controlling())
        except psycopg.OperationalError:
            if self._control is None or not self._control.closed:
                raise
        return await work(await self._controlling())

    async def _controlling(self) -> Connection:
        """The connection for the schema itself; a new one where the last was lost."""
        if self._control is None or self._control.closed:
            self._control = await self._connect()
            await self._control.set_autocommit(True)
        return self._control

    async def _fresh(self) -> None:
        """An empty scratch schema, and a connection for each worker, so that repeats are alike."""
        await self._writers.close()
        await self._readers.close()
        self._stored = 0
        self._pending.clear()
        with mapped(PlaceError, f"{self._place.name}: the scratch schema cannot be made"):
            async with asyncio.timeout(self._place.timeout_s):
                self._made = True
                await self._controlled(lambda control: postgres_schema.make(control, self._schema))
                await self._writers.fill()

    async def _insert(self, items: Sequence[Item]) -> Done:
        pieces = [piece for item in items for piece in pieces_of(item)]
        rows = [postgres_schema.row(piece) for piece in pieces]
        self._latest.extend(rows[-_LATEST:])
        commit = self._spec.commit
        with mapped(OperationError, f"{self._place.name}: insert failed"):
            async with self._writers.lend() as (connection, opened_ns):
                try:
                    done = await postgres_schema.insert(
                        connection, self._schema, rows, self._how, commit, self._clock
                    )
                except psycopg.Error as error:
                    self._tell_of_lost_rows(connection, error)
                    raise
                if commit is Commit.FLOW:
                    self._pending[connection] = self._pending.get(connection, 0) + len(rows)
                else:
                    self._stored += len(rows)
        return Done(
            done.start_ns - opened_ns,
            done.elapsed_ns + opened_ns,
            postgres_schema.row_bytes(pieces),
            setup_ns=opened_ns,
            finish_ns=done.commit_ns,
        )

    def _tell_of_lost_rows(self, connection: Connection, error: psycopg.Error) -> None:
        """With one commit per flow a failed statement takes along what its transaction held."""
        lost = self._pending.pop(connection, 0)
        if lost:
            said = error.diag.message_primary or "the connection was lost"
            raise OperationError(
                f"{self._place.name}: insert failed: {said}; {lost} rows before it, not yet committed, "
                "were lost with it",
                hint="`commit: batch` keeps what went well",
            ) from error

    def _lost(self) -> int:
        """Rows whose connection is gone: cancelled in between, so nobody was told."""
        lost = sum(self._pending.values())
        self._pending.clear()
        return lost

    async def _lookup(self, item: Item) -> Done:
        question = item.texts[0] if item.texts else item.name
        if self._spec.query is None and not self._stored:
            raise OperationError(f"{self._place.name}: nothing has been stored that could be searched")
        with mapped(OperationError, f"{self._place.name}: lookup failed"):
            async with self._readers.lend() as (connection, opened_ns):
                start = self._clock()
                found = await self._found(connection, question)
                ending = self._clock()
                await connection.rollback()  # who asks next waits for that too
                ended = self._clock()
        answer = found_item(item, question, found)
        elapsed, given = ended - start + opened_ns, (answer,)
        return Done(start - opened_ns, elapsed, answer.size_bytes, given, opened_ns, finish_ns=ended - ending)

    async def _found(self, connection: Connection, question: str) -> tuple[Passage, ...]:
        if self._spec.query is not None:
            return await postgres_schema.ask(connection, self._spec.query, question)
        return await postgres_schema.search(connection, self._schema, question)

    async def _end_schema(self) -> None:
        """Keep or drop the schema; a server that is full or starting gets a little time."""
        end = postgres_schema.keep if self._spec.keep and self._stored else postgres_schema.remove
        while True:
            try:
                with mapped(PlaceError, f"{self._place.name}: the scratch schema cannot be removed"):
                    return await self._controlled(lambda control: end(control, self._schema))
            except PlaceError:
                await asyncio.sleep(_AGAIN_S)
