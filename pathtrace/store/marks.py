"""``marks.json``: what people say of a run afterwards: a label, notes with files, a pin, the baseline mark.

Lies in the run's folder, so that it goes where the run goes; nothing of the run itself is ever changed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pathtrace.errors import RunFileError, UsageError
from pathtrace.model.history import Note
from pathtrace.store import files
from pathtrace.store.codec import CodecError, decode
from pathtrace.store.moments import moment, written

MARKS = "marks.json"
FORMAT = "pathtrace.marks/1"
ATTACHED = "attached"
"""The folder, in the run's, that attached files are copied into."""

_ODD = re.compile(r"[^\w.+-]+")
_LONGEST_NAME = 100
_UNFINISHED = ".attach."


@dataclass(frozen=True, slots=True)
class Marks:
    """``label`` None: the run's own holds. ``baseline`` and ``pruned``: ISO 8601, when that was done."""

    label: str | None = None
    pinned: bool = False
    baseline: str | None = None
    pruned: str | None = None
    """Its samples were deleted then."""
    notes: tuple[Note, ...] = ()


def read_marks(folder: Path) -> Marks:
    """Those of a run; none at all if nothing was marked. RunFileError if they cannot be read."""
    path = folder / MARKS
    try:
        read = json.loads(files.content(path))
    except FileNotFoundError:
        return Marks()
    except (OSError, ValueError, RecursionError) as error:
        raise RunFileError(f"cannot be read: {error}", where=str(path), hint=_MEND) from error
    if not isinstance(read, dict) or read.get("format") != FORMAT:
        raise RunFileError(f"is no {FORMAT}", where=str(path), hint=_MEND)
    try:
        return _marks(read)
    except (CodecError, KeyError, TypeError, ValueError) as error:
        raise RunFileError(f"is no {FORMAT}: {error}", where=str(path), hint=_MEND) from error


_MEND = "mend it or move it away: label, notes, pin and baseline of this run stand in it, nothing else"


def pruned_at(folder: Path) -> datetime | None:
    """When a run's samples were deleted, as it was older than was to be kept; None if they were not."""
    try:
        at = read_marks(folder).pruned
        return None if at is None or (folder / files.SAMPLES).exists() else moment(at)
    except (RunFileError, ValueError):
        return None


def change_marks(folder: Path, change: Callable[[Marks], Marks]) -> Marks:
    """Replace a run's marks by what ``change`` makes of them; returns these. One at a time.

    StoreError, RunFileError.
    """
    with _alone(folder):
        changed = change(read_marks(folder))
        files.write_document(folder, MARKS, _text(changed))
    return changed


def attach(folder: Path, source: Path) -> str:
    """Copy a file into the run's folder; its name there. UsageError if it cannot be read, StoreError."""
    try:
        reading = source.open("rb")
    except OSError as error:
        raise UsageError(
            f"cannot attach: {(error.strerror or str(error)).lower()}", where=str(source)
        ) from error
    with reading, _alone(folder):
        if not source.is_file():
            raise UsageError("cannot attach: it is not a file", where=str(source))
        into = folder / ATTACHED
        with contextlib.suppress(FileExistsError):
            files.make_folder(into)
        try:
            return f"{ATTACHED}/{_copied(reading.fileno(), into, source.name)}"
        except OSError as error:
            raise files.store_error(into / source.name, error) from error


def _copied(source: int, into: Path, name: str) -> str:
    """Under a name that was free; the whole file or none."""
    descriptor, temporary = tempfile.mkstemp(prefix=_UNFINISHED, dir=into)
    try:
        with os.fdopen(descriptor, "wb") as target, os.fdopen(os.dup(source), "rb") as content:
            shutil.copyfileobj(content, target, 1 << 20)
            target.flush()
            os.fsync(target.fileno())
        return _placed(Path(temporary), into, _plain(name))
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _placed(temporary: Path, into: Path, name: str) -> str:
    stem, suffix = os.path.splitext(name)
    number = 1
    while True:
        candidate = name if number == 1 else f"{stem}-{number}{suffix}"
        if not (into / candidate).exists():
            os.replace(temporary, into / candidate)
            return candidate
        number += 1


def _plain(name: str) -> str:
    """A name that every system takes and no terminal obeys."""
    return _ODD.sub("-", name).lstrip(".-")[-_LONGEST_NAME:] or "file"


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else changes this folder's marks meanwhile."""
    with files.alone(folder) as surely:
        if surely:
            _remove_leavings(folder)
        yield


def _remove_leavings(folder: Path) -> None:
    """What a killed process had begun to write here; whoever has the lock is the only one who writes."""
    begun = [each for each in folder.glob(f".{MARKS}.*") if files.is_unfinished(each.name, MARKS)]
    for left in (*begun, *(folder / ATTACHED).glob(f"{_UNFINISHED}*")):
        with contextlib.suppress(OSError):
            left.unlink()


def _text(marks: Marks) -> str:
    notes = [{"at": written(note.at), "text": note.text, "file": note.file} for note in marks.notes]
    kept = {each.name: getattr(marks, each.name) for each in dataclasses.fields(marks)}
    return json.dumps({"format": FORMAT, **kept, "notes": notes}, indent=1) + "\n"


def _marks(read: dict[str, object]) -> Marks:
    kept = {name: read[name] for name in ("label", "pinned", "baseline", "pruned") if name in read}
    marks = decode(kept, Marks)
    assert isinstance(marks, Marks)
    noted = read.get("notes", [])
    if not isinstance(noted, list):
        raise CodecError("notes: a list is expected")
    return dataclasses.replace(marks, notes=tuple(map(_note, noted)))


def _note(read: dict[str, object]) -> Note:
    file = read.get("file")
    return Note(moment(str(read["at"])), str(read["text"]), None if file is None else str(file))
