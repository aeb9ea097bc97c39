"""Remembers what a run made on other hosts, where only a place that has the password can remove it.

A note lies beside the runs' scratch folders from before the folder is made until it is gone. Where its run
died, or its server went away, the next run that writes to the same place removes the folder. Whether a run
still goes on is known by its claim there (``<run>.owner``), which the next run has removed if it is dead.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from pathtrace.errors import OperationError
from pathtrace.places.file_list import OWN_FOLDER

_SUFFIX = ".elsewhere"


class Removes(Protocol):
    """A client of the server, connected."""

    async def remove_folder(self, name: str) -> None:
        """With all that is in it. OperationError."""
        ...


def remember(scratch: Path, target: str, folder: str) -> None:
    """Note that ``folder`` below ``target`` (a URL without secrets) is ours. ``scratch``: the place's own."""
    note = {"run": scratch.parent.name, "target": target, "folder": folder}
    with contextlib.suppress(OSError):
        _note(scratch, folder).write_text(json.dumps(note), encoding="utf-8")


def forget(scratch: Path, folder: str) -> None:
    """It is gone."""
    with contextlib.suppress(OSError):
        _note(scratch, folder).unlink(missing_ok=True)


async def remove_left(scratch: Path, target: str, client: Removes, patience_s: float) -> None:
    """Remove what runs of this store that are over left below ``target``, as far as that goes within the
    time; what is left then is the next run's."""
    with contextlib.suppress(OperationError, TimeoutError):
        async with asyncio.timeout(patience_s):
            for folder in _left(scratch, target):
                await client.remove_folder(folder)
                forget(scratch, folder)


def _left(scratch: Path, target: str) -> Iterator[str]:
    root = scratch.parent.parent
    for path in sorted(root.glob(f"*{_SUFFIX}")):
        try:
            note = json.loads(path.read_text(encoding="utf-8"))
            run, where, folder = str(note["run"]), note["target"], str(note["folder"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        goes_on = run == scratch.parent.name or (root / f"{run}.owner").exists()
        if where == target and not goes_on and folder.startswith(f"{OWN_FOLDER}{run}-") and "/" not in folder:
            yield folder


def _note(scratch: Path, folder: str) -> Path:
    return scratch.parent.parent / f"{folder.removeprefix(OWN_FOLDER)}{_SUFFIX}"
