"""What lies in a run's folder, how it is written so that a crash leaves whole files, and who may read it.

Knows names, modes and bytes; what the files mean is for its neighbours.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pathtrace.errors import StoreError
from pathtrace.units import KIB
from pathtrace.whole_file import replace_file

FORMAT = 1
"""Of run folders. 1: the first (facts.json, windows.jsonl, samples.bin, readings.csv, faults.jsonl)."""

FACTS = "facts.json"
SAMPLES = "samples.bin"
READINGS = "readings.csv"
FAULTS = "faults.jsonl"
WINDOWS = "windows.jsonl"
SCENARIO = "scenario.yaml"
DOCUMENT = "run.json"
PAGE = "report.md"

RESERVE = ".reserve"
_RESERVE_BYTES = 512 * KIB
"""Kept back while a run goes, so that on a full disk there is room to say how it ended."""

PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600


def make_folder(folder: Path) -> None:
    """Make a private folder and its parents; FileExistsError if it is there already, else StoreError."""
    try:
        folder.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        folder.mkdir(mode=PRIVATE_FOLDER)
    except FileExistsError:
        if folder.is_dir():
            raise
        raise store_error(folder.parent, NotADirectoryError(f"{folder.parent} is not a folder")) from None
    except OSError as error:
        raise store_error(folder.parent, error) from error


def content(path: Path) -> bytes:
    """All of a file, at once: a pipe that nobody writes into is empty, and is not waited for. OSError."""
    with open(path, "rb", opener=_without_waiting) as file:
        return file.read()


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def write_document(folder: Path, name: str, text: str) -> Path:
    """Write one whole file of a run: either the old text or the new one is there, never half of it.

    The text must be free of secrets already.
    """
    path = folder / name
    try:
        replace_file(path, text.encode("utf-8", "surrogateescape"), PRIVATE_FILE)
    except OSError as error:
        raise store_error(path, error) from error
    return path


@contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Nobody else who asks for the same changes this folder meanwhile; False where there are no locks.

    The lock goes with the process, and no file of it is left. StoreError.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield False
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise store_error(folder, error) from error
    try:
        surely = True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:  # a file system without locks
            surely = False
        yield surely
    finally:
        os.close(descriptor)


def is_unfinished(name: str, of: str | None = None) -> bool:
    """True of what ``write_document`` had begun to write (``of``: as this document) when it was killed."""
    begun = r".+" if of is None else re.escape(of)
    return re.fullmatch(rf"\.{begun}\.[a-z0-9_]{{8}}", name) is not None


def make_reserve(folder: Path) -> None:
    """Take the room that is kept back. StoreError if there is none."""
    write_document(folder, RESERVE, "\0" * _RESERVE_BYTES)


def release_reserve(folder: Path) -> None:
    """Give it back; nothing happens if that was done."""
    with contextlib.suppress(OSError):
        (folder / RESERVE).unlink()


def store_error(path: Path, error: OSError) -> StoreError:
    """The operating system's refusal to write, in our words."""
    reason = (error.strerror or str(error)).lower()
    return StoreError(
        f"cannot write: {reason}",
        where=str(path),
        hint="make room there, or name another place for runs with --store DIR or PATHTRACE_STORE",
    )
