"""The scratch schema of a PostgreSQL place and all statements on it: make, fill, search, remove.

Every table touched here lies in a schema that pathtrace made and marked as its own. Raises
``psycopg.Error``, which ``postgres_server`` turns into messages.
"""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import psycopg
from psycopg import sql

from pathtrace.model.scenario import Commit
from pathtrace.model.work import Clock
from pathtrace.places.owners import is_gone, ourselves
from pathtrace.places.pieces import FOUND, Passage, Piece, phrase_of, row_as_text, terms_of
from pathtrace.places.postgres_server import Connection

SEARCHED = 200_000
"""Characters of a piece that can be searched: PostgreSQL's search vectors hold at most a megabyte."""
_MARK = "pathtrace scratch "
_QUESTION = re.compile(r"%\(question\)s|(?<![:\w]):question\b")
_MAKE = """
CREATE TABLE {schema}.pieces (
    name text NOT NULL,
    text text NOT NULL,
    vector float4[],
    searched tsvector GENERATED ALWAYS AS (to_tsvector('simple', left(text, {most}))) STORED
);
CREATE INDEX pieces_searched ON {schema}.pieces USING gin (searched);
CREATE TABLE {schema}.commits (number int)
"""
_SEARCH = """
SELECT name, text FROM {schema}.pieces, websearch_to_tsquery('simple', %s) AS asked
WHERE searched @@ asked ORDER BY ts_rank(searched, asked) DESC LIMIT {found}
"""
_LEFTOVERS = """
SELECT nspname, obj_description(oid, 'pg_namespace') FROM pg_namespace
WHERE nspname LIKE 'pathtrace\\_%' AND nspowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)
"""


class How(StrEnum):
    """What ``insert`` may say."""

    COPY = "copy"
    ROWS = "rows"


class Row(NamedTuple):
    """As the server is sent it; the vector as an array's text."""

    name: str
    text: str
    vector: str | None


class Inserted(NamedTuple):
    """When an insert began and ended, and how much of it was committing."""

    start_ns: int
    elapsed_ns: int
    commit_ns: int


def row(piece: Piece) -> Row:
    """A row that PostgreSQL can hold: its texts know no NUL and no half of a surrogate pair."""
    vector = None if piece.vector is None else "{" + ",".join(map(repr, piece.vector)) + "}"
    return Row(_storable(piece.name), _storable(piece.text), vector)


def row_bytes(pieces: Sequence[Piece]) -> int:
    """UTF-8 of the texts and 4 bytes a vector component."""
    return sum(len(_storable(each.text).encode()) + 4 * len(each.vector or ()) for each in pieces)


def _storable(text: str) -> str:
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


async def make(connection: Connection, schema: str) -> None:
    """The schema anew and empty, marked with its owner, in one transaction. ``connection`` autocommits."""
    async with connection.transaction():
        await connection.execute(_sql("DROP SCHEMA IF EXISTS {schema} CASCADE", schema))
        await connection.execute(_sql("CREATE SCHEMA {schema}", schema))
        mark = _MARK + ourselves()
        await connection.execute(_sql("COMMENT ON SCHEMA {schema} IS {mark}", schema, mark=sql.Literal(mark)))
        await connection.execute(_sql(_MAKE, schema, most=sql.Literal(SEARCHED)))


async def remove(connection: Connection, schema: str) -> None:
    """The schema away, whoever of this run still holds it."""
    await connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name = %s AND usename = current_user AND pid <> pg_backend_pid()",
        (schema,),
    )
    await connection.execute(_sql("DROP SCHEMA IF EXISTS {schema} CASCADE", schema))


async def keep(connection: Connection, schema: str) -> None:
    """Take the mark off: it is the user's now."""
    await connection.execute(_sql("COMMENT ON SCHEMA {schema} IS 'kept by pathtrace'", schema))


async def remove_leftovers(connection: Connection) -> None:
    """Drop this role's scratch schemas whose owners ran on this host and are gone."""
    cursor = await connection.execute(_LEFTOVERS)
    for schema, mark in await cursor.fetchall():
        if mark is not None and mark.startswith(_MARK) and is_gone(mark.removeprefix(_MARK)):
            # Another run that starts now may be dropping it too.
            with contextlib.suppress(psycopg.errors.InvalidSchemaName):
                await connection.execute(_sql("DROP SCHEMA IF EXISTS {schema} CASCADE", schema))


async def insert(
    connection: Connection, schema: str, rows: Sequence[Row], how: How, commit: Commit, clock: Clock
) -> Inserted:
    """Insert ``rows`` and commit as ``commit`` says; with ``flow`` the transaction stays open."""
    start = clock()
    if commit is Commit.ROW:
        committing = 0
        for one in rows:
            await _insert_rows(connection, schema, (one,))
            committing += (await commit_open(connection, clock)).elapsed_ns
        return Inserted(start, clock() - start, committing)
    await (_copy if how is How.COPY else _insert_rows)(connection, schema, rows)
    committing = 0 if commit is Commit.FLOW else (await commit_open(connection, clock)).elapsed_ns
    return Inserted(start, clock() - start, committing)


async def commit_open(connection: Connection, clock: Clock) -> Inserted:
    """Commit the open transaction, if there is one."""
    start = clock()
    await connection.commit()
    elapsed = clock() - start
    return Inserted(start, elapsed, elapsed)


async def commit_alone(connection: Connection, schema: str, clock: Clock) -> int:
    """Nanoseconds that committing one row takes, its insert apart."""
    await connection.execute(_sql("INSERT INTO {schema}.commits VALUES (1)", schema))
    return (await commit_open(connection, clock)).elapsed_ns


async def rows_alone(connection: Connection, schema: str, rows: Sequence[Row], how: How, clock: Clock) -> int:
    """Nanoseconds that inserting ``rows`` takes, without a commit: they are taken back."""
    start = clock()
    await (_copy if how is How.COPY else _insert_rows)(connection, schema, rows)
    elapsed = clock() - start
    await connection.rollback()
    return elapsed


async def _copy(connection: Connection, schema: str, rows: Sequence[Row]) -> None:
    statement = _sql("COPY {schema}.pieces (name, text, vector) FROM STDIN", schema)
    async with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for one in rows:
            await copy.write_row(one)


async def _insert_rows(connection: Connection, schema: str, rows: Sequence[Row]) -> None:
    statement = _sql("INSERT INTO {schema}.pieces (name, text, vector) VALUES (%s, %s, %s::float4[])", schema)
    async with connection.cursor() as cursor:
        if len(rows) == 1:
            await cursor.execute(statement, rows[0])
        else:
            await cursor.executemany(statement, rows)


async def search(connection: Connection, schema: str, question: str) -> tuple[Passage, ...]:
    """The passages that hold any of the question's words, best first."""
    asked = " OR ".join(f'"{term}"' for term in terms_of(question))
    if not asked:
        return ()
    cursor = await connection.execute(_sql(_SEARCH, schema, found=sql.Literal(FOUND)), (asked,))
    return tuple(Passage(str(name), str(text)) for name, text in await cursor.fetchall())


async def ask(connection: Connection, query: str, question: str) -> tuple[Passage, ...]:
    """The rows of the user's own query; the question is its parameter."""
    async with psycopg.AsyncRawCursor(connection) as cursor:
        await _execute(cursor, query, question)
        rows = await cursor.fetchall() if cursor.description else []
        return tuple(Passage(None, row_as_text(found)) for found in rows)


async def explain(connection: Connection, query: str) -> None:
    """Have the query planned and not run; ``psycopg.Error`` if it is wrong."""
    async with psycopg.AsyncRawCursor(connection) as cursor:
        await _execute(cursor, f"EXPLAIN (COSTS OFF) {query}", "")


async def _execute(cursor: psycopg.AsyncRawCursor[tuple[object, ...]], query: str, question: str) -> None:
    statement = _QUESTION.sub("$1", query)
    parameters = (question,) if "$1" in statement else None
    # Prepared where it has no parameter: else several statements in one text would all be run.
    await cursor.execute(statement.encode(), parameters, prepare=parameters is None or None)


async def count(connection: Connection, schema: str) -> int:
    """Rows stored, as everybody sees them."""
    cursor = await connection.execute(_sql("SELECT count(*) FROM {schema}.pieces", schema))
    found = await cursor.fetchone()
    return int(found[0]) if found else 0


async def questions(connection: Connection, schema: str, number: int, seed: int) -> tuple[str, ...]:
    """A few words each of pieces that are stored; the same ones in whatever order these came in."""
    statement = "SELECT text FROM {schema}.pieces ORDER BY md5(%s || left(text, 1000)), text LIMIT %s"
    cursor = await connection.execute(_sql(statement, schema), (str(seed), 4 * number))
    draw = random.Random(seed)
    drawn = (phrase_of(text, draw) for (text,) in await cursor.fetchall())
    return tuple(phrase for phrase in drawn if phrase is not None)[:number]


async def settings(connection: Connection) -> str:
    """``PostgreSQL 15.14, synchronous_commit on, fsync on, shared_buffers 128MB, wal_level replica``."""
    names = ("synchronous_commit", "fsync", "shared_buffers", "wal_level")
    cursor = await connection.execute(
        "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY(%s)", (list(names),)
    )
    values: dict[str, str] = dict(await cursor.fetchall())
    shown = ", ".join(f"{name} {values[name]}" for name in names if name in values)
    return f"{version(connection)}, {shown}"


def version(connection: Connection) -> str:
    return f"PostgreSQL {connection.info.parameter_status('server_version') or '?'}".split(" (")[0]


async def may_create(connection: Connection) -> bool:
    """True if this role may make a schema in this database."""
    cursor = await connection.execute("SELECT has_database_privilege(current_database(), 'CREATE')")
    found = await cursor.fetchone()
    return bool(found and found[0])


def _sql(template: str, schema: str, **more: sql.Composable) -> sql.Composed:
    # Templates are this file's own literals; whatever varies goes in as an identifier or a literal.
    return sql.SQL(template).format(schema=sql.Identifier(schema), **more)
