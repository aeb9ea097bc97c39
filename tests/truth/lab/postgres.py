"""PostgreSQL on a host of the lab, as an unprivileged user, with its data where the test wants them.

``with postgres(net.db) as server:`` listens on the host's address; ``postgres(net.db, disk.folder)``
keeps the data on a disk of the lab. ``server.run`` speaks to it from outside, through its socket file,
so that no traffic of the test's own passes the cable.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
from lab_leftovers import claimed
from psycopg import sql

from tests.places import postgres_server
from tests.places.postgres_server import PASSWORD, URL_PASSWORD, USER, why_not

from .hosts import Host
from .serving import served

__all__ = ["PASSWORD", "URL_PASSWORD", "USER", "Postgres", "postgres", "why_not"]


@dataclass(frozen=True)
class Postgres:
    host: Host
    port: int
    pid: int
    folder: Path

    @property
    def url(self) -> str:
        """With the password, for those who reach the host's address."""
        return f"postgresql://{USER}:{URL_PASSWORD}@{self.host.address}:{self.port}/postgres"

    def run(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """One statement as the superuser, committed at once."""
        with psycopg.connect(
            host=str(self.folder / "sockets"),
            port=self.port,
            user=USER,
            password=PASSWORD,
            dbname="postgres",
            autocommit=True,
            connect_timeout=5,
        ) as connection:
            cursor = connection.execute(sql.SQL(statement), values or None)
            return cursor.fetchall() if cursor.description else []


@contextlib.contextmanager
def postgres(
    host: Host, folder: Path | None = None, *, port: int = 5432, **settings: object
) -> Iterator[Postgres]:
    """Serve a new, empty cluster in ``folder`` (which must be empty too; one of the lab's, if none is
    given); ``settings`` go to the server, for instance ``shared_buffers="1MB"``."""
    with claimed("postgres") as claim:
        place = folder or claim.folder
        postgres_server.initialise(place)
        with (place / "data" / "pg_hba.conf").open("a") as rules:
            rules.write("host all all 0.0.0.0/0 scram-sha-256\n")
        with served(host, claim, _argv(host, place, port, settings), port=port) as process:
            server = Postgres(host, port, process.pid, place)
            _wait_until_it_answers(server)
            yield server


def _argv(host: Host, place: Path, port: int, settings: dict[str, object]) -> list[str]:
    binaries = postgres_server.binaries()
    assert binaries is not None
    owner = (place / "data").stat()
    stated = {
        "port": port,
        "listen_addresses": host.address,
        "unix_socket_directories": place / "sockets",
        **settings,
    }
    return [
        # Only after the host's network was entered, which root alone may do.
        *("setpriv", f"--reuid={owner.st_uid}", f"--regid={owner.st_gid}", "--clear-groups", "--"),
        *(str(binaries / "postgres"), "-D", str(place / "data")),
        *(part for name, value in stated.items() for part in ("-c", f"{name}={value}")),
    ]


def _wait_until_it_answers(server: Postgres) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            server.run("SELECT 1")
            return
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
