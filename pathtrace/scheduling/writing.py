"""Files written whole or not at all, and taken away without a fuss."""

from __future__ import annotations

import os
from pathlib import Path

from pathtrace.errors import StoreError, UsageError
from pathtrace.whole_file import replace_file

PUBLIC_FILE = 0o644


def read(path: Path) -> bytes | None:
    """What a file holds; None if there is none. UsageError if it may not be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"cannot read it: {error.strerror or error}", where=str(path)) from error


def write(path: Path, data: bytes) -> None:
    """Replace a file, or make it, with its folder; a link's target rather than the link. StoreError."""
    path = Path(os.path.realpath(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o7777 if path.exists() else PUBLIC_FILE
        replace_file(path, data, mode)
    except OSError as error:
        raise _refused(path, error) from error


def take_away(path: Path) -> None:
    """Remove a file or link if it is there. StoreError."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise _refused(path, error) from error


def restore(path: Path, before: bytes | None) -> None:
    """As it was before."""
    if before is None:
        take_away(path)
    else:
        write(path, before)


def _refused(path: Path, error: OSError) -> StoreError:
    return StoreError(f"cannot write it: {error.strerror or error}", where=str(path))
