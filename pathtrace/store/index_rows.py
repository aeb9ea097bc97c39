"""Nights as rows of the index and back. What repeats from night to night is kept once, as a text.

A row that cannot be read is damage, whatever made it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from pathtrace.model.history import HistoryEntry, Note, Told, Took
from pathtrace.store.index_file import DamagedIndexError
from pathtrace.store.nights import Night

COLUMNS = (
    "id, at, scenario, workload, setup, start, status, duration_s, took, label, pinned, baseline, reason,"
    " datasets, environment, notes, scanned"
)
_ALL = (
    "id, seen, at, scenario, workload, setup, start, status, duration_s, took, label, pinned, baseline,"
    " reason, datasets, environment, notes, scanned, told, faults, unanalysed"
)
_INSERT = f"INSERT OR REPLACE INTO nights ({_ALL}) VALUES ({', '.join('?' * len(_ALL.split(',')))})"
_WRONG = (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError)


def clear(db: sqlite3.Connection) -> None:
    """Forget all nights."""
    db.execute("DELETE FROM nights")
    db.execute("DELETE FROM texts")


def write(db: sqlite3.Connection, nights: Iterable[tuple[str, int, Night]]) -> None:
    """Put each night (folder's name, when that changed, what it is) in the place of what was known of it."""
    db.executemany(_INSERT, [_row(db, name, seen, night) for name, seen, night in nights])


def _row(db: sqlite3.Connection, name: str, seen: int, night: Night) -> tuple[Any, ...]:
    entry = night.entry
    faults = "\n".join(" ".join(each.split()) for each in night.faults) or None
    if entry is None:
        return (name, seen, *(None,) * 17, faults, False)
    return (
        *(name, seen, entry.at.isoformat(), entry.scenario, entry.workload_fingerprint),
        *(entry.setup_fingerprint, entry.start, entry.status, entry.duration_s),
        _text([[getattr(took, field) for field in _TOOK] for took in entry.took]),
        *(entry.label, entry.pinned, night.baseline, entry.reason),
        _number(db, _text(entry.datasets)),
        _number(db, _text(entry.environment)),
        _text([[note.at.isoformat(), note.text, note.file] for note in entry.notes]) if entry.notes else None,
        entry.scanned,
        _text([[getattr(each, field) for field in _TOLD] for each in night.told]) if night.told else None,
        faults,
        night.unanalysed,
    )


_TOOK = tuple(Took.__dataclass_fields__)
_TOLD = tuple(Told.__dataclass_fields__)


def _text(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)


def _number(db: sqlite3.Connection, text: str) -> int:
    """Of a text that many nights share."""
    db.execute("INSERT OR IGNORE INTO texts (text) VALUES (?)", (text,))
    return int(db.execute("SELECT number FROM texts WHERE text = ?", (text,)).fetchone()[0])


def entries(rows: Iterable[tuple[Any, ...]], texts: Mapping[int, str]) -> tuple[HistoryEntry, ...]:
    """Rows of ``COLUMNS``, as they come. DamagedIndexError."""
    known: dict[int, tuple[Any, ...]] = {}
    marked: dict[tuple[str, str], tuple[str, str]] = {}
    read = []
    try:
        rows = tuple(rows)
        all_took = json.loads(f"[{','.join(row[8] for row in rows)}]")  # one text: a third of the time
        for row, took in zip(rows, all_took, strict=True):
            read.append(_entry(row, took, texts, known))
            if row[11]:
                work = row[2:4]
                marked[work] = max(marked.get(work, ("", "")), (row[11], row[0]))
    except _WRONG as error:
        raise DamagedIndexError(f"a night cannot be read: {type(error).__name__}: {error}") from error
    return _with_one_baseline(read, {run for _, run in marked.values()})


def _with_one_baseline(read: Sequence[HistoryEntry], chosen: Collection[str]) -> tuple[HistoryEntry, ...]:
    """Of each work the one that was chosen last: a crash may have left the one before it."""
    doubled = any(entry.baseline and entry.id not in chosen for entry in read)
    if not doubled:
        return tuple(read)
    return tuple(replace(entry, baseline=entry.id in chosen) for entry in read)


def _entry(
    row: tuple[Any, ...], took: list[list[Any]], texts: Mapping[int, str], known: dict[int, tuple[Any, ...]]
) -> HistoryEntry:
    """By position: there may be ten thousand of them."""
    return HistoryEntry(
        row[0],
        datetime.fromisoformat(row[1]),
        row[2],
        row[3],
        row[4],
        row[5],
        row[6],
        row[7],
        tuple([Took(*each) for each in took]),
        row[9],
        bool(row[10]),
        row[11] is not None,
        row[12],
        _pairs(row[13], texts, known),
        _pairs(row[14], texts, known),
        tuple(Note(datetime.fromisoformat(at), text, file) for at, text, file in json.loads(row[15]))
        if row[15]
        else (),
        bool(row[16]),
    )


def _pairs(number: int, texts: Mapping[int, str], known: dict[int, tuple[Any, ...]]) -> tuple[Any, ...]:
    found = known.get(number)
    if found is None:
        found = known[number] = tuple((name, value) for name, value in json.loads(texts[number]))
    return found


def told(text: str) -> tuple[Told, ...]:
    """DamagedIndexError."""
    try:
        return tuple(Told(*each) for each in json.loads(text))
    except _WRONG as error:
        raise DamagedIndexError(f"what was told cannot be read: {error}") from error
