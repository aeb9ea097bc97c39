"""The shape that a protocol for files on another host has to fill, and the values that pass.

One client for each protocol (``smb``, ``sftp``), which the protocol's module makes by ``make_client``
(``MakeClient``); ``remote_files`` makes a place of any of them. All times are the caller's monotonic
clock's nanoseconds and are taken where the work happens.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

from pathtrace.model.network import Endpoint
from pathtrace.model.work import Clock


@dataclass(frozen=True, slots=True)
class Target:
    """A ``files`` URL, taken apart. ``password`` is a secret: it never stands in a message."""

    scheme: str
    host: str
    port: int | None
    user: str | None
    password: str | None = field(repr=False)
    path: str
    """Of SMB ``share/folder/…``, without a leading slash; of SFTP absolute, or relative to the home."""


class RemoteFile(NamedTuple):
    """A regular file below the target; ``name`` is relative to it ("" if the target is the file itself).

    What a name has of bytes that are not UTF-8 stands in it as ``surrogateescape`` has it.
    """

    name: str
    size: int


class Fetched(NamedTuple):
    """Bytes that came, and when. ``cpu_ns`` -1: nobody's in particular (work on the event loop)."""

    data: bytes | memoryview
    start_ns: int
    setup_ns: int
    """Open and stat."""
    stat_ns: int
    first_byte_ns: int
    """From the start; -1 if nothing came."""
    finish_ns: int
    """Close."""
    elapsed_ns: int
    cpu_ns: int


class RemoteHandle(Protocol):
    """A file that stays open while blocks of it are read."""

    async def read(self, offset: int, length: int) -> Fetched:
        """Up to ``length`` bytes; fewer at the file's end. OperationError."""
        ...

    async def close(self) -> None: ...


class RemoteClient(Protocol):
    """One protocol's client: as many operations at a time as ``open`` was told. Maps foreign errors.

    PlaceError: unknown host, refused, wrong password, no such share or path (what, why, what to do).
    OperationError: one file's failure. After a lost connection each operation fails, and one after the
    other tries once to connect again.
    """

    async def open(self, parallel: int) -> None:
        """Connect. PlaceError."""
        ...

    @property
    def endpoint(self) -> Endpoint | None:
        """Where it is connected to (``host`` as in the URL)."""
        ...

    @property
    def identity(self) -> str | None:
        """Protocol, dialect, signing, encryption, cipher, library: ``SMB 3.1.1, signed, libsmbclient 4``."""
        ...

    def listing(self) -> AsyncIterator[RemoteFile]:
        """Every regular file below the target, or the target alone. PlaceError."""
        ...

    async def fetch(self, name: str, size: int, block_bytes: int) -> Fetched:
        """One whole file: open, stat, read, close, each timed. OperationError."""
        ...

    async def handle(self, name: str) -> RemoteHandle:
        """Open a file for reading in blocks. OperationError."""
        ...

    async def make_folder(self, name: str) -> None:
        """Below the target; for scratch data. OperationError."""
        ...

    async def store(self, name: str, data: bytes | memoryview) -> Fetched:
        """Write a whole new file, durable where the protocol can; ``data`` of the result is empty."""
        ...

    async def remove_folder(self, name: str) -> None:
        """With all that is in it; what is already gone is no error."""
        ...

    async def close(self) -> None:
        """Never raises for what is already gone."""
        ...


@runtime_checkable
class SaysCache(Protocol):
    """A client that knows what of the files stays in this host's memory."""

    @property
    def client_cache(self) -> str:
        """Why an operation never meets data of an earlier one: the evidence for ``client_cache: cold``."""
        ...


@runtime_checkable
class PassesOver(Protocol):
    """A client that counts what its listing could not take."""

    @property
    def passed_over(self) -> tuple[str, ...]:
        """Of the last listing, a sentence for each kind: ``passed over: 2 broken links, such as a/b``."""
        ...


@runtime_checkable
class HasProcesses(Protocol):
    """A client that works in processes of its own, whose CPU time is the tracer's."""

    @property
    def pids(self) -> tuple[int, ...]:
        """Those that run now."""
        ...


MakeClient = Callable[[Target, Clock], RemoteClient]
"""What each protocol's module has as ``make_client``. Does no I/O."""
