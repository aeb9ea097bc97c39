"""A server of the lab as a process of its own: a free port, its log, wait until it answers, stop.

Knows HTTP's health check and nothing of what the server serves.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab_leftovers import claimed, stop


@dataclass(frozen=True)
class Server:
    url: str
    pid: int
    log: Path

    def log_text(self) -> str:
        return self.log.read_text(errors="replace")


def free_port() -> int:
    """A port of the loopback interface that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def served(
    name: str,
    command: Sequence[str],
    *,
    port: int,
    health: str = "/health",
    environment: Mapping[str, str] | None = None,
    patience_s: float = 60.0,
) -> Iterator[Server]:
    """Start ``command``, which listens on ``port``, and stop it at the end."""
    with claimed(name) as claim:
        log = claim.folder / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, **(environment or {})},
                cwd=claim.folder,
            )
        claim.started(process.pid)
        server = Server(f"http://127.0.0.1:{port}", process.pid, log)
        try:
            _wait_until_healthy(server, process, health, patience_s)
            yield server
        finally:
            stop(process.pid)
            process.wait(10)


def _wait_until_healthy(
    server: Server, process: subprocess.Popen[bytes], health: str, patience_s: float
) -> None:
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}: {server.log_text()[-2000:]}")
        if _healthy(server.url + health):
            return
        time.sleep(0.05)
    raise RuntimeError(f"the server did not answer within {patience_s} s: {server.log_text()[-2000:]}")


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False
