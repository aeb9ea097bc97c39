"""Replaces a file whole: whoever reads it sees the old content or the new one, also after a crash."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def replace_file(path: Path, data: bytes, mode: int) -> None:
    """Write ``data`` beside ``path``, make it durable, then put it in its place with ``mode``. OSError; then
    ``path`` is as it was. A killed process may leave ``.NAME.xxxxxxxx`` beside it."""
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
