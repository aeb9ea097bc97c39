"""A ``files`` place behind a URL: files on another host, over a protocol's own client.

Counts and hands on as ``files`` does for a path: a tree is one operation a file, one file (or a tree of
weights) one operation a block, documents are handed on whole. Files are read front to end, one operation
in progress for each worker. Written is only below a folder of our own beside the user's files, one file for
each item, removed when the place is closed; after a crash the next run that writes there removes it.

Which protocol is the URL's affair; how bytes come is its client's; queues and time limits are the engine's.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import random
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import cast

from pathtrace.errors import OperationError, PlaceError, UsageError
from pathtrace.model.network import Endpoint
from pathtrace.model.run import Mount
from pathtrace.model.scenario import Action, Start
from pathtrace.model.scenario import Place as Described
from pathtrace.model.work import Clock, Done, Item, LayerState, PlaceFacts
from pathtrace.places import elsewhere
from pathtrace.places.file_list import OWN_FOLDER, FileList
from pathtrace.places.file_set import only_written
from pathtrace.places.remote import (
    HasProcesses,
    MakeClient,
    PassesOver,
    RemoteClient,
    RemoteFile,
    SaysCache,
)
from pathtrace.places.remote_set import (
    InBlocks,
    facts,
    find_files,
    fingerprint,
    key_of,
    layout,
    refuse_access,
    remote_spec,
    shown_target,
    target_of,
)
from pathtrace.places.remote_work import (
    Farewells,
    RemoteBlock,
    RemoteBlocks,
    RemoteDocuments,
    RemoteReading,
    is_long,
    read_document,
    read_long_document,
)
from pathtrace.places.writing import content_of
from pathtrace.units import seconds

CLIENTS = {"smb": "pathtrace.places.smb:make_client", "sftp": "pathtrace.places.sftp:make_client"}
"""Where the client of each scheme is made; imported when a place is opened."""

MOST_AT_ONCE = 64
_ANSWER_S = 5.0
"""How long a server gets to answer at all before what we wrote there is given up."""
_REMOVE_S = 10.0
_REMOVE_EACH_S = 0.05
"""For each file that we wrote: some round trips, on a far server."""


class RemoteFiles:
    """See the module. Construct, then as ``ports.Place`` says."""

    def __init__(self, place: Described, clock: Clock, seed: int) -> None:
        self._place = place
        self._spec = remote_spec(place)
        self._clock = clock
        self._seed = seed
        self._most = place.workers * self._spec.depth
        self._scheme = (self._spec.url or "").partition(":")[0]
        if self._scheme not in CLIENTS:
            raise UsageError(
                f"{place.name}: files by {self._scheme} are not available in this version",
                hint="mount the share and give its `path`",
            )
        self._client: RemoteClient | None = None
        self._identity: str | None = None
        self._endpoint: Endpoint | None = None
        self._files: FileList | None = None
        self._blocks: tuple[InBlocks, ...] | None = None
        self._scratch: Path | None = None
        self._folder = ""
        self._made = False
        self._written = 0
        self._readings: list[RemoteReading] = []
        self._farewells = Farewells()

    @property
    def mount(self) -> Mount | None:
        return None

    @property
    def scratch_folder(self) -> Path | None:
        return None

    @property
    def server_pid(self) -> int | None:
        return None

    @property
    def identity(self) -> str | None:
        return self._identity

    @property
    def endpoint(self) -> Endpoint | None:
        return self._endpoint

    @property
    def pids(self) -> tuple[int, ...]:
        """Processes of our own that do the client's work, once opened; none if this one does."""
        return self._client.pids if isinstance(self._client, HasProcesses) else ()

    @property
    def left_behind(self) -> str | None:
        """Once closed, where something of ours still lies that could not be removed."""
        if not self._made or self._client is not None:
            return None
        return f"{self._shown.rstrip('/')}/{self._folder}"

    @property
    def _shown(self) -> str:
        return shown_target(target_of(self._spec.url or ""))

    def far_sources(self, count: int) -> tuple[tuple[str, int], ...]:
        files = self._listed()
        indexes: Sequence[int] = range(len(files))
        if len(indexes) > count:
            indexes = sorted(random.Random(self._seed).sample(indexes, count))
        return tuple((key_of(files, n), files.sizes[n]) for n in indexes)

    def batch(self, action: Action) -> int:
        return 0

    def concurrency(self, action: Action) -> int:
        """Reading a tree: workers times depth; reading a file: depth; writing: workers."""
        if action is Action.WRITE:
            return self._place.workers
        return self._most if self._blocks is None else self._spec.depth

    async def check(self) -> PlaceFacts:
        client = await self._connected(1)
        try:
            return await self._look(client)
        finally:
            self._files = None
            await client.close()

    async def open(self, scratch: Path) -> PlaceFacts:
        self._scratch = scratch
        self._folder = f"{OWN_FOLDER}{scratch.parent.name}-{secrets.token_hex(3)}"
        client = self._client = await self._connected(self._most)
        self._identity = client.identity
        reached = client.endpoint
        self._endpoint = None if reached is None else replace(reached, host=self._place.host)
        began_ns = self._clock()
        found = await self._look(client)
        if self._files is None:
            return found
        self._blocks = layout(self._place, self._files)
        return replace(found, listing_s=seconds(self._clock() - began_ns))

    async def begin(self, start: Start, actions: frozenset[Action]) -> tuple[LayerState, ...]:
        self._let_go()
        if Action.WRITE in actions:
            await self._empty_folder()
        if Action.READ not in actions:
            return ()
        self._listed()
        return self._states()

    async def supply(self, action: Action) -> Sequence[Item]:
        files = self._listed()
        if self._blocks is None:
            return RemoteDocuments(files)
        client, block = self._opened(), self._spec.block_bytes
        readings = [
            RemoteReading(files, each.index, each.whole, block, client, self._clock, self._farewells)
            for each in self._blocks
        ]
        self._readings += readings
        return RemoteBlocks(readings, block)

    async def draw(self, items: Sequence[Item]) -> Sequence[Done]:
        # One at a time: were a server to hang, the time limit would cost what was drawn with it.
        item = items[0]
        if isinstance(item, RemoteBlock):
            return (await item.reading.read(item),)
        client = self._opened()
        if is_long(item):
            assert self._scratch is not None
            return (await read_long_document(item, client, self._clock, self._farewells, self._scratch),)
        return (await read_document(item, client, self._spec.block_bytes, self._clock),)

    async def perform(self, action: Action, items: Sequence[Item]) -> Done:
        (item,) = items
        answer = None if item.answer is None else "".join([piece async for piece in item.answer])
        content = memoryview(content_of(item, answer)).cast("B")
        start = self._clock()
        self._written += 1
        stored = await self._opened().store(f"{self._folder}/{_stored_name(item)}", content)
        ahead = stored.start_ns - start
        times = stored.setup_ns + ahead, -1, stored.finish_ns, stored.cpu_ns
        return Done(start, stored.elapsed_ns + ahead, len(content), (), *times)

    async def finish(self, action: Action) -> Done | None:
        return None

    async def fingerprint(self) -> str | None:
        if self._files is None:
            return None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._place.timeout_s):
                return await fingerprint(self._files, self._opened())
        return None

    async def close(self) -> None:
        self._let_go()
        await self._farewells.end()
        client, self._client = self._client, None
        if client is None:
            return
        try:
            if self._made:
                await self._remove_folder(client)
        finally:
            await client.close()

    async def _remove_folder(self, client: RemoteClient) -> None:
        """As long as it takes where the server answers; where it does not, soon given up."""
        with contextlib.suppress(OperationError, TimeoutError):
            async with asyncio.timeout(_ANSWER_S):
                await client.remove_folder(f"{self._folder}/nothing")
            await self._emptied(client, _REMOVE_S)
            self._made = False
            if self._scratch is not None:
                elsewhere.forget(self._scratch, self._folder)

    async def _emptied(self, client: RemoteClient, patience_s: float) -> None:
        """Our folder removed, however much lies in it. OperationError, TimeoutError."""
        async with asyncio.timeout(patience_s + self._written * _REMOVE_EACH_S):
            await client.remove_folder(self._folder)
        self._written = 0

    async def _connected(self, parallel: int) -> RemoteClient:
        refuse_access(self._place)
        self._refuse_too_many()
        with self._at_this_place():
            assert self._spec.url is not None
            client = _maker(self._scheme)(target_of(self._spec.url), self._clock)
            try:
                async with asyncio.timeout(self._place.timeout_s):
                    await client.open(parallel)
            except BaseException:
                await client.close()
                raise
            return client

    def _refuse_too_many(self) -> None:
        """Each operation at once over SMB is a process: hundreds would take the memory of both hosts."""
        if self._scheme == "smb" and self._most > MOST_AT_ONCE:
            raise PlaceError(
                f"{self._place.workers} workers of depth {self._spec.depth} are {self._most} connections",
                hint=f"over SMB workers × depth may be up to {MOST_AT_ONCE}",
                where=self._place.name,
            )

    async def _look(self, client: RemoteClient) -> PlaceFacts:
        """List what is there, and say it; of an output only whether there is a folder."""
        assert self._spec.url is not None
        target = target_of(self._spec.url)
        with self._at_this_place():
            if self._place.data == "output":
                return await self._output_facts(client, shown_target(target))
            listing = self._in_time(client.listing())
            self._files = await find_files(self._place, target, listing, self._seed)
        passed = client.passed_over if isinstance(client, PassesOver) else ()
        return facts(self._place, self._files, passed, self._scheme.upper())

    async def _output_facts(self, client: RemoteClient, where: str) -> PlaceFacts:
        async with contextlib.aclosing(self._in_time(client.listing())) as listing:
            async for file in listing:
                if not file.name:
                    raise PlaceError(f"{where} is not a folder to write into")
                break
        return PlaceFacts(summary=f"writes below {where}, in a folder that is removed afterwards")

    async def _in_time(self, listing: AsyncIterator[RemoteFile]) -> AsyncGenerator[RemoteFile, None]:
        """The same files; TimeoutError if for as long as an operation may take none comes."""
        try:
            while True:
                try:
                    async with asyncio.timeout(self._place.timeout_s):
                        file = await anext(listing)
                except StopAsyncIteration:
                    return
                yield file
        finally:
            if isinstance(listing, AsyncGenerator):
                await listing.aclose()

    async def _empty_folder(self) -> None:
        client = self._opened()
        if self._scratch is not None and not self._made:
            await elsewhere.remove_left(self._scratch, self._shown, client, _REMOVE_S)
            elsewhere.remember(self._scratch, self._shown, self._folder)
        try:
            with self._at_this_place():
                await self._emptied(client, self._place.timeout_s)
                self._made = True
                async with asyncio.timeout(self._place.timeout_s):
                    await client.make_folder(self._folder)
        except OperationError as error:
            raise PlaceError(
                f"cannot write there: {error.message}",
                hint="choose a folder that this user may write into",
                where=self._place.name,
            ) from error

    def _states(self) -> tuple[LayerState, ...]:
        name, client = self._place.name, self._opened()
        if isinstance(client, SaysCache):
            near = LayerState("client_cache", name, "cold", client.client_cache)
        else:
            near = LayerState("client_cache", name, "unknown", f"the {self._scheme} client does not say")
        far = f"not visible from here: {self._place.host} may have the files in its memory"
        return near, LayerState("server_cache", name, "unknown", far)

    @contextlib.contextmanager
    def _at_this_place(self) -> Iterator[None]:
        """Names the place in errors, and says in words that nobody answered."""
        try:
            yield
        except TimeoutError as error:
            raise PlaceError(
                f"no answer within {self._place.timeout_s:g} s",
                hint="is the server busy or its disk asleep? `timeout` of the place can be raised",
                where=self._place.name,
            ) from error
        except PlaceError as error:
            if error.where is None:
                error.where = self._place.name
            raise

    def _listed(self) -> FileList:
        if self._files is None:
            raise only_written(self._place)
        return self._files

    def _opened(self) -> RemoteClient:
        assert self._client is not None, "open comes first"
        return self._client

    def _let_go(self) -> None:
        for reading in self._readings:
            reading.let_go()
        self._readings = []


def _stored_name(item: Item) -> str:
    name = hashlib.sha256(item.name.encode("utf-8", "backslashreplace")).hexdigest()[:32]
    return f"{name}-{item.offset}" if item.offset else name


def _maker(scheme: str) -> MakeClient:
    module, name = CLIENTS[scheme].split(":")
    try:
        return cast("MakeClient", getattr(import_module(module), name))
    except ImportError as error:
        raise PlaceError(
            f"{scheme}:// needs the package {error.name}", hint=f"pip install {error.name}"
        ) from error
