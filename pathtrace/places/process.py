"""A ``process`` place: the user's own command, or the built-in ``chunk`` stand-in (``url`` is ``service``'s).

Knows what a document goes in as and what comes out; the running of a command is ``command``'s.
"""

from __future__ import annotations

import asyncio
import difflib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path, PurePath
from tempfile import NamedTemporaryFile

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.run import Mount
from pathtrace.model.scenario import Action, Place, ProcessSpec, Start
from pathtrace.model.work import Clock, Done, Item, LayerState, PlaceFacts
from pathtrace.places.chunking import PIECE_CHARACTERS, decode, split
from pathtrace.places.command import OUTPUT_BYTES, Command, Finished
from pathtrace.places.documents import document_bytes, in_pieces, size_of, storable
from pathtrace.places.threads import in_thread
from pathtrace.redaction import redact_urls

_PATH = "{path}"
_SHOWN = 200


class Process:
    """Turns documents into pieces of text, one document an operation."""

    def __init__(self, place: Place, clock: Clock, seed: int) -> None:
        assert isinstance(place.spec, ProcessSpec)
        self._place = place
        self._spec = place.spec
        self._clock = clock
        self._scratch: Path | None = None
        self._pool = ThreadPoolExecutor(place.workers, f"pathtrace-{place.name}")

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
        return None

    @property
    def reads_itself(self) -> bool:
        """True if the command opens the document by its path instead of getting its bytes."""
        return any(_PATH in argument for argument in self._spec.command or ())

    def concurrency(self, action: Action) -> int:
        return self._place.workers

    def batch(self, action: Action) -> int:
        return 0

    async def check(self) -> PlaceFacts:
        if self._spec.command is not None:
            program = await asyncio.to_thread(self._program)
            return PlaceFacts(summary=f"command {program} (looked up, not run)")
        if self._spec.run == "chunk":
            return PlaceFacts(summary=f"built-in stand-in: pieces of about {PIECE_CHARACTERS:,} characters")
        raise PlaceError(f"{self._place.name}: neither a command nor a stand-in")

    async def open(self, scratch: Path) -> PlaceFacts:
        self._scratch = scratch
        return await self.check()

    async def begin(self, start: Start, actions: frozenset[Action]) -> tuple[LayerState, ...]:
        return ()

    async def supply(self, action: Action) -> Sequence[Item]:
        raise PlaceError(f"{self._place.name}: a process cannot be the first place of a path")

    async def draw(self, items: Sequence[Item]) -> Sequence[Done]:
        raise OperationError(f"{self._place.name}: a process holds nothing to read")

    async def perform(self, action: Action, items: Sequence[Item]) -> Done:
        (item,) = items
        if self._spec.command is None:
            return await in_thread(self._pool, partial(self._chunk, item))
        command = Command(self._clock)
        stops = (command.terminate, command.kill)
        return await in_thread(self._pool, partial(self._run, command, item), stops)

    async def finish(self, action: Action) -> Done | None:
        return None

    async def fingerprint(self) -> str | None:
        return None

    async def close(self) -> None:
        await asyncio.to_thread(self._pool.shutdown, wait=True, cancel_futures=True)

    def _program(self) -> str:
        assert self._spec.command is not None
        if sys.platform == "win32":
            raise PlaceError(f"{self._place.name}: commands run on Linux and macOS only in this version")
        name = self._spec.command[0]
        found = shutil.which(name)
        if found is not None:
            return found
        if os.path.exists(name) and os.path.dirname(name):
            raise PlaceError(
                f"{self._place.name}: command {name} may not be executed", hint=f"chmod +x {name}"
            )
        near = difflib.get_close_matches(name, _programs_on_path(), n=1)
        hint = f"did you mean {near[0]}?" if near else "give its full path, or add its folder to PATH"
        raise PlaceError(f"{self._place.name}: command {name} not found", hint=hint)

    def _chunk(self, item: Item) -> Done:
        cpu = time.thread_time_ns()
        start = self._clock()
        texts = split(decode(document_bytes(item)))
        elapsed = self._clock() - start
        cpu = time.thread_time_ns() - cpu
        return Done(start, elapsed, size_of(texts), (in_pieces(item, texts),), cpu_ns=cpu)

    def _run(self, command: Command, item: Item) -> Done:
        try:
            ended = self._execute(command, item)
        except OSError as error:
            raise OperationError(f"{self._called()} cannot be started: {error.strerror or error}") from error
        self._refuse_failure(ended)
        texts = tuple(self._text(line) for line in ended.output.splitlines() if line.strip())
        return Done(
            start_ns=ended.start_ns,
            elapsed_ns=ended.elapsed_ns,
            bytes=size_of(texts),
            items=(in_pieces(item, texts),),
            setup_ns=ended.setup_ns,
            first_byte_ns=ended.first_byte_ns,
            cpu_ns=ended.cpu_ns,
            io_bytes=ended.io_bytes,
        )

    def _execute(self, command: Command, item: Item) -> Finished:
        arguments = self._spec.command or ()
        if not self.reads_itself:
            return command.run(arguments, document_bytes(item))
        with _PathFor(item, self._scratch) as path:
            return command.run([argument.replace(_PATH, path) for argument in arguments], None)

    def _refuse_failure(self, ended: Finished) -> None:
        if ended.too_much:
            raise OperationError(f"{self._called()} printed more than {OUTPUT_BYTES:,} bytes")
        if ended.status == 0:
            return
        how = f"exit code {ended.status}" if ended.status > 0 else f"ended by {_signal_name(-ended.status)}"
        lines = [line for line in decode(ended.errors).splitlines() if line.strip()]
        why = f": {_shortened(lines[-1])}" if lines else ""
        raise OperationError(f"{self._called()}: {how}{why}")

    def _text(self, line: bytes) -> str:
        try:
            text = json.loads(line)
        except ValueError:
            text = None
        if not isinstance(text, str):
            shown = _shortened(decode(line))
            raise OperationError(f"{self._called()} printed a line that is not one JSON string: {shown}")
        return storable(text)

    def _called(self) -> str:
        assert self._spec.command is not None
        return f"{self._place.name}: command {_shortened(' '.join(self._spec.command))}"


class _PathFor:
    """Where a command finds the document: its own file, or one written to scratch for the while."""

    def __init__(self, item: Item, scratch: Path | None) -> None:
        self._item = item
        self._scratch = scratch
        self._written: str | None = None

    def __enter__(self) -> str:
        if self._item.path is not None and not self._item.texts:
            return self._item.path
        ending = PurePath(self._item.name).suffix
        try:
            with NamedTemporaryFile(dir=self._scratch, suffix=ending, delete=False) as file:
                self._written = file.name
                file.write(document_bytes(self._item))
        except OSError as error:
            self.__exit__()
            raise OperationError(
                f"{self._item.name} cannot be written for the command: {error.strerror}"
            ) from error
        return self._written

    def __exit__(self, *reason: object) -> None:
        if self._written is not None:
            Path(self._written).unlink(missing_ok=True)


def _programs_on_path() -> list[str]:
    names: set[str] = set()
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        try:
            names.update(os.listdir(folder or "."))
        except OSError:
            continue
    return sorted(names)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _shortened(text: str) -> str:
    text = redact_urls(" ".join(text.split()))
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
