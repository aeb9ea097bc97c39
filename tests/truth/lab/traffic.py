"""Other people's traffic over the same cable, made with iperf3.

``with traffic(nas, workstation, rate="500M"):`` keeps 500 Mbit/s flowing beside whatever is measured.
It is TCP, which takes its part of a full cable; UDP would lose most of its own in the queue.
By hand: ``python -m tests.truth.lab up`` prints a shell line for each host; iperf3 does the rest.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from lab_leftovers import claimed, stop_tree

from .hosts import Host
from .responder import iperf3_server

PORT = 5299


def why_not() -> str | None:
    """Why there can be no traffic here, or None."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "traffic between hosts of the lab needs root"
    return None if shutil.which("iperf3") else "iperf3 is not installed"


@contextlib.contextmanager
def traffic(
    sender: Host,
    receiver: Host,
    *,
    rate: str = "0",
    streams: int = 1,
    port: int = PORT,
) -> Iterator[None]:
    """Send from one host to another until the block is left, from when bytes are flowing.

    ``rate`` is that of all streams together as iperf3 writes it (``500M``: bits per second, in powers
    of ten); ``0`` takes what it gets, which among equal TCP transfers is one part for each stream.
    """
    each = rate if streams == 1 else _split(rate, streams)
    with claimed("traffic") as claim, iperf3_server(receiver, port=port):
        argv = [
            *("iperf3", "--client", receiver.address, "--port", str(port), "--time", "86400"),
            *("--bitrate", each, "--parallel", str(streams), "--interval", "0"),
        ]
        log = claim.folder / "log"
        received = _received(receiver)
        with log.open("wb") as output:
            process = sender.start(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        claim.started_tree(process.pid)
        try:
            _wait_until_it_flows(receiver, received, process, log)
            yield
        finally:
            stop_tree(process.pid)
            process.wait(10)


def _split(rate: str, streams: int) -> str:
    powers = {"K": 1e3, "M": 1e6, "G": 1e9}
    bits = float(rate[:-1]) * powers[rate[-1].upper()] if rate[-1].upper() in powers else float(rate)
    return str(round(bits / streams))


def _wait_until_it_flows(host: Host, before: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 5
    while _received(host) < before + 200_000:
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"iperf3 (exit {process.poll()}): {log.read_text(errors='replace').strip()}")
        time.sleep(0.02)


def _received(host: Host) -> int:
    """Bytes that the host's interfaces have received, without the one to itself."""
    lines = host.run("cat", "/proc/net/dev").splitlines()[2:]
    rows = [line.replace(":", " ").split() for line in lines]
    return sum(int(row[1]) for row in rows if row[0] != "lo")
