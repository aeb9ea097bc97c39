"""A PostgreSQL server of the test's own: an unprivileged user's, on a free loopback port, in one folder.

Started and stopped here, by its process number; nothing else on the machine is touched.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

USER = "lab"
PASSWORD = "between-us/@only"  # with characters that a URL must quote
URL_PASSWORD = "between-us%2F%40only"


@dataclass(frozen=True)
class PostgresServer:
    port: int
    pid: int
    folder: Path

    @property
    def url(self) -> str:
        return self.url_of(USER, URL_PASSWORD)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def url_of(self, user: str, password: str, database: str = "postgres") -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def run(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """One statement as the superuser, committed at once."""
        with psycopg.connect(self.url, autocommit=True, connect_timeout=5) as connection:
            cursor = connection.execute(sql.SQL(statement), values or None)  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []

    def schemas(self) -> list[str]:
        """Scratch schemas that are there."""
        found = self.run("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'pathtrace%' ORDER BY 1")
        return [str(name) for (name,) in found]


def why_not() -> str | None:
    """Why no server can be started here, or None."""
    if binaries() is None:
        return "PostgreSQL's server is not installed"
    if os.geteuid() == 0 and _unprivileged() is None:
        return "there is no unprivileged user to run PostgreSQL as"
    return None


def binaries() -> Path | None:
    """The folder with initdb and postgres."""
    asked = shutil.which("pg_config")
    stated = (
        subprocess.run([asked, "--bindir"], capture_output=True, text=True, check=False) if asked else None
    )
    folders = [Path(stated.stdout.strip())] if stated and stated.returncode == 0 else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("postgres")
    folders += [Path(found).resolve().parent] if found else []
    return next(
        (each for each in folders if (each / "initdb").exists() and (each / "postgres").exists()), None
    )


@contextlib.contextmanager
def postgres_server(folder: Path | None = None, **settings: object) -> Iterator[PostgresServer]:
    """Serve from ``folder`` (a temporary one, if none is given); ``settings`` go to the server."""
    with contextlib.ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pathtrace-pg-")))
        initialise(folder)
        yield stack.enter_context(served(folder, settings))


def initialise(folder: Path) -> None:
    """A new, empty cluster in ``folder/data``."""
    bin_folder = binaries()
    assert bin_folder is not None
    owner = _unprivileged()
    folder.chmod(0o755)
    (folder / "data").mkdir()
    (folder / "sockets").mkdir()
    (folder / "password").write_text(PASSWORD)
    if owner is not None:
        for path in (folder / "data", folder / "sockets", folder / "password"):
            os.chown(path, owner.pw_uid, owner.pw_gid)
    done = subprocess.run(
        [
            *(bin_folder / "initdb", "-D", folder / "data", "-U", USER, "--auth=scram-sha-256"),
            *(f"--pwfile={folder / 'password'}", "--no-sync", "--encoding=UTF8", "--locale=C"),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        **_as(owner),
    )
    (folder / "password").unlink()
    if done.returncode != 0:
        raise RuntimeError(f"initdb: {done.stderr.strip()}")


@contextlib.contextmanager
def served(folder: Path, settings: Mapping[str, object]) -> Iterator[PostgresServer]:
    """Start the server on the cluster in ``folder``, and stop it at the end."""
    bin_folder = binaries()
    assert bin_folder is not None
    port = _free_port()
    stated = {
        "port": port,
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": folder / "sockets",
        **settings,
    }
    options = [part for name, value in stated.items() for part in ("-c", f"{name}={value}")]
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [bin_folder / "postgres", "-D", folder / "data", *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            **_as(_unprivileged()),
        )
    try:
        server = PostgresServer(port, process.pid, folder)
        _wait_until_ready(server, process)
        yield server
    finally:
        _stop(process)


def _wait_until_ready(server: PostgresServer, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while True:
        if process.poll() is not None:
            log = (server.folder / "log").read_text(errors="replace")[-2000:]
            raise RuntimeError(f"postgres ended with {process.returncode}: {log}")
        try:
            server.run("SELECT 1")
            return
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _stop(process: subprocess.Popen[bytes]) -> None:
    for sig in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):  # fast, immediate, at once
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(sig)
        try:
            process.wait(10)
            return
        except subprocess.TimeoutExpired:
            continue


def _unprivileged() -> pwd.struct_passwd | None:
    """Whom root runs the server as; None for everybody else, who runs it as himself."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    return None


def _as(owner: pwd.struct_passwd | None) -> dict[str, object]:
    return {} if owner is None else {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
