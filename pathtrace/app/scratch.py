"""Where a run's scratch data lies, and how what a crashed run left behind is removed.

In the store rather than in the system's temporary folder, which is memory on many machines: data
made there would be read faster than any disk.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from pathtrace.app.claims import Claim, abandoned
from pathtrace.errors import StoreError
from pathtrace.places.outside import remove_remembered
from pathtrace.store.leftovers import tidy


@contextlib.contextmanager
def claimed(store: Path, name: str) -> Iterator[Claim]:
    """A name that is ours for a while, for work that leaves no run. StoreError if it cannot be had."""
    claim = Claim(store)
    try:
        claim.take(name)
        yield claim
    finally:
        claim.release()


@contextlib.contextmanager
def scratch_folder(claim: Claim, name: str) -> Iterator[Path]:
    """An empty folder that is gone afterwards, whatever happens. StoreError if it cannot be made.

    ``claim``: taken already, by the same name.
    """
    folder = claim.root / name
    try:
        folder.mkdir(parents=True, mode=0o700)
    except OSError as error:
        raise StoreError(
            f"cannot make a scratch folder: {(error.strerror or str(error)).lower()}",
            where=str(folder),
            hint="use --store DIR",
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(store: Path) -> None:
    """Remove what runs left here that are no longer alive: scratch data, here and beside the user's data,
    and of their folders what makes no run."""
    root = store / ".scratch"
    for note in abandoned(root):
        scratch = note.with_suffix("")
        remove_remembered(scratch)
        shutil.rmtree(scratch, ignore_errors=True)
        tidy(store / scratch.name)
    with contextlib.suppress(OSError):
        root.rmdir()
