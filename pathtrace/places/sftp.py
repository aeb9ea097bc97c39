"""Files over SFTP, with asyncssh: what ``remote.RemoteClient`` promises.

A read is cut into the largest requests that the server takes, and up to 64 of them are under way at once
(as OpenSSH's own client does), so that a round trip is waited for once a block and not once a request.
All work is done on the event loop: where it takes a whole core, that is the tracer's limit.

Connections and sessions are the siblings'; this knows files, folders and SFTP's errors.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import cast

import asyncssh

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.network import Endpoint
from pathtrace.model.work import Clock
from pathtrace.places.buffers import Buffers
from pathtrace.places.file_list import shown
from pathtrace.places.remote import Fetched, RemoteFile, RemoteHandle, Target
from pathtrace.places.sftp_listing import Listing
from pathtrace.places.sftp_sessions import Session, Sessions, closed
from pathtrace.places.ssh_connection import Login, endpoint_of, software_of

_REQUESTS = 64
_NOTHING = memoryview(b"")
_GONE = (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath)
_LOST = (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection, asyncssh.SFTPBadMessage)

File = asyncssh.SFTPClientFile


def make_client(target: Target, clock: Clock) -> Sftp:
    """See ``remote.MakeClient``."""
    return Sftp(target, clock)


class Sftp:
    """See the module; the methods are ``remote.RemoteClient``'s."""

    def __init__(self, target: Target, clock: Clock) -> None:
        self._target = target
        self._root = target.path.encode("utf-8", "surrogateescape")
        self._clock = clock
        self._sessions = Sessions(Login(target.host, target.port, target.user, target.password))
        self._endpoint: Endpoint | None = None
        self._identity: str | None = None
        self._passed_over: tuple[str, ...] = ()

    @property
    def endpoint(self) -> Endpoint | None:
        return self._endpoint

    @property
    def identity(self) -> str | None:
        return self._identity

    @property
    def client_cache(self) -> str:
        return "asyncssh keeps no file data: each read is a request to the server"

    @property
    def passed_over(self) -> tuple[str, ...]:
        return self._passed_over

    async def open(self, parallel: int) -> None:
        await self._sessions.fill(parallel)
        session = await self._sessions.take()
        self._endpoint = endpoint_of(session.connection, self._target.host)
        self._identity = f"SFTP {session.sftp.version}, {software_of(session.connection)}"
        self._sessions.give_back(session)

    async def listing(self) -> AsyncIterator[RemoteFile]:
        session = await self._sessions.take()
        try:
            found = Listing(session.sftp, self._root, self._path)
            async for file in found.files():
                yield file
            self._passed_over = found.passed_over()
        except (OSError, asyncssh.Error) as error:
            raise _unusable(self._target, error) from error
        finally:
            self._sessions.give_back(session)

    async def fetch(self, name: str, size: int, block_bytes: int) -> Fetched:
        start = self._clock()
        async with self._lent(name) as session:
            # block_size 0: one request a read; what is longer is cut into pieces here.
            file = await session.sftp.open(self._path(name), "rb", block_size=0)
            try:
                asking = self._clock()
                there = (await file.stat()).size or 0
                opened = self._clock()
                data, first = await self._read(file, session, 0, there)
            except (OSError, asyncssh.Error):
                await closed(file)
                raise
            closing = self._clock()
            await file.close()
        end = self._clock()
        first = first - start if data else -1
        return Fetched(data, start, opened - start, opened - asking, first, end - closing, end - start, -1)

    async def handle(self, name: str) -> RemoteHandle:
        session = await self._took(name)
        try:
            with self._mapped(name, session):
                file = await session.sftp.open(self._path(name), "rb", block_size=0)
        except BaseException:
            self._sessions.give_back(session)
            raise
        return _Handle(self, name, session, file)

    async def make_folder(self, name: str) -> None:
        async with self._lent(name) as session:
            await session.sftp.mkdir(self._path(name), asyncssh.SFTPAttrs(permissions=0o700))

    async def store(self, name: str, data: bytes | memoryview) -> Fetched:
        view = memoryview(data).cast("B")
        start = self._clock()
        async with self._lent(name) as session:
            file = await session.sftp.open(self._path(name), "wb", block_size=0)
            opened = self._clock()

            async def write(at: int, length: int) -> None:
                await file.write(bytes(view[at : at + length]), at)

            try:
                await _in_pieces(len(view), session.sftp.limits.max_write_len, write)
                flushing = self._clock()
                with contextlib.suppress(asyncssh.SFTPOpUnsupported):
                    await file.fsync()
            except (OSError, asyncssh.Error):
                await closed(file)
                raise
            await file.close()
        end = self._clock()
        return Fetched(_NOTHING, start, opened - start, -1, -1, end - flushing, end - start, -1)

    async def remove_folder(self, name: str) -> None:
        async with self._lent(name) as session:
            with contextlib.suppress(*_GONE):
                await session.sftp.rmtree(self._path(name))

    async def close(self) -> None:
        await self._sessions.close()

    async def read(self, file: File, name: str, session: Session, offset: int, length: int) -> Fetched:
        """Up to ``length`` bytes of an open file. OperationError."""
        start = self._clock()
        with self._mapped(name, session):
            data, first = await self._read(file, session, offset, length)
        end = self._clock()
        return Fetched(data, start, 0, -1, first - start if data else -1, 0, end - start, -1)

    def release(self, session: Session) -> None:
        """A handle is done with its session."""
        self._sessions.give_back(session)

    async def _read(self, file: File, session: Session, offset: int, length: int) -> tuple[memoryview, int]:
        """The bytes that came without a gap, and when the first of them had come."""
        data = _BUFFERS.lend(length)
        got: dict[int, int] = {}
        first: list[int] = []

        async def read(at: int, size: int) -> None:
            got[at] = 0
            while got[at] < size:
                part = cast("bytes", await file.read(size - got[at], offset + at + got[at]))
                if not part:
                    return
                if not first:
                    first.append(self._clock())
                data[at + got[at] : at + got[at] + len(part)] = part
                got[at] += len(part)

        await _in_pieces(length, session.sftp.limits.max_read_len, read)
        return data[: _without_gap(got)], first[0] if first else -1

    def _path(self, name: str) -> bytes:
        raw = name.encode("utf-8", "surrogateescape")
        if not raw:
            return self._root or b"."
        return self._root.rstrip(b"/") + b"/" + raw if self._root else raw

    @contextlib.asynccontextmanager
    async def _lent(self, name: str) -> AsyncIterator[Session]:
        session = await self._took(name)
        try:
            with self._mapped(name, session):
                yield session
        finally:
            self._sessions.give_back(session)

    async def _took(self, name: str) -> Session:
        try:
            return await self._sessions.take()
        except PlaceError as error:
            raise OperationError(f"{self._shown(name)}: {error.message}", hint=error.hint) from error

    @contextlib.contextmanager
    def _mapped(self, name: str, session: Session) -> Iterator[None]:
        """Foreign errors as ours; a session that is lost, or cut off in mid-request, is not used again."""
        try:
            yield
        except (OSError, asyncssh.Error) as error:
            if not isinstance(error, asyncssh.SFTPError) or isinstance(error, _LOST):
                self._sessions.retire(session)
            raise OperationError(f"{self._shown(name)}: {_why(self._target.host, error)}") from error
        except asyncio.CancelledError:
            self._sessions.retire(session)
            raise

    def _shown(self, name: str) -> str:
        return shown(self._path(name))


class _Handle:
    """A file that stays open, in a session that it keeps."""

    def __init__(self, client: Sftp, name: str, session: Session, file: File) -> None:
        self._client = client
        self._name = name
        self._session = session
        self._file: File | None = file

    async def read(self, offset: int, length: int) -> Fetched:
        assert self._file is not None, "read after close"
        return await self._client.read(self._file, self._name, self._session, offset, length)

    async def close(self) -> None:
        file, self._file = self._file, None
        if file is None:
            return
        try:
            await closed(file)
        finally:
            self._client.release(self._session)


async def _in_pieces(length: int, most: int, work: Callable[[int, int], Awaitable[None]]) -> None:
    """``work(at, size)`` for pieces of equal size, none above ``most``, 64 at a time."""
    pieces = pieces_of(length, most)
    if len(pieces) < 2:
        for at, size in pieces:
            await work(at, size)
        return
    queue = iter(pieces)

    async def worker() -> None:
        for at, size in queue:
            await work(at, size)

    tasks = [asyncio.ensure_future(worker()) for _ in range(min(_REQUESTS, len(pieces)))]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def pieces_of(length: int, most: int) -> list[tuple[int, int]]:
    """Offset and size of the fewest equal pieces of ``length`` bytes of which none is above ``most``."""
    if not length:
        return []
    size = -(-length // -(-length // max(1, most)))
    return [(at, min(size, length - at)) for at in range(0, length, size)]


def _without_gap(got: dict[int, int]) -> int:
    """How many bytes there are from the front on; pieces by offset, in bytes that came."""
    end = 0
    for at in sorted(got):
        if at != end:
            break
        end += got[at]
    return end


def _why(host: str, error: OSError | asyncssh.Error) -> str:
    match error:
        case asyncssh.SFTPNoSuchFile() | asyncssh.SFTPNoSuchPath():
            return "no such file or folder"
        case asyncssh.SFTPPermissionDenied():
            return "no permission"
        case asyncssh.SFTPNoSpaceOnFilesystem() | asyncssh.SFTPQuotaExceeded():
            return "no room left there"
        case asyncssh.SFTPError() if not isinstance(error, _LOST):
            return f"{host} says: {error.reason}"
        case _:
            return f"the connection to {host} was lost"


def _unusable(target: Target, error: OSError | asyncssh.Error) -> PlaceError:
    path = shown(target.path) or "the home folder"
    match error:
        case asyncssh.SFTPNoSuchFile() | asyncssh.SFTPNoSuchPath():
            hint = "the path in the URL starts at the server's root; sftp://host/~/folder starts at home"
            return PlaceError(f"there is nothing at {path} on {target.host}", hint=hint)
        case asyncssh.SFTPPermissionDenied():
            return PlaceError(
                f"no permission to read {path} on {target.host}",
                hint="ask for read access, or use another user",
            )
        case _:
            return PlaceError(
                f"{path} on {target.host} cannot be read: {_why(target.host, error)}",
                hint="check the disk and the server there",
            )


_BUFFERS = Buffers()
