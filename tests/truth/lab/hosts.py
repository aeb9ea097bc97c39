"""A host of the lab: a network namespace with a name and an address, and how to run things in it.

It knows how to start a program inside a host's network. It does not know how
the hosts are cabled (network.py) nor what they serve (samba.py, ssh.py, ...).
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Host:
    """One host: `name` as the network calls it, its network `namespace`, and its IPv4 `address`.

    Only the network is the host's own: files, processes and users are those of
    the machine, so a path means the same on every host.
    """

    name: str
    namespace: str
    address: str

    def command(self, argv: Sequence[str]) -> list[str]:
        """`argv` as it must be run from outside to run inside the host's network."""
        return ["nsenter", f"--net=/run/netns/{self.namespace}", "--", *argv]

    def run(self, *argv: str) -> str:
        """What `argv` wrote to its standard output; RuntimeError with its standard error if it failed."""
        done = subprocess.run(self.command(argv), stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(argv)} on {self.name}: {done.stderr.strip()}")
        return done.stdout

    def start(self, argv: Sequence[str], **popen: Any) -> subprocess.Popen[Any]:
        """Start `argv` on the host and leave it running; `popen` goes to subprocess.Popen.

        nsenter replaces itself by the program, so the process id is the program's own.
        """
        return subprocess.Popen(self.command(argv), **popen)
