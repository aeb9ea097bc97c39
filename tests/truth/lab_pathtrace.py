"""pathtrace as a person would call it: a scenario file, the command, the document that it prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "pathtrace"]


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str
    store: Path

    @property
    def document(self) -> dict[str, Any]:
        """The printed ``pathtrace.run/1`` document."""
        document: dict[str, Any] = json.loads(self.out)
        assert document["format"] == "pathtrace.run/1"
        return document

    @property
    def folder(self) -> Path:
        """The folder of the only run in the store."""
        (file,) = self.store.rglob("run.json")
        return file.parent


def pathtrace(
    *arguments: str,
    store: Path,
    environment: Mapping[str, str] | None = None,
    wrapper: Sequence[str] = (),
    timeout_s: float = 300,
) -> Outcome:
    """Run one command to its end."""
    done = subprocess.run(
        [*wrapper, *COMMAND, *arguments, "--store", str(store)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=timeout_s,
        check=False,
        env=_environment(environment),
    )
    return Outcome(done.returncode, done.stdout, done.stderr, store)


def start_pathtrace(*arguments: str, store: Path) -> subprocess.Popen[str]:
    """Start one command and leave it running, in a process group of its own."""
    return subprocess.Popen(
        [*COMMAND, *arguments, "--store", str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        env=_environment(None),
    )


def measured(scenario: Path, *, store: Path) -> dict[str, Any]:
    """Run a scenario that must succeed and return its document."""
    outcome = pathtrace("run", str(scenario), "--json", store=store)
    assert outcome.code == 0, f"exit {outcome.code}\n{outcome.err}\n{outcome.out[:2000]}"
    return outcome.document


def hop(document: Mapping[str, Any], flow: str, name: str) -> dict[str, Any]:
    """One hop of a run document."""
    (found,) = [h for h in document["hops"] if h["flow"] == flow and h["name"] == name]
    return dict(found)


def flow(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    (found,) = [f for f in document["flows"] if f["name"] == name]
    return dict(found)


def _environment(more: Mapping[str, str] | None) -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1", **(more or {})}
