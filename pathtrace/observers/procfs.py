"""Reads Linux's small text files under ``/proc`` and ``/sys``; knows nothing of what they mean.

Gone, forbidden and not on this system are all ``None``: for an observer they are the same.
"""

from __future__ import annotations

import os

_PIECE = 1 << 16


def read_bytes(path: str) -> bytes | None:
    """The file's content, or None. Few system calls: this runs ten times a second."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        pieces = [os.read(descriptor, _PIECE)]
        while pieces[-1]:  # many files are handed out by the page, however much is asked for
            pieces.append(os.read(descriptor, _PIECE))
        return b"".join(pieces)
    except OSError:  # the process ended between open and read, or its counters are not ours to see
        return None
    finally:
        os.close(descriptor)


def read_text(path: str) -> str | None:
    """The file's content as text without surrounding blanks, or None."""
    content = read_bytes(path)
    return None if content is None else content.decode("utf-8", "replace").strip()


def read_counters(path: str) -> dict[bytes, int]:
    """``name: value`` lines as numbers, empty if the file cannot be read. Units (kB) are dropped."""
    counters: dict[bytes, int] = {}
    for line in (read_bytes(path) or b"").splitlines():
        name, _, value = line.partition(b":")
        number = value.split(None, 1)
        if number and number[0].isdigit():
            counters[name] = int(number[0])
    return counters


def entries(path: str) -> tuple[str, ...]:
    """Names in a folder, or nothing."""
    try:
        return tuple(os.listdir(path))
    except OSError:
        return ()
