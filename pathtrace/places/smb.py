"""Files on an SMB share, read by ``libsmbclient`` where it can be loaded and by smbprotocol otherwise.

``PATHTRACE_SMB`` names one of them to force it. The operations are done by worker processes
(``smb_pool``); here stands what they mean, and what a caller is told.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from pathtrace.errors import PlaceError
from pathtrace.model.network import Endpoint
from pathtrace.model.work import Clock
from pathtrace.places import smb_credentials
from pathtrace.places.file_list import shown
from pathtrace.places.remote import Fetched, RemoteFile, Target
from pathtrace.places.smb_faults import operation_error, place_error
from pathtrace.places.smb_memory import Loan, SharedMemory
from pathtrace.places.smb_pool import WorkerPool
from pathtrace.places.smb_session import Entry, Facts, Fault, Logon, Timing

LIBRARIES = ("libsmbclient", "smbprotocol")
LIBRARY = "PATHTRACE_SMB"
_INLINE_BYTES = 1 << 16
"""Up to this much comes through the socket or is copied at once: dearer things than a copy wait on a loan."""


def make_client(target: Target, clock: Clock) -> SmbClient:
    """A client for ``target``. No I/O. PlaceError if ``PATHTRACE_SMB`` names no library that we know."""
    library = os.environ.get(LIBRARY) or None
    if library is not None and library not in LIBRARIES:
        raise PlaceError(f"{LIBRARY} is {shown(library)}", hint=f"it may be {' or '.join(LIBRARIES)}")
    return SmbClient(target, clock, library)


class SmbClient:
    """A ``RemoteClient``: as many worker processes as there are parallel operations."""

    client_cache = "libsmbclient and smbprotocol keep no data of files: each read asks the server"

    def __init__(self, target: Target, clock: Clock, library: str | None) -> None:
        self._target = target
        self._library = library
        self._share, _, self._folder = target.path.strip("/").partition("/")
        self._folder = self._folder.strip("/")
        self._user: str | None = None
        self._facts: Facts | None = None
        self._memory = SharedMemory()
        self._pool: WorkerPool | None = None
        self._handles = itertools.count()
        # Workers tell time by the system's monotonic clock, which may count from elsewhere.
        self._shift_ns = clock() - time.monotonic_ns()
        self._passed: Counter[str] = Counter()
        self._example: dict[str, str] = {}

    async def open(self, parallel: int) -> None:
        """Start the workers and connect each. PlaceError."""
        logon = await asyncio.to_thread(self._logon)
        self._user = logon.user
        self._pool = WorkerPool(self._library, logon, self._folder, self._memory)
        try:
            self._facts = await self._pool.open(parallel)
        except Fault as fault:
            await self.close()
            raise place_error(fault, self._target, self._user) from None
        except BaseException:
            await self.close()
            raise

    @property
    def endpoint(self) -> Endpoint | None:
        """Where the first worker is connected to."""
        facts = self._facts
        return Endpoint(self._target.host, facts.address, facts.port) if facts and facts.address else None

    @property
    def identity(self) -> str | None:
        """Dialect, signing, encryption and library, as far as each can be known."""
        return self._facts.identity if self._facts else None

    @property
    def pids(self) -> tuple[int, ...]:
        """The worker processes, whose CPU time is the tracer's own."""
        return self._pool.pids if self._pool else ()

    @property
    def passed_over(self) -> tuple[str, ...]:
        """What the last listing could not take."""
        return tuple(
            f"passed over: {count:,} {why}, such as {self._example[why]}"
            for why, count in sorted(self._passed.items())
        )

    async def listing(self) -> AsyncIterator[RemoteFile]:
        """Every regular file below the target, folder by folder in order of names; or the target alone."""
        self._passed.clear()
        try:
            size = await self._ask("size", self._path(""))
            root = await self._entries("") if size is None else []
        except Fault as fault:
            raise place_error(fault, self._target, self._user) from None
        if size is not None:
            yield RemoteFile("", size)
        folders: list[tuple[str, frozenset[int], list[Entry]]] = [("", frozenset(), root)]
        while folders:
            prefix, above, entries = folders.pop()
            for entry in entries:
                if not entry.folder:
                    yield RemoteFile(prefix + entry.name, entry.size)
            for entry in reversed(entries):
                if entry.folder and self._may_enter(prefix + entry.name, entry, above):
                    within = await self._entries_or_none(prefix + entry.name)
                    folders.append((f"{prefix}{entry.name}/", above | {entry.identity}, within))

    async def fetch(self, name: str, size: int, block_bytes: int) -> Fetched:
        """One whole file: open, stat, read, close, each timed. OperationError."""
        loan = self._memory.lend(size) if size > _INLINE_BYTES else None
        return self._fetched(await self._do(name, "fetch", self._path(name), block_bytes, loan=loan), loan)

    async def handle(self, name: str) -> SmbHandle:
        """Open a file for reading in blocks. OperationError."""
        handle = SmbHandle(self, name, next(self._handles))
        await handle.open()
        return handle

    async def make_folder(self, name: str) -> None:
        """Below the target. OperationError."""
        await self._do(name, "make_folder", self._path(name))

    async def store(self, name: str, data: bytes | memoryview) -> Fetched:
        """Write a whole new file; with smbprotocol the server is asked to put it down. OperationError."""
        if len(data) <= _INLINE_BYTES:
            return self._fetched(await self._do(name, "store", self._path(name), bytes(data)), None)
        loan = self._memory.lend(len(data))
        loan.view[:] = data
        timing = await self._do(name, "store", self._path(name), loan=loan)
        return self._fetched(timing, None)

    async def remove_folder(self, name: str) -> None:
        """With all that is in it; what is already gone is no error. OperationError."""
        await self._do(name, "remove_folder", self._path(name))

    async def close(self) -> None:
        """End the workers; none gets longer than two seconds."""
        if self._pool is not None:
            await self._pool.close()

    async def read(self, handle: int, name: str, offset: int, length: int) -> Fetched:
        """A block of an open file, by a worker that has it open if one is free. OperationError."""
        loan = self._memory.lend(max(1, length))
        arguments = (handle, self._path(name), offset, length)
        return self._fetched(await self._do(name, "read", *arguments, loan=loan, handle=handle), loan)

    async def open_handle(self, handle: int, name: str) -> None:
        """Open a file in one of the workers. OperationError."""
        await self._do(name, "open", handle, self._path(name), handle=handle)

    async def close_handle(self, handle: int) -> None:
        """Close a file in each worker that has it open."""
        if self._pool is not None:
            await self._pool.close_handle(handle)

    def _logon(self) -> Logon:
        target = self._target
        found = smb_credentials.find(target, os.environ, Path.home())
        return Logon(target.host, target.port, self._share, found.domain, found.user, found.password)

    def _path(self, name: str) -> str:
        """Relative to the share."""
        return "/".join(part for part in (self._folder, name) if part)

    async def _ask(self, operation: str, *arguments: object, **how: Any) -> Any:
        if self._pool is None:
            raise Fault("lost", "not connected")
        return await self._pool.ask(operation, *arguments, **how)

    async def _do(self, name: str, operation: str, *arguments: object, **how: Any) -> Any:
        try:
            return await self._ask(operation, *arguments, **how)
        except Fault as fault:
            raise operation_error(fault, self._target, name, self._user) from None

    async def _entries(self, name: str) -> list[Entry]:
        found = await self._ask("entries", self._path(name))
        return sorted(Entry(*entry) for entry in found)

    async def _entries_or_none(self, name: str) -> list[Entry]:
        """A folder below the target that cannot be listed costs only itself. PlaceError if all is lost."""
        try:
            return await self._entries(name)
        except Fault as fault:
            if fault.kind in ("denied", "not_found"):
                self._pass("folders could not be read", name)
                return []
            raise place_error(fault, self._target, self._user) from None

    def _may_enter(self, name: str, entry: Entry, above: frozenset[int]) -> bool:
        """Servers may follow links to folders without saying so: a folder is not entered within itself."""
        if entry.link or (entry.identity and entry.identity in above):
            self._pass("links to folders", name)
            return False
        return True

    def _pass(self, why: str, name: str) -> None:
        self._passed[why] += 1
        self._example.setdefault(why, shown(name))

    def _fetched(self, values: tuple[Any, ...], loan: Loan | None) -> Fetched:
        timing = Timing(*values)
        data: bytes | memoryview = b"" if timing.data is None else timing.data
        if loan is not None and timing.data is None:
            data = loan.view[: timing.got]
            data = bytes(data) if timing.got <= _INLINE_BYTES else data
        start = timing.start_ns + self._shift_ns
        return Fetched(data, start, *timing[1:7])


class SmbHandle:
    """A file that stays open; each worker that reads of it opens it for itself, once."""

    def __init__(self, client: SmbClient, name: str, number: int) -> None:
        self._client = client
        self._name = name
        self._number = number

    async def open(self) -> None:
        """In one worker. OperationError."""
        await self._client.open_handle(self._number, self._name)

    async def read(self, offset: int, length: int) -> Fetched:
        """Up to ``length`` bytes; fewer at the file's end. OperationError."""
        return await self._client.read(self._number, self._name, offset, length)

    async def close(self) -> None:
        """Wherever it is open."""
        await self._client.close_handle(self._number)
