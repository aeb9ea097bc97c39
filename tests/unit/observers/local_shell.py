"""A shell on this host, as another host's would be: real subprocesses, run by the user's own shell."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from pathtrace.errors import OperationError


class LocalShell:
    """``ports.Shell``. ``before`` is run first in each command, to make the host another one."""

    def __init__(self, before: str = "") -> None:
        self._before = before
        self.ended: list[int] = []
        """Return codes of the commands whose lines were read."""

    async def run(self, command: str, timeout_s: float) -> str:
        process = await asyncio.create_subprocess_shell(
            self._before + command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(timeout_s):
            written, complaint = await process.communicate()
        if process.returncode:
            raise OperationError(complaint.decode().strip() or f"status {process.returncode}")
        return written.decode()

    async def lines(self, command: str) -> AsyncIterator[str]:
        process = await asyncio.create_subprocess_shell(
            self._before + command, stdout=asyncio.subprocess.PIPE, limit=1 << 22
        )
        assert process.stdout is not None
        try:
            async for line in process.stdout:
                yield line.decode().rstrip("\n")
        finally:
            process._transport.close()  # type: ignore[attr-defined]  # closes its pipe, and ends it
            self.ended.append(await process.wait())
