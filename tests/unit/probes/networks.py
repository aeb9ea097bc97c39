"""Small networks of namespaces for probes of the way between hosts: made with ``ip``, gone afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pathtrace.model.network import PathFacts, PathHop

ROOT = Path(__file__).parents[3]
TOKEN = "a token of these tests"

_RESPOND = """
import time
from pathtrace.probes.responder import Responder
from pathtrace.probes.responder_session import Limits
limits = Limits(1 << 36, 60.0)
where, ignored, clock = ({address!r}, 7411), lambda text: None, time.perf_counter_ns
responder = Responder(where, {token!r}, limits, ignored, clock, sessions={sessions})
print("ready", flush=True)
responder.serve()
"""

_LOOK = """
import asyncio, dataclasses, json, time
from pathtrace.probes.path import PathProbe
from pathtrace.probes.responder_client import ResponderClient
client = ResponderClient({responder!r}, {token!r}, time.perf_counter_ns) if {responder!r} else None
facts = asyncio.run(PathProbe("nas", {address!r}, {port!r}, time.perf_counter_ns, client).look())
if client is not None:
    client.close()
print(json.dumps(dataclasses.asdict(facts)))
"""


class Network:
    """Hosts by a letter; names of their own, so that tests may run side by side."""

    def __init__(self) -> None:
        self._made: list[str] = []

    def name(self, host: str) -> str:
        return f"ptprobe-{host}-{os.getpid()}"

    def add(self, *hosts: str) -> None:
        for host in hosts:
            run("ip", "netns", "add", self.name(host))
            self._made.append(self.name(host))
            for which in ("all", "default"):  # addresses are good at once
                self.on(host, "sysctl -qw", f"net.ipv6.conf.{which}.accept_dad=0")
            self.on(host, "ip link set lo up")

    def cable(self, one: str, other: str, mtus: tuple[int, int], addresses: tuple[str, ...]) -> None:
        """Between two hosts: an MTU and an address for each end."""
        ends = (f"to-{other}", f"to-{one}")
        run(
            *("ip", "link", "add", ends[0], "netns", self.name(one), "type", "veth"),
            *("peer", "name", ends[1], "netns", self.name(other)),
        )
        for host, end, mtu, address in zip((one, other), ends, mtus, addresses, strict=True):
            self.on(host, f"ip addr add {address} dev {end}")
            self.on(host, f"ip link set {end} mtu {mtu} up")

    def on(self, host: str, command: str, *more: str) -> str:
        """Words are split at spaces; ``more`` are words as they are."""
        return run(*self._within(host), *command.split(), *more)

    def look(self, host: str, address: str, port: int | None = None, responder: str = "") -> PathFacts:
        """What ``PathProbe`` finds from there."""
        code = _LOOK.format(address=address, port=port, responder=responder, token=TOKEN)
        return read_facts(json.loads(self.on(host, sys.executable, "-c", code)))

    @contextmanager
    def responder(self, host: str, address: str, sessions: int = 1) -> Iterator[str]:
        code = _RESPOND.format(address=address, token=TOKEN, sessions=sessions)
        with self.running(host, sys.executable, "-c", code) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield f"{address}:7411"

    @contextmanager
    def running(self, host: str, *command: str) -> Iterator[subprocess.Popen[bytes]]:
        """A program that is ended with the block."""
        with subprocess.Popen([*self._within(host), *command], stdout=subprocess.PIPE, cwd=ROOT) as process:
            try:
                yield process
            finally:
                process.kill()

    def close(self) -> None:
        for name in reversed(self._made):
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)

    def _within(self, host: str) -> list[str]:
        return ["nsenter", f"--net=/run/netns/{self.name(host)}", "--"]


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout


def read_facts(document: dict[str, Any]) -> PathFacts:
    hops = tuple(PathHop(**hop) for hop in document.pop("hops"))
    return PathFacts(hops=hops, **{**document, "evidence": tuple(document["evidence"])})


@pytest.fixture
def network() -> Iterator[Network]:
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("network namespaces need root on Linux")
    made = Network()
    try:
        yield made
    finally:
        made.close()
