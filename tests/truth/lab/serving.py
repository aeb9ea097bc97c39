"""A server of the lab on one of its hosts: start it, wait until it listens, end it with its children.

Knows processes and listening sockets, and nothing of what is served. That a server listens is read
from the kernel's table of the server's own network, so that waiting sends it no connection.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lab_leftovers import Claim, stop_tree

from .hosts import Host

_LISTEN = "0A"


def listening(pid: int) -> set[tuple[str, int]]:
    """Address and port of every IPv4 TCP socket that is listened on in the network of ``pid``."""
    lines = Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]
    return {_endpoint(line.split()[1]) for line in lines if line.split()[3] == _LISTEN}


@contextlib.contextmanager
def served(
    host: Host,
    claim: Claim,
    argv: Sequence[str],
    *,
    port: int,
    environment: Mapping[str, str] | None = None,
    patience_s: float = 10.0,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run ``argv`` on ``host`` while the block lasts, from when it listens on the host's ``port``.

    Its output is in the claim's ``log``. RuntimeError if it ends, does not listen within
    ``patience_s``, or if somebody else has the port.
    """
    log = claim.folder / "log"
    with log.open("ab") as output:
        process = host.start(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            cwd="/",
            start_new_session=True,  # smbd ends its whole process group when it is ended: not ours
        )
    claim.started_tree(process.pid)
    try:
        _wait_until_it_listens(host, process, port, patience_s, log)
        yield process
    finally:
        stop_tree(process.pid)
        process.wait(10)


def _wait_until_it_listens(
    host: Host, process: subprocess.Popen[bytes], port: int, patience_s: float, log: Path
) -> None:
    deadline = time.monotonic() + patience_s
    wanted = {(host.address, port), ("0.0.0.0", port)}
    while True:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended with {process.returncode}: {_end_of(log)}")
        with contextlib.suppress(OSError):
            if _has_a_socket(process.pid) and wanted & listening(process.pid):
                return
        if time.monotonic() > deadline:
            raise RuntimeError(f"{process.args!r} does not listen on port {port}: {_end_of(log)}")
        time.sleep(0.01)


def _has_a_socket(pid: int) -> bool:
    """Before it has one, nsenter may not have moved it yet, and the table would be another network's."""
    return any(os.readlink(each).startswith("socket:") for each in Path(f"/proc/{pid}/fd").iterdir())


def _endpoint(written: str) -> tuple[str, int]:
    address, port = written.split(":")
    return socket.inet_ntoa(bytes.fromhex(address)[::-1]), int(port, 16)


def _end_of(log: Path) -> str:
    return log.read_text(errors="replace")[-2000:].strip()
