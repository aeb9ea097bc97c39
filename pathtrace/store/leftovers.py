"""What a run that died leaves in its folder, beside what was measured. Whether it is dead, others know."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from pathtrace.store import files

_NO_RUN = frozenset({files.SCENARIO, files.SAMPLES, files.READINGS, files.FAULTS, files.WINDOWS})
"""Without facts these say nothing."""


def tidy(folder: Path) -> None:
    """Remove unfinished documents and kept-back room of a dead run; the folder too if it is no run at all."""
    try:
        names = {path.name for path in folder.iterdir()}
    except OSError:
        return
    for name in [each for each in names if each == files.RESERVE or files.is_unfinished(each)]:
        names.discard(name)
        with contextlib.suppress(OSError):
            (folder / name).unlink()
    if names <= _NO_RUN:
        shutil.rmtree(folder, ignore_errors=True)
