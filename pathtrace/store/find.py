"""Finds a run by what people call it: an id, the start of one, a label, a folder, ``last``, ``last~1``."""

from __future__ import annotations

import difflib
import glob
import os
import re
from collections.abc import Mapping
from pathlib import Path

from pathtrace.errors import RunFileError, UsageError
from pathtrace.store import files
from pathtrace.store.facts import read_document
from pathtrace.store.marks import read_marks
from pathtrace.store.moments import named_at
from pathtrace.store.scans import SCAN

_LAST = re.compile(r"last(?:~(\d+))?")
_LISTED = 5
_OTHER_LABEL = "write an id, or give the others another label: pathtrace note ID --label OTHER"
_DATA = "~/.local/share"


def default_store(environment: Mapping[str, str] = os.environ) -> Path:
    """Where runs lie unless the command line says otherwise. UsageError if that is not known."""
    named = environment.get("PATHTRACE_STORE")
    folder = Path(named) if named else Path(environment.get("XDG_DATA_HOME") or _DATA, "pathtrace", "runs")
    try:
        return folder.expanduser()
    except RuntimeError as error:  # somebody without a home
        raise UsageError(
            f"no home folder is known for {folder}", hint="say where runs lie: --store DIR"
        ) from error


def run_ids(store: Path) -> tuple[str, ...]:
    """Ids of all runs in a store, oldest first; none if there is no store yet. RunFileError."""
    try:
        found = sorted(path.name for path in store.iterdir() if os.path.isfile(path / files.FACTS))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise RunFileError(
            f"cannot read: {(error.strerror or str(error)).lower()}", where=str(store)
        ) from error
    return tuple(found)


def resolve(store: Path, name: str) -> Path:
    """The folder of the run called ``name``. RunFileError if there is none, or more than one."""
    ids = run_ids(store)
    if last := _LAST.fullmatch(name):
        return store / _from_last(store, ids, int(last[1] or 0))
    if name in ids:
        return store / name
    if os.path.isfile(Path(name, files.FACTS)):
        return Path(name)
    labels = _labels(store, ids)
    for matches in (
        [run for run in ids if labels[run] == name],
        [run for run in ids if name and run.startswith(name)],
    ):
        if matches:
            return store / _only(name, matches, labels)
    if os.sep in name:
        raise _no_folder(Path(name))
    raise _unknown(store, name, ids, labels)


def resolve_night(store: Path, name: str) -> Path:
    """The same, also of a night that left no run: its whole id. RunFileError."""
    if named_at(name) is not None and os.path.isfile(store / name / SCAN):
        return store / name
    return resolve(store, name)


def _from_last(store: Path, ids: tuple[str, ...], back: int) -> str:
    if back < len(ids):
        return ids[-1 - back]
    count = {0: "is no run", 1: "is 1 run"}.get(len(ids), f"are {len(ids)} runs")
    raise RunFileError(
        f"there {count} in the store", where=str(store), hint="pathtrace run SCENARIO makes one"
    )


def _no_folder(path: Path) -> RunFileError:
    reason = f"not a run folder: it has no {files.FACTS}" if path.is_dir() else "no such run folder"
    return RunFileError(reason, where=str(path))


def _labels(store: Path, ids: tuple[str, ...]) -> dict[str, str | None]:
    """Each run's label, the one given last; a damaged run has none, and does not stand in others' way."""
    from pathtrace.store.index import History

    try:
        with History(store) as history:
            history.refresh()
            known = history.labels()
    except RunFileError:  # an index of a newer version
        known = {}
    return {run: known[run] if run in known else _label(store / run) for run in ids}


def _label(folder: Path) -> str | None:
    try:
        label = read_marks(folder).label or read_document(folder).get("label")
    except RunFileError:
        return None
    return label if isinstance(label, str) else None


def _only(name: str, matches: list[str], labels: dict[str, str | None]) -> str:
    if len(matches) == 1:
        return matches[0]
    listed = ", ".join(f"{run} ({labels[run]})" if labels[run] else run for run in matches[-_LISTED:])
    more = f" and {len(matches) - _LISTED} older" if len(matches) > _LISTED else ""
    hint = _OTHER_LABEL if name == labels[matches[-1]] else "write more of the id"
    raise RunFileError(f"{name!r} is {len(matches)} runs: {listed}{more}", hint=hint)


def _unknown(store: Path, name: str, ids: tuple[str, ...], labels: dict[str, str | None]) -> RunFileError:
    if name and any(os.path.isfile(night / SCAN) for night in store.glob(f"{glob.escape(name)}*")):
        return RunFileError(
            f"{name!r} is a scan that was skipped or failed: it left no run",
            where=str(store),
            hint="pathtrace history says why",
        )
    names = [*ids, *(label for label in labels.values() if label)]
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if near:
        hint = f"did you mean {near[0]!r}?"
    else:
        hint = f"the last one is {ids[-1]}" if ids else "there is none yet: pathtrace run SCENARIO makes one"
    return RunFileError(f"no run is called {name!r}", where=str(store), hint=hint)
