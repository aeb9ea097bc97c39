"""Runs pathtrace as a user would: in a process of its own, with an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

STAND_INS = """\
pathtrace: 1
name: stand-ins
question: What holds the index back?
places:
  documents: {kind: files, make: {files: 40, bytes: 400 KiB, kind: text}}
  chunker: {kind: process, run: chunk}
  library: {kind: database, url: "sqlite://"}
  people: {kind: user}
flows:
  index: {path: [documents, chunker, library], frequency: every 24 h}
  answer: {path: [library, people], frequency: per-request}
repeats: 2
"""

SLOW = """\
pathtrace: 1
name: slow
places:
  documents: {kind: files, make: {files: 200, bytes: 400 KiB, kind: text}}
  sleeper: {kind: process, command: [sh, -c, "cat >/dev/null; sleep 0.4; echo '\\"a piece\\"'"], workers: 1}
  library: {kind: database, url: "sqlite://"}
flows:
  index: {path: [documents, sleeper, library], frequency: every 24 h}
repeats: 1
"""


@dataclass(frozen=True, slots=True)
class Result:
    code: int
    out: str
    err: str


def environment(store: Path, **more: str) -> dict[str, str]:
    """Nothing of this terminal's own settings, so that output is the same everywhere."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    ours = {"PYTHONPATH": str(ROOT), "PATHTRACE_STORE": str(store), "COLUMNS": "80"}
    # Scans of tests that go on side by side must not wait for each other, nor for a real one.
    return kept | ours | {"PATHTRACE_RUNTIME": str(store)} | more


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pathtrace", *arguments]


def pathtrace(store: Path, *arguments: str, **more: str) -> Result:
    """Run to the end; ``more`` is put into its environment."""
    done = subprocess.run(
        command(*arguments), capture_output=True, env=environment(store, **more), cwd=store, timeout=100
    )
    return Result(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode())
