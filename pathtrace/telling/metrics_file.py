"""A text file that others read at any moment: replaced whole, never written into."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import stat
import time
from collections.abc import Callable
from pathlib import Path

from pathtrace.errors import StoreError
from pathtrace.whole_file import replace_file

_FOR_ALL = 0o644
"""Whoever collects metrics is another user."""
_LEFT_BEHIND_S = 3600
_MOST_BYTES = 16 * 2**20


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Replace the file's text by ``change`` of it (of "" where there is no file).

    Readers see the old text or the new one. A link stays one; the mode stays, and is 0644 at first.
    StoreError if it cannot be read or written; what ``change`` raises leaves the file as it was.
    """
    path = Path(os.path.realpath(path))
    try:
        existing, mode = _existing(path)
        text = change(existing)
        _sweep(path)
        replace_file(path, text.encode(), mode)
    except OSError as error:
        raise StoreError(
            f"cannot write: {(error.strerror or str(error)).lower()}", where=str(path)
        ) from error


def _existing(path: Path) -> tuple[str, int]:
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise OSError(f"{path} is no plain file")
            return file.read(_MOST_BYTES).decode("utf-8", "replace"), stat.S_IMODE(status.st_mode)
    except FileNotFoundError:
        return "", _FOR_ALL


def _sweep(path: Path) -> None:
    """Remove what a scan left that was killed while it wrote; an editor's copy has another name."""
    begun = re.compile(rf"\.{re.escape(path.name)}\.[a-z0-9_]{{8}}")
    for left in path.parent.glob(f".{glob.escape(path.name)}.*"):
        with contextlib.suppress(OSError):
            if begun.fullmatch(left.name) and time.time() - left.stat().st_mtime > _LEFT_BEHIND_S:
                left.unlink()
