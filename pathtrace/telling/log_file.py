"""A file of JSON lines that grows by one line at a time, while others read it or append to it."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from pathtrace.errors import StoreError

_PRIVATE = 0o600
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)


def append(path: Path, line: str) -> None:
    """Add ``line`` (without a line break) as a whole line, or nothing at all. StoreError.

    A new file is its owner's. Where the file ends within a line, since something was killed or a disk was
    full, that piece gets its line break, so that only it is lost.
    """
    try:
        descriptor = os.open(path, _FLAGS, _PRIVATE)
        try:
            with _alone(descriptor):
                _append(descriptor, line)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise StoreError(
            f"cannot write: {(error.strerror or str(error)).lower()}", where=str(path)
        ) from error


def _append(descriptor: int, line: str) -> None:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise OSError("it is no plain file")
    broken = "" if _ends_whole(descriptor, status.st_size) else "\n"
    data = f"{broken}{line}\n".encode()
    try:
        written = os.write(descriptor, data)  # at once, so that nobody reads or writes amid the line
        if written < len(data):
            raise OSError("there was no room for a whole line")
    except OSError:
        os.ftruncate(descriptor, status.st_size)
        raise


def _ends_whole(descriptor: int, size: int) -> bool:
    if not size:
        return True
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1) == b"\n"


@contextlib.contextmanager
def _alone(descriptor: int) -> Iterator[None]:
    """Others of ours wait until the file is closed; without locks, an append at once has to do."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with contextlib.suppress(OSError):  # a file system without locks
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    yield
