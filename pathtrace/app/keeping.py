"""The recipe behind ``show`` for a run of which only figures are kept: its page and document as written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pathtrace.errors import RunFileError


@dataclass(frozen=True, slots=True)
class Kept:
    """``page``: the report in Markdown. ``document``: ``pathtrace.run/1``."""

    folder: Path
    page: str
    document: Mapping[str, Any]


def kept(store: Path, name: str) -> Kept:
    """RunFileError if there is no such run, or if what is kept of it cannot be read."""
    from pathtrace.store import files
    from pathtrace.store.find import resolve

    folder = resolve(store, name)
    try:
        page = (folder / files.PAGE).read_text(encoding="utf-8")
        document = json.loads((folder / files.DOCUMENT).read_bytes())
    except (OSError, ValueError) as error:
        raise RunFileError(f"what was kept of the run cannot be read: {error}", where=str(folder)) from error
    return Kept(folder, page, document)
