"""Remembers what a run made outside of its scratch folder: beside the user's data, whose disk is measured.

A place removes it itself when it closes. After a crash the next run does, by the note that lies in the
scratch folder. Only what bears our own prefix is ever removed.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

from pathtrace.places.file_list import OWN_FOLDER
from pathtrace.places.sqlite_file import remove

_NOTE = "made-outside.json"


def remember(scratch: Path, made: Path) -> None:
    """Note in a place's scratch folder that ``made`` is, or is about to be, ours."""
    (scratch / _NOTE).write_text(json.dumps(str(made.absolute())), encoding="utf-8")


def forget(scratch: Path) -> None:
    """It has been removed."""
    (scratch / _NOTE).unlink(missing_ok=True)


def remove_remembered(run: Path) -> None:
    """Remove what the places of a crashed run made outside of ``run``, their common scratch folder."""
    for note in run.glob(f"*/{_NOTE}"):
        with contextlib.suppress(OSError, ValueError):
            made = Path(str(json.loads(note.read_text(encoding="utf-8"))))
            if not made.name.startswith(OWN_FOLDER):
                continue
            if made.is_dir() and not made.is_symlink():
                shutil.rmtree(made, ignore_errors=True)
            else:
                remove(made)
