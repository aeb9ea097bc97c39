"""``scan.json``: what a nightly scan has to say of its night, in the run's folder, or alone where no run was.

The document is the one that ``scan --json`` prints; this knows the file, and what history reads from it:
``night`` (``id``, ``at``, ``scenario``, ``workload_fingerprint``, ``setup_fingerprint``, ``start``,
``status``, ``duration_s``, ``reason``) and ``told`` (a list of ``kind``, ``name``, ``since``, ``state`` and
``ratio``).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pathtrace.errors import RunFileError
from pathtrace.model.history import HistoryEntry, Told
from pathtrace.store import files
from pathtrace.store.codec import CodecError, decode
from pathtrace.store.moments import moment, next_name

SCAN = "scan.json"
FORMAT = "pathtrace.scan/1"
NIGHT, TOLD = "night", "told"


def new_night(store: Path, now: datetime) -> Path:
    """Make the folder of a night without a run; its name is of the shape of a run's id. StoreError."""
    while True:
        folder = store / next_name(store, now)
        try:
            files.make_folder(folder)
        except FileExistsError:
            continue
        return folder


def write_scan(folder: Path, document: Mapping[str, Any]) -> None:
    """Write it as one whole file; it must be free of secrets already. StoreError."""
    files.write_document(folder, SCAN, json.dumps(document, indent=1, allow_nan=False) + "\n")


def read_scan(folder: Path) -> Mapping[str, Any] | None:
    """The document; None if there is none. RunFileError if it cannot be read."""
    path = folder / SCAN
    try:
        read = json.loads(files.content(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise RunFileError(f"cannot be read: {error}", where=str(path)) from error
    if not isinstance(read, dict) or read.get("format") != FORMAT:
        raise RunFileError(f"is no {FORMAT}", where=str(path))
    return read


def night_of(folder: Path, document: Mapping[str, Any]) -> HistoryEntry:
    """The night that a scan describes. ValueError if it describes none."""
    night = document.get(NIGHT)
    if not isinstance(night, Mapping):
        raise ValueError(f"it has no {NIGHT}")
    try:
        reason = night.get("reason")
        return HistoryEntry(
            id=folder.name,
            at=moment(str(night["at"])),
            scenario=str(night["scenario"]),
            workload_fingerprint=str(night["workload_fingerprint"]),
            setup_fingerprint=str(night["setup_fingerprint"]),
            start=str(night["start"]),
            status=str(night["status"]),
            duration_s=float(night.get("duration_s") or 0.0),
            reason=None if reason is None else str(reason),
            scanned=True,
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"its {NIGHT} lacks {error}") from error


def told_of(folder: Path, document: Mapping[str, Any]) -> tuple[Told, ...]:
    """What the night told, as far as it can be read: a damaged one costs that it is told again."""
    listed = document.get(TOLD)
    found = []
    for each in listed if isinstance(listed, list) else ():
        try:
            found.append(dataclasses.replace(decode(each, Told), night=folder.name))
        except CodecError:
            continue
    return tuple(found)
