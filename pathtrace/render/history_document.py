"""History -> the ``pathtrace.history/1`` document, and a table for spreadsheets. Names of keys are a promise.

What a night was made in stands once, of the last one that knows it, and as ``marks`` where it changed:
written out for each night it would be most of the document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pathtrace.model.history import Change, EnvironmentMark, HistoryEntry, Note, PastScenario, Told, Took
from pathtrace.model.report import Caveat
from pathtrace.render import figures
from pathtrace.render.figures import Document, Json

HISTORY_FORMAT = "pathtrace.history/1"

TABLE_HEADER = (
    *("id", "at", "scenario", "status", "label", "pinned", "baseline", "name", "median_s", "low_s", "high_s"),
    *("limited_by", "operations", "bytes", "reason", "notes", "workload_fingerprint", "setup_fingerprint"),
)


def history_document(scenarios: Sequence[PastScenario], caveats: Sequence[Caveat]) -> Document:
    return {
        "format": HISTORY_FORMAT,
        "scenarios": [_scenario(each) for each in scenarios],
        "caveats": [figures.caveat(each) for each in caveats],
    }


def _scenario(past: PastScenario) -> Document:
    seen = next((entry.environment for entry in reversed(past.entries) if entry.environment), ())
    return {
        "name": past.name,
        "baseline": past.baseline.id if past.baseline else None,
        "comparable": past.comparable,
        "changes": [change_document(each) for each in past.changes],
        "told": [_told(each) for each in past.told],
        "marks": [mark_document(each) for each in past.marks],
        "environment": dict(seen),
        "nights": [night_document(each) for each in past.entries],
    }


def night_document(entry: HistoryEntry) -> Document:
    """One night, without what it was made in."""
    return {
        "id": entry.id,
        "at": entry.at.isoformat(),
        "scenario": entry.scenario,
        "status": entry.status,
        "reason": entry.reason,
        "label": entry.label,
        "pinned": entry.pinned,
        "baseline": entry.baseline,
        "scanned": entry.scanned,
        "workload_fingerprint": entry.workload_fingerprint,
        "setup_fingerprint": entry.setup_fingerprint,
        "start": entry.start,
        "duration_s": figures.finite(entry.duration_s),
        "dataset": dict(entry.datasets),
        "took": [_took(each) for each in entry.took],
        "notes": [_note(each) for each in entry.notes],
    }


def _took(took: Took) -> Document:
    return {
        "name": took.name,
        "median_s": figures.finite(took.median_s),
        "low_s": figures.finite(took.low_s),
        "high_s": figures.finite(took.high_s),
        "limited_by": took.limited_by,
        "operations": took.operations,
        "bytes": took.bytes,
    }


def _note(note: Note) -> Document:
    return {"at": note.at.isoformat(), "text": note.text, "file": note.file}


def change_document(change: Change) -> Document:
    marks: list[Json] = [mark_document(each) for each in change.marks]
    return {
        "kind": change.kind,
        "name": change.name,
        "state": change.state,
        "since": change.since,
        "nights": change.nights,
        "ratio": change.ratio,
        "low": change.low,
        "high": change.high,
        "before_s": change.before_s,
        "after_s": change.after_s,
        "per_week": change.per_week,
        "resource": change.resource,
        "resource_before": change.resource_before,
        "marks": marks,
        "also": list(change.also),
        "ended_with": change.ended_with,
    }


def _told(told: Told) -> Document:
    return {
        "night": told.night,
        "kind": told.kind,
        "name": told.name,
        "since": told.since,
        "state": told.state,
        "ratio": told.ratio,
    }


def mark_document(mark: EnvironmentMark) -> Document:
    return {"run": mark.run, "what": mark.what, "before": mark.before, "after": mark.after}


def history_rows(scenarios: Sequence[PastScenario]) -> Iterator[tuple[Json, ...]]:
    """``TABLE_HEADER``, then a row for each night and flow or hop; of a night without figures one row."""
    yield TABLE_HEADER
    for past in scenarios:
        for entry in past.entries:
            yield from _night_rows(entry)


def _night_rows(entry: HistoryEntry) -> Iterator[tuple[Json, ...]]:
    night = (entry.id, entry.at.isoformat(), entry.scenario, entry.status, entry.label)
    marks = (int(entry.pinned), int(entry.baseline))
    notes = "; ".join(note.text or note.file or "" for note in entry.notes) or None
    behind = (entry.reason, notes, entry.workload_fingerprint, entry.setup_fingerprint)
    for took in entry.took or (None,):
        yield (*night, *marks, *_figures(took), *behind)


def _figures(took: Took | None) -> tuple[Json, ...]:
    if took is None:
        return (None,) * 7
    times = (took.name, took.median_s, took.low_s, took.high_s)
    return (*times, took.limited_by, took.operations, took.bytes)
