"""What a folder holds, to the byte, so that a test can say that nothing of it was changed."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path


def contents(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Relative path -> (permissions, time of change in ns, hash) of every file and folder."""
    return {str(path.relative_to(folder)): _state(path) for path in sorted(folder.rglob("*"))}


@contextlib.contextmanager
def unchanged(*folders: Path) -> Iterator[None]:
    """Fail if anything in ``folders`` is different after the block."""
    before = [contents(folder) for folder in folders]
    yield
    assert [contents(folder) for folder in folders] == before


def _state(path: Path) -> tuple[int, int, str]:
    status = path.stat()
    digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
    # A folder's time changes when a scratch file comes and goes; what it holds is compared anyhow.
    return status.st_mode, status.st_mtime_ns if path.is_file() else 0, digest
