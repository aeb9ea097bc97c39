"""A shell of this host, in the place of another one's."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

from pathtrace.errors import OperationError


class LocalShell:
    """Runs commands with ``tools`` in front of its search path; remembers what was asked of it."""

    def __init__(self, tools: Path | None = None) -> None:
        self._path = f"{tools}:/usr/bin:/bin:/usr/sbin:/sbin" if tools else "/usr/bin:/bin:/usr/sbin:/sbin"
        self.commands: list[str] = []

    async def run(self, command: str, timeout_s: float) -> str:
        self.commands.append(command)
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            capture_output=True,
            timeout=timeout_s,
            env={"PATH": self._path},
            check=False,
        )
        if done.returncode:
            raise OperationError(done.stderr.decode(errors="replace"))
        return done.stdout.decode(errors="surrogateescape")

    async def lines(self, command: str) -> AsyncIterator[str]:
        for line in (await self.run(command, 10)).splitlines():
            yield line
