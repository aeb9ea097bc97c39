"""A network namespace of a test's own, and a way to run this project's code inside it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[3]
NAME = f"ptobs-{os.getpid()}"


def available() -> bool:
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return False
    made = subprocess.run(["ip", "netns", "add", f"{NAME}-try"], capture_output=True, check=False)
    return made.returncode == 0 and _ip("netns", "delete", f"{NAME}-try") == ""


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=True).stdout


@contextmanager
def namespace() -> Iterator[str]:
    """A namespace with ``ptobs0`` (a veth pair's end, 10.79.0.1/24) and a way on through 10.79.0.254."""
    _ip("netns", "add", NAME)
    try:
        for words in (
            "link add ptobs0 type veth peer name ptobs1",
            "link set ptobs0 mtu 9000",
            "addr add 10.79.0.1/24 dev ptobs0",
            "link add ptobsbr type bridge",
            "tuntap add dev ptobstun mode tun",
            *(f"link set {name} up" for name in ("lo", "ptobs0", "ptobs1", "ptobsbr", "ptobstun")),
            "route add 10.79.8.0/24 via 10.79.0.254 mtu 1400",
            "route add unreachable 10.79.9.0/24",
        ):
            _ip("-n", NAME, *words.split())
        yield NAME
    finally:
        _ip("netns", "delete", NAME)


def evaluated_inside(name: str, source: str) -> object:
    """What ``source`` assigns to ``result``, run in the namespace; ``/sys`` stays the outer one."""
    program = f"{source}\nimport sys\nsys.stdout.write(repr(result))"
    command = ["nsenter", f"--net=/run/netns/{name}", sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return eval(done.stdout)
