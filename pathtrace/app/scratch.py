"""Where a run's scratch data lies, and how what a crashed run left behind is removed.

In the store rather than in the system's temporary folder, which is memory on many machines: data
made there would be read faster than any disk.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from pathtrace.errors import StoreError
from pathtrace.places.outside import remove_remembered

_OWNER = "owner"


@contextlib.contextmanager
def scratch_folder(store: Path, run_id: str) -> Iterator[Path]:
    """An empty folder that is gone afterwards, whatever happens. StoreError if it cannot be made."""
    root = store / ".scratch"
    folder = root / run_id
    try:
        remove_abandoned(root)
        folder.mkdir(parents=True, mode=0o700)
        (root / f"{run_id}.{_OWNER}").write_text(str(os.getpid()), encoding="ascii")
    except OSError as error:
        raise StoreError(
            f"cannot make a scratch folder: {error.strerror}", where=str(root), hint="use --store DIR"
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        (root / f"{run_id}.{_OWNER}").unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            root.rmdir()


def remove_abandoned(root: Path) -> None:
    """Remove the scratch folders whose owner is no longer alive."""
    if not root.is_dir():
        return
    for note in root.glob(f"*.{_OWNER}"):
        try:
            text = note.read_text(encoding="ascii").strip()
        except FileNotFoundError:  # another run has just ended
            continue
        if not (text.isdigit() and _alive(int(text))):
            remove_remembered(note.with_suffix(""))
            shutil.rmtree(note.with_suffix(""), ignore_errors=True)
            note.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    import psutil

    return bool(psutil.pid_exists(pid))
