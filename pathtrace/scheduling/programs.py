"""Runs the system's own programs (systemctl, crontab, …), in English and in the host's zone, time-limited."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_LIMIT_S = 30


class Ended(NamedTuple):
    code: int
    out: bytes
    err: str

    @property
    def reason(self) -> str:
        """The first words that it said of a failure."""
        said = self.err.strip() or self.out.decode("utf-8", "replace").strip()
        return said or f"it ended with {self.code}"


def run(words: Sequence[str], given: bytes = b"", more: Mapping[str, str] | None = None) -> Ended:
    """What it said and how it ended; 127 if it is not there or did not end in time."""
    environ = {**os.environ, "LC_ALL": "C", "SYSTEMD_COLORS": "0", "SYSTEMD_PAGER": "", **(more or {})}
    environ.pop("TZ", None)
    try:
        done = subprocess.run(words, input=given, capture_output=True, env=environ, timeout=_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Ended(127, b"", str(error))
    return Ended(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))
