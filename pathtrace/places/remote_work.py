"""What a remote files place hands to the engine, and how each item is read: whole, or block by block.

Works with any ``RemoteClient``; which file is read which way is decided elsewhere (``remote_set``). An
operation that is cut off never waits for a server that may hang: its file is closed behind its back.
"""

from __future__ import annotations

import asyncio
import contextlib
import mmap
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from pathtrace.errors import OperationError
from pathtrace.model.work import Clock, Done, Item
from pathtrace.places.file_list import FileList, shown
from pathtrace.places.reading import WHOLE_BYTES
from pathtrace.places.remote import Fetched, RemoteClient, RemoteHandle
from pathtrace.places.remote_set import key_of
from pathtrace.places.work_lists import Items

_STEP = 4 << 20
"""Of a document that is too long to be held in memory."""
_CLOSE_S = 5.0


class RemoteDocument(Item):
    """A document of another host, which no command can open by a path."""

    key: str
    """What its client calls it; ``name`` is for people."""


class RemoteBlock(Item):
    """A stretch of a file, which knows the reading that it is part of."""

    reading: RemoteReading


class RemoteDocuments(Items):
    """One item a file."""

    def __init__(self, files: FileList) -> None:
        super().__init__(len(files))
        self._files = files

    def item(self, index: int) -> Item:
        document = RemoteDocument(_name(self._files, index), self._files.sizes[index])
        document.key = key_of(self._files, index)
        return document


class RemoteBlocks(Items):
    """One item a block: each file in turn, front to end."""

    def __init__(self, readings: Sequence[RemoteReading], block_bytes: int) -> None:
        self._readings = [reading for reading in readings if reading.size]
        self._block_bytes = block_bytes
        self._firsts: list[int] = []
        count = 0
        for reading in self._readings:
            self._firsts.append(count)
            count += -(-reading.size // block_bytes)
        super().__init__(count)

    def item(self, index: int) -> Item:
        at = bisect_right(self._firsts, index) - 1
        reading = self._readings[at]
        offset = (index - self._firsts[at]) * self._block_bytes
        block = RemoteBlock(reading.name, min(self._block_bytes, reading.size - offset), None, offset)
        block.reading = reading
        return block


class Farewells:
    """Closes files that nobody waits for any more."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def close(self, handle: RemoteHandle) -> None:
        """Begin to close it; given up after a while."""
        task = asyncio.create_task(_closed(handle), name="close remote file")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def end(self) -> None:
        """Give up those that are still at it."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _closed(handle: RemoteHandle) -> None:
    with contextlib.suppress(OperationError, TimeoutError):
        async with asyncio.timeout(_CLOSE_S):
            await handle.close()


class RemoteReading:
    """One file while it is read in blocks, each block by whoever comes; each reader has it open once.

    ``whole``: the block that completes the file hands on all of it; else each block hands on itself.
    """

    def __init__(
        self,
        files: FileList,
        index: int,
        whole: bool,
        block_bytes: int,
        client: RemoteClient,
        clock: Clock,
        farewells: Farewells,
    ) -> None:
        self.name = _name(files, index)
        self.size = files.sizes[index]
        self._key = key_of(files, index)
        self._whole = whole
        self._left = -(-self.size // block_bytes)
        self._client = client
        self._clock = clock
        self._farewells = farewells
        self._idle: list[RemoteHandle] = []
        self._parts: dict[int, bytes | memoryview] = {}

    async def read(self, block: Item) -> Done:
        """One block. The first ones open the file, the last one closes it."""
        start = self._clock()
        handle: RemoteHandle | None = None
        try:
            handle = self._idle.pop() if self._idle else await self._client.handle(self._key)
            opened = self._clock()
            got = await handle.read(block.offset, block.size_bytes)
        except (OperationError, asyncio.CancelledError) as error:
            if handle is not None:
                self._farewells.close(handle)
            self._passed(block, b"")
            if isinstance(error, OperationError):
                return failed(start, self._clock(), error)
            raise
        end = self._clock()
        self._idle.append(handle)
        if self._passed(block, got.data):
            await self._close_all()
        closed = self._clock()
        first = got.start_ns + got.first_byte_ns - start if got.first_byte_ns >= 0 else -1
        count, times = len(got.data), (opened - start, first, closed - end, got.cpu_ns)
        if count < block.size_bytes:
            fault = _shrank(block.name, block.offset + count)
            return Done(start, closed - start, count, (), *times, fault=fault)
        return Done(start, closed - start, count, self._handed(block, got.data), *times)

    def let_go(self) -> None:
        """Close the file; blocks that are being read are not waited for."""
        idle, self._idle, self._parts = self._idle, [], {}
        for handle in idle:
            self._farewells.close(handle)

    def _passed(self, block: Item, data: bytes | memoryview) -> bool:
        """Note that a block is done; True if it was the last."""
        if self._whole:
            self._parts[block.offset] = data
        self._left -= 1
        return not self._left

    async def _close_all(self) -> None:
        while self._idle:
            with contextlib.suppress(OperationError):
                await self._idle.pop().close()

    def _handed(self, block: Item, data: bytes | memoryview) -> tuple[Item, ...]:
        if not self._whole:
            return (Item(block.name, len(data), None, block.offset, data),)
        if self._left:
            return ()
        parts, self._parts = self._parts, {}
        whole = b"".join(parts[offset] for offset in sorted(parts))
        return (Item(block.name, self.size, None, 0, whole),) if len(whole) == self.size else ()


async def read_document(item: Item, client: RemoteClient, block_bytes: int, clock: Clock) -> Done:
    """One document that fits into memory: open, read, close."""
    start = clock()
    try:
        got = await client.fetch(_key(item), item.size_bytes, block_bytes)
    except OperationError as error:
        return failed(start, clock(), error)
    return _done(item, got, start)


async def read_long_document(
    item: Item, client: RemoteClient, clock: Clock, farewells: Farewells, scratch: Path
) -> Done:
    """One document of more than 64 MiB, kept in a file without a name; handed on as a mapping of it."""
    start = clock()
    handle: RemoteHandle | None = None
    with await asyncio.to_thread(lambda: TemporaryFile(dir=scratch)) as spool:
        try:
            handle = await client.handle(_key(item))
            opened = clock()
            got, first = await _spooled(handle, item.size_bytes, spool)
            closing = clock()
            await handle.close()
        except (OperationError, OSError, asyncio.CancelledError) as error:
            if handle is not None:
                farewells.close(handle)
            if isinstance(error, asyncio.CancelledError):
                raise
            return failed(start, clock(), error)
        end = clock()
        times = opened - start, first - start if got else -1, end - closing
        if got < item.size_bytes:
            return Done(start, end - start, got, (), *times, fault=_shrank(item.name, got))
        whole = memoryview(mmap.mmap(spool.fileno(), got, access=mmap.ACCESS_READ))
        return Done(start, end - start, got, (Item(item.name, got, None, 0, whole),), *times)


async def _spooled(handle: RemoteHandle, size: int, spool: IO[bytes]) -> tuple[int, int]:
    """How many bytes came, and when the first did."""
    got, first = 0, -1
    while got < size:
        part = await handle.read(got, min(_STEP, size - got))
        if not len(part.data):
            break
        if first < 0:
            first = part.start_ns + part.first_byte_ns
        await asyncio.to_thread(spool.write, part.data)
        got += len(part.data)
    await asyncio.to_thread(spool.flush)
    return got, first


def is_long(item: Item) -> bool:
    """True of a document that is not to be held in memory."""
    return item.size_bytes > WHOLE_BYTES


def failed(start: int, end: int, error: OperationError | OSError) -> Done:
    """An operation that ended in an error of the client's, or of the disk here."""
    why = error.message if isinstance(error, OperationError) else f"it cannot be kept here: {error.strerror}"
    return Done(start, end - start, 0, fault=why)


def _done(item: Item, got: Fetched, start: int) -> Done:
    """``start`` is before the client's own: what lies between belongs to getting ready."""
    ahead = got.start_ns - start
    first = got.first_byte_ns + ahead if got.first_byte_ns >= 0 else -1
    times = got.setup_ns + ahead, first, got.finish_ns, got.cpu_ns
    count, elapsed = len(got.data), got.elapsed_ns + ahead
    if count < item.size_bytes:
        fault = _shrank(item.name, count)
        return Done(start, elapsed, count, (), *times, fault=fault, stat_ns=got.stat_ns)
    whole = (Item(item.name, count, None, 0, got.data),)
    return Done(start, elapsed, count, whole, *times, stat_ns=got.stat_ns)


def _key(item: Item) -> str:
    return item.key if isinstance(item, RemoteDocument) else item.name


def _name(files: FileList, index: int) -> str:
    return files.name(index).decode("utf-8", "backslashreplace")


def _shrank(name: str, got: int) -> str:
    return f"{shown(name)}: got shorter while the run read it; it ends after {got:,} bytes"
