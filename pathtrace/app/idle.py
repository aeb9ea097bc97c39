"""Gives way to everything else: for what comes after the measuring, never before it or meanwhile."""

from __future__ import annotations

import contextlib
import os
import sys

import psutil

_LOWEST = 19


def be_idle() -> None:
    """From here on take a core and a disk only where nobody else wants them. There is no way back."""
    own = psutil.Process()
    with contextlib.suppress(psutil.Error, OSError):
        if sys.platform == "win32":
            own.nice(psutil.IDLE_PRIORITY_CLASS)
        else:
            os.nice(_LOWEST)
    if sys.platform == "linux":
        with contextlib.suppress(psutil.Error, OSError):
            own.ionice(psutil.IOPRIO_CLASS_IDLE)
