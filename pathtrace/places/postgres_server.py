"""Reaching a PostgreSQL server: connecting, what its refusals mean, its process on this host.

Knows libpq's URLs and messages and nothing of what is stored. Passwords come from the URL,
``PGPASSWORD``, ``~/.pgpass`` or a service file, as for every client of libpq.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import psutil
import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow

from pathtrace.errors import OperationError, PlaceError

Connection = psycopg.AsyncConnection[TupleRow]

_CONNECT_S = 10
_MOST = 300
_HINTS = {
    "28P01": "check the password: in the URL, PGPASSWORD or ~/.pgpass",
    "28000": "check the user, and what the server's pg_hba.conf allows",
    "3D000": "name a database that exists: postgresql://host/NAME",
    "42501": "use a role that may create a schema in this database: GRANT CREATE ON DATABASE … TO …",
    "53100": "make room on the database's disk",
    "53200": "the server is out of memory: fewer `workers`, or smaller batches",
    "53300": "the server is full: fewer `workers`, or a larger max_connections",
    "57014": "the server's statement_timeout ended it: raise it for this role",
    "57P01": "the server was stopped, or somebody ended the connection",
    "57P03": "the server is starting or stopping: try again in a moment",
    "25006": "a `query` may only read",
}
_CODES_OF_WORDS = (
    ("password authentication failed", "28P01"),
    ("no password supplied", "28P01"),
    ("no pg_hba.conf entry", "28000"),
    ("role", "28000"),
    ("database", "3D000"),
    ("too many", "53300"),
    ("connection slots", "53300"),
    ("is starting up", "57P03"),
    ("is shutting down", "57P03"),
)
"""libpq tells of a refused connection in words only."""


def parameters_of(url: str) -> dict[str, str]:
    """What libpq is given for ``url``; PlaceError, without the URL, if it cannot be read.

    The name and the password are taken out first: a bare ``@`` in one of them would else be taken
    for the start of the host, and shown.
    """
    parts = urlsplit(url)
    user, _, address = parts.netloc.rpartition("@")
    name, _, password = user.partition(":")
    bare = parts._replace(netloc=address).geturl()
    try:
        read = conninfo_to_dict(bare)
    except psycopg.ProgrammingError:
        read = None
    if read is None:
        raise PlaceError("the URL cannot be read", hint="as in postgresql://user@host:5432/database")
    parameters = {key: str(value) for key, value in read.items() if value is not None}
    given = {"user": unquote(name), "password": unquote(password)}
    return parameters | {key: value for key, value in given.items() if value}


async def connect(url: str, application: str, timeout_s: float) -> Connection:
    """A new connection that the server lists under ``application``. Raises ``psycopg.Error``."""
    parameters = {"connect_timeout": str(max(2, min(_CONNECT_S, int(timeout_s))))} | parameters_of(url)
    parameters |= {"application_name": application, "client_encoding": "utf8"}
    return await psycopg.AsyncConnection.connect(**parameters)  # type: ignore[arg-type]  # texts only


@contextlib.contextmanager
def mapped(error: type[OperationError] | type[PlaceError], what: str) -> Iterator[None]:
    """Turns what the server or its absence says into one of our errors."""
    try:
        yield
    except psycopg.Error as raised:
        raise error(f"{what}: {_said(raised)}", hint=_hint(raised)) from raised
    except TimeoutError as raised:
        raise error(f"{what}: no answer in time", hint="is the server overloaded, or locked?") from raised
    except OSError as raised:
        raise error(f"{what}: {raised.strerror or raised}") from raised


def _said(error: psycopg.Error) -> str:
    """The server's own sentence; of a refused connection, the first of libpq's."""
    said = error.diag.message_primary or next(iter(str(error).strip().splitlines()), type(error).__name__)
    return said[:_MOST]


def _hint(error: psycopg.Error) -> str | None:
    if error.sqlstate is not None:
        return _HINTS.get(error.sqlstate)
    said = str(error)
    if "FATAL" in said:
        reason = said.partition("FATAL")[2]
        return next((_HINTS[code] for word, code in _CODES_OF_WORDS if word in reason), None)
    if "no password supplied" in said:
        return _HINTS["28P01"]
    if "Connection refused" in said or "No such file" in said:
        return "is the server running, and does it listen there?"
    if "closed" in said or "lost" in said:
        return "the connection was lost: see the server's log"
    return None


def process_of(connection: Connection) -> int | None:
    """The server's main process, if it runs on this host and that can be proved; else None.

    A server's process shows its client's port in its title: through a tunnel, a pooler or a
    container's proxy that is another one, and its number would be some other process's.
    """
    try:
        backend = psutil.Process(connection.info.backend_pid)
        title = " ".join(backend.cmdline())
        if title.startswith("postgres") and _client_of(connection) in title:
            return backend.ppid() or None
    except psutil.Error:
        return None
    return None


def _client_of(connection: Connection) -> str:
    with socket.socket(fileno=os.dup(connection.fileno())) as same:
        name = same.getsockname()
    return f"({name[1]})" if isinstance(name, tuple) else "[local]"


async def data_folder(connection: Connection, server: int | None) -> Path | None:
    """Where a server on this host keeps its data; None if it is elsewhere or may not be known."""
    if server is None or not _same_mounts(server):
        return None
    try:
        return Path(psutil.Process(server).cwd())
    except psutil.Error:
        pass
    try:
        cursor = await connection.execute("SHOW data_directory")
    except psycopg.errors.InsufficientPrivilege:
        await connection.rollback()
        return None
    row = await cursor.fetchone()
    folder = Path(row[0]) if row else None
    return folder if folder is not None and folder.is_dir() else None


def _same_mounts(server: int) -> bool:
    """False if the server is seen to live in a container with mounts of its own."""
    try:
        return os.readlink(f"/proc/{server}/ns/mnt") == os.readlink("/proc/self/ns/mnt")
    except OSError:
        return True
