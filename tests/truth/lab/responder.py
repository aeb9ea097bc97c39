"""What answers a link probe on a host of the lab: pathtrace's own responder, or an iperf3 server.

``with responder(host) as it:`` runs ``pathtrace respond`` with a drawn token, which its environment
carries. By hand: ``PATHTRACE_TOKEN=… python -m pathtrace respond --listen ADDRESS:PORT`` on the host's
shell line that ``python -m tests.truth.lab up`` prints.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from lab_leftovers import claimed

from .hosts import Host
from .serving import served


@dataclass(frozen=True)
class Responder:
    host: Host
    port: int
    token: str
    pid: int

    @property
    def environment(self) -> dict[str, str]:
        """This process's environment, with the token that the client needs too."""
        return {**os.environ, "PATHTRACE_TOKEN": self.token}


@contextlib.contextmanager
def responder(host: Host, *, port: int = 7411, more: tuple[str, ...] = ()) -> Iterator[Responder]:
    """``pathtrace respond`` on the host's address; ``more`` are further options of the
    command: without ``"--sessions", "N"`` it ends after one session."""
    token = secrets.token_urlsafe(24)
    argv = [sys.executable, "-m", "pathtrace", "respond", "--listen", f"{host.address}:{port}", *more]
    environment = {**os.environ, "PATHTRACE_TOKEN": token}
    with (
        claimed("responder") as claim,
        served(host, claim, argv, port=port, environment=environment) as process,
    ):
        yield Responder(host, port, token, process.pid)


@contextlib.contextmanager
def iperf3_server(host: Host, *, port: int = 5201) -> Iterator[int]:
    """An iperf3 server on the host's address; gives its process number."""
    argv = ["iperf3", "--server", "--bind", host.address, "--port", str(port), "--interval", "0"]
    with claimed("iperf3") as claim, served(host, claim, argv, port=port) as process:
        yield process.pid
