"""A ``files`` place: a file or a tree on this host or any mount, read as the flow's source or written to.

What is one operation, and what is handed on:

* a tree is documents: one operation a file (open, read, close), handed on whole;
* one file is blocks: one operation a block of ``block`` bytes. Weights (GGUF, safetensors, ``data:
  weights``) and files above 64 MiB hand on each block as it is. A smaller file is a document: its blocks
  hand on nothing until the last one, which hands on all of it: whoever takes it apart gets it whole;
* a tree of weights (``data: weights``, or GGUF and safetensors make up most of its bytes) is one such file
  after the other.

GGUF and safetensors are mapped and read in tensor order unless ``access`` is stated. With ``direct`` every
read passes the page cache by; a file system that cannot do that is refused when the place is opened.
Documents above 64 MiB are handed on as a mapping of the file, so that memory stays bounded. A file that
vanished, got shorter or lost its permission is a failed operation; one that grew since it was listed is
read to the size that it has when opened.

Joins what the siblings know: finding (``file_set``), reading, caches, making, writing. Queues, budgets, time
limits and repeats are the engine's.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from typing import TypeVar

from pathtrace.errors import PlaceError
from pathtrace.model.run import Mount
from pathtrace.model.scenario import Access, Action, Made, Start
from pathtrace.model.scenario import Place as Described
from pathtrace.model.work import Clock, Done, Item, LayerState, PlaceFacts
from pathtrace.places.file_caches import direct_states, files_to_visit, layer_states, visit
from pathtrace.places.file_list import FileList, shown
from pathtrace.places.file_set import (
    Layout,
    facts,
    files_spec,
    find_files,
    fingerprint,
    layout,
    only_written,
    refuse_direct,
    unusable,
)
from pathtrace.places.lane import Lane
from pathtrace.places.made_files import made_root, made_sizes, make_file
from pathtrace.places.mounts import mount_of
from pathtrace.places.outside import forget, remember
from pathtrace.places.page_cache import Look
from pathtrace.places.reading import (
    BURST,
    DIRECT_BURST,
    UNHELD_BURST,
    Block,
    Plan,
    Reading,
    map_document,
    read_burst,
    read_document,
    read_document_directly,
)
from pathtrace.places.sources import Direct, Mapped, Opening, Plain
from pathtrace.places.threads import in_thread, paced
from pathtrace.places.work_lists import Blocks, Documents, blocks_in
from pathtrace.places.writing import Writer
from pathtrace.units import format_bytes, format_count, seconds

Result = TypeVar("Result")

_DOCUMENTS = {
    Access.READ: read_document,
    Access.MMAP: map_document,
    Access.DIRECT: read_document_directly,
}
_OPENINGS: dict[Access, Opening] = {Access.READ: Plain, Access.MMAP: Mapped, Access.DIRECT: Direct}

_SPARE_BYTES = 64 << 20
"""Room that made files leave on the disk."""

_REMOVE_S = 60.0
"""How long removing scratch data may take."""


def _skim(item: Item) -> Done:
    assert isinstance(item, Block)
    return item.reading.skim(item)


class Files:
    """See the module. Construct, then as ``ports.Place`` says."""

    def __init__(self, place: Described, clock: Clock, seed: int) -> None:
        self._place = place
        self._spec = files_spec(place)
        self._clock = clock
        self._seed = seed
        self._threads = place.workers * self._spec.depth
        self._pool = ThreadPoolExecutor(self._threads + place.workers, f"pathtrace-{place.name}")
        path = self._spec.path
        self._root: Path | None = None if path is None else Path(os.path.expanduser(path))
        self._files: FileList | None = None
        self._layout = Layout(None, Access.READ)
        self._document = read_document
        self._burst = DIRECT_BURST if self._spec.access is Access.DIRECT else BURST
        self._mount: Mount | None = None
        self._writer: Writer | None = None
        self._scratch: Path | None = None
        self._made: Path | None = None
        self._readings: list[Reading] = []

    @property
    def mount(self) -> Mount | None:
        return self._mount

    @property
    def scratch_folder(self) -> Path | None:
        """The folder written to, from the first repeat that writes on."""
        return None if self._writer is None else self._writer.folder

    @property
    def server_pid(self) -> int | None:
        return None

    @property
    def identity(self) -> str | None:
        return None

    def sources(self, count: int) -> tuple[tuple[str, int], ...]:
        files = self._listed()
        indexes: Sequence[int] = range(len(files))
        if len(indexes) > count:
            indexes = sorted(random.Random(self._seed).sample(indexes, count))
        return tuple((os.fsdecode(files.path(n)), files.sizes[n]) for n in indexes)

    def batch(self, action: Action) -> int:
        return 0

    def concurrency(self, action: Action) -> int:
        """Reading a tree: workers times depth; reading a file: depth; writing: workers."""
        if action is Action.WRITE:
            return self._place.workers
        return self._threads if self._layout.blocks is None else self._spec.depth

    async def check(self) -> PlaceFacts:
        made = self._spec.make
        if made is not None:
            return _facts_of(made)
        if self._place.data == "output":
            return await self._blocking(lambda stopped: self._output_facts())
        found = await self._paced(self._find)
        return await self._blocking(lambda stopped: facts(found, self._how(found), ()))

    async def open(self, scratch: Path) -> PlaceFacts:
        if self._spec.make is not None:
            self._made = scratch / "made"
            self._root = made_root(self._spec.make, self._made)
            await self._make(self._spec.make, self._made)
        root = self._root
        assert root is not None
        folder = scratch if self._spec.path is None else root
        self._writer = Writer(self._place.name, folder, self._clock)
        self._scratch = scratch
        if self._spec.path is not None:
            planned = self._writer.planned
            await self._blocking(lambda stopped: remember(scratch, planned))
        self._mount = await self._blocking(lambda stopped: mount_of(root))
        if self._place.data == "output":
            return await self._blocking(lambda stopped: self._output_facts())
        began_ns = self._clock()
        files = self._files = await self._paced(self._find)
        listing_s = seconds(self._clock() - began_ns)
        self._layout = await self._blocking(lambda stopped: layout(self._place, files))
        await self._blocking(lambda stopped: refuse_direct(self._place, files, self._mount))
        self._document = _DOCUMENTS[self._layout.access]
        warnings = self._layout.warnings
        found = await self._blocking(lambda stopped: facts(files, self._how(files), warnings))
        return replace(found, listing_s=listing_s)

    async def begin(self, start: Start, actions: frozenset[Action]) -> tuple[LayerState, ...]:
        self._let_go()
        if Action.WRITE in actions:
            writer = self._opened_writer()
            await self._blocking(lambda stopped: writer.empty())
        if Action.READ not in actions:
            return ()
        files = self._listed()
        direct = self._spec.access is Access.DIRECT
        if direct and start is not Start.COLD:
            return direct_states(self._place.name, self._mount)
        indexes = files_to_visit(files, start, self._seed)
        shares = [indexes[n :: self._threads] for n in range(self._threads)]
        visits = (self._paced(partial(visit, files, s, start)) for s in shares)
        seen = reduce(Look.plus, await asyncio.gather(*visits), Look())
        if direct:
            return direct_states(self._place.name, self._mount)
        return layer_states(self._place.name, seen, self._mount)

    async def supply(self, action: Action) -> Sequence[Item]:
        files = self._listed()
        if self._layout.blocks is None:
            return Documents(files)
        work = []
        for file in self._layout.blocks:
            name = files.name(file.index).decode("utf-8", "backslashreplace")
            path = os.fsdecode(files.path(file.index))
            blocks = blocks_in(file.ranges, self._spec.block_bytes)
            plan = Plan(name, path, files.sizes[file.index], blocks, _OPENINGS[file.access], file.whole)
            work.append((Reading(plan, self._clock), file.ranges))
        self._readings += [reading for reading, _ in work]
        return Blocks(work, self._spec.block_bytes)

    async def draw(self, items: Sequence[Item]) -> Sequence[Done]:
        # A cancelled draw does not wait for its thread: it may hang in the kernel for minutes.
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, read_burst, items, self._one, self._clock, self._burst)

    def lane(self) -> Lane | None:
        """For blocks. Many small reads would take turns with the event loop at holding the interpreter."""
        if self._layout.blocks is None:
            return None
        return Lane(self._pool, self._one, self._clock, self._burst)

    def last_lane(self) -> Lane | None:
        if self._layout.blocks is None:
            return None
        burst = max(self._burst, UNHELD_BURST, key=lambda burst: burst.bytes)
        return Lane(self._pool, _skim, self._clock, burst)

    async def perform(self, action: Action, items: Sequence[Item]) -> Done:
        (item,) = items
        answer = None if item.answer is None else "".join([piece async for piece in item.answer])
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._opened_writer().write, item, answer)

    async def finish(self, action: Action) -> Done | None:
        return None

    async def fingerprint(self) -> str | None:
        if self._files is None:
            return None
        with contextlib.suppress(PlaceError):  # no answer any more
            return await self._paced(partial(fingerprint, self._files))
        return None

    async def close(self) -> None:
        self._let_go()
        self._pool.shutdown(wait=False, cancel_futures=True)
        with contextlib.suppress(TimeoutError):  # a mount whose server is gone
            async with asyncio.timeout(_REMOVE_S):
                await asyncio.to_thread(self._remove_written)

    async def _blocking(self, work: Callable[[Callable[[], bool]], Result]) -> Result:
        """``work(stopped)`` in a thread; a cancellation tells it to stop and waits a little for it."""
        stop = threading.Event()
        return await in_thread(self._pool, partial(work, stop.is_set), (stop.set,))

    async def _paced(self, work: Callable[[Callable[[], bool]], Result]) -> Result:
        """As ``_blocking``; PlaceError if one step takes longer than an operation may."""
        try:
            return await paced(self._pool, work, self._place.timeout_s)
        except TimeoutError as error:
            raise PlaceError(
                f"no answer within {self._place.timeout_s:g} s",
                hint="is this a mount whose server is gone? else raise its timeout",
                where=self._place.name,
            ) from error

    def _one(self, item: Item) -> Done:
        if isinstance(item, Block):
            return item.reading.read(item)
        return self._document(item, self._spec.block_bytes, self._clock)

    def _find(self, stopped: Callable[[], bool]) -> FileList:
        assert self._root is not None
        return find_files(self._place, self._root, self._seed, stopped)

    def _listed(self) -> FileList:
        if self._files is None:
            raise only_written(self._place)
        return self._files

    def _opened_writer(self) -> Writer:
        assert self._writer is not None, "open comes first"
        return self._writer

    def _output_facts(self) -> PlaceFacts:
        assert self._root is not None
        try:
            os.stat(self._root)
        except OSError as error:
            raise unusable(self._place, self._root, error) from error
        path = shown(str(self._root))
        if not self._root.is_dir():
            raise PlaceError(f"{path} is not a folder to write into", where=self._place.name)
        if not os.access(self._root, os.W_OK):
            raise PlaceError(f"no permission to write into {path}", where=self._place.name)
        return PlaceFacts(summary=f"writes below {path}, in a folder that is removed afterwards")

    def _how(self, files: FileList) -> str:
        if not files.alone and self._layout.blocks is None:
            return "one operation a file"
        return f"in blocks of {format_bytes(self._spec.block_bytes)}"

    async def _make(self, made: Made, folder: Path) -> None:
        free = (await asyncio.to_thread(shutil.disk_usage, folder.parent)).free
        if free < made.bytes + _SPARE_BYTES:
            raise PlaceError(
                f"making {format_bytes(made.bytes)} needs more room than the {format_bytes(free)} free "
                f"in {shown(str(folder.parent))}",
                hint="make less, or name a disk with more room: --store DIR",
                where=self._place.name,
            )
        sizes = made_sizes(made, self._seed)
        shares = [range(n, made.files, self._threads) for n in range(self._threads)]
        makes = (self._blocking(partial(self._make_share, made, sizes, s)) for s in shares)
        for failed in await asyncio.gather(*makes, return_exceptions=True):
            if failed is not None:
                raise failed

    def _make_share(
        self, made: Made, sizes: Sequence[int], indexes: range, stopped: Callable[[], bool]
    ) -> None:
        assert self._made is not None
        try:
            for index in indexes:
                if stopped():
                    return
                make_file(made, self._seed, index, sizes[index], self._made, stopped)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise PlaceError(f"cannot make the files: {why}", where=self._place.name) from error

    def _let_go(self) -> None:
        for reading in self._readings:
            reading.let_go()
        self._readings = []

    def _remove_written(self) -> None:
        if self._writer is not None and self._scratch is not None:
            if self._writer.folder is not None:  # else nothing is touched: a mount may hang
                self._writer.remove()
            forget(self._scratch)
        if self._made is not None:
            shutil.rmtree(self._made, ignore_errors=True)


def _facts_of(made: Made) -> PlaceFacts:
    what = "weights of random numbers" if made.kind == "weights" else "documents of made-up words"
    return PlaceFacts(
        summary=f"makes {format_count(made.files, 'file')}, {format_bytes(made.bytes)}: {what} (a stand-in)",
        files=made.files,
        bytes=made.bytes,
        read_bytes=made.bytes,
        write_bytes=made.bytes,
    )
