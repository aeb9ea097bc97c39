"""Writes what arrives into a folder of pathtrace's own, beside the user's files and never over them.

Every operation is forced to the disk before it counts (fsync, then close: ``finish_ns``), so that a
write is not a copy into memory. A document is one file; blocks of a file go to their place in one
file. The folder is made at the first write, emptied before a repeat and removed at the end.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import time
from pathlib import Path

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.work import Clock, Done, Item
from pathtrace.places.file_list import OWN_FOLDER, shown

_BLOCK = 1 << 20


class Writer:
    """Writes below a folder ``.pathtrace-<random>`` within ``target``."""

    def __init__(self, place: str, target: Path, clock: Clock) -> None:
        self._place = place
        self._target = target
        self._clock = clock
        self._made = False
        self._folder = target / f"{OWN_FOLDER}{secrets.token_hex(6)}"

    @property
    def folder(self) -> Path | None:
        """Where it writes; None before the first ``empty`` and after ``remove``."""
        return self._folder if self._made else None

    @property
    def planned(self) -> Path:
        """The folder, whether it has been made or not."""
        return self._folder

    def empty(self) -> None:
        """Start with an empty folder. PlaceError if it cannot be made."""
        self.remove()
        try:
            self._folder.mkdir(mode=0o700)
            self._made = True
        except OSError as error:
            raise PlaceError(
                f"cannot write into {shown(str(self._target))}: {error.strerror}",
                hint="choose a folder that you may write into",
                where=self._place,
            ) from error

    def remove(self) -> None:
        """Remove the folder and what is in it."""
        self._made = False
        shutil.rmtree(self._folder, ignore_errors=True)

    def write(self, item: Item, answer: str | None) -> Done:
        """One item, forced to the disk. OperationError, with what was wrong."""
        path = self._folder / hashlib.sha256(item.name.encode("utf-8", "backslashreplace")).hexdigest()[:32]
        content = content_of(item, answer)
        start, cpu = self._clock(), time.thread_time_ns()
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
            try:
                os.lseek(fd, item.offset, os.SEEK_SET)
                opened = self._clock()
                written = _write(fd, content)
                flushing = self._clock()
                os.fsync(fd)
            finally:
                os.close(fd)
            end = self._clock()
        except OSError as error:
            raise OperationError(
                f"cannot write {shown(item.name)}: {error.strerror}", where=self._place
            ) from error
        cpu = time.thread_time_ns() - cpu
        return Done(start, end - start, written, (), opened - start, -1, end - flushing, cpu)


def content_of(item: Item, answer: str | None) -> bytes | memoryview:
    """Data as they are; an answer or pieces as text; pieces with vectors as one JSON object a line."""
    if answer is not None:
        return answer.encode()
    if item.vectors:
        lines = zip(item.texts, item.vectors, strict=True)
        return "".join(json.dumps({"text": t, "vector": list(v)}) + "\n" for t, v in lines).encode()
    if item.texts:
        return "\n".join(item.texts).encode("utf-8", "replace")
    return item.data if item.data is not None else b""


def _write(fd: int, content: bytes | memoryview) -> int:
    view = memoryview(content).cast("B")
    for start in range(0, len(view), _BLOCK):
        part = view[start : start + _BLOCK]
        while part:
            part = part[os.write(fd, part) :]
    return len(view)
