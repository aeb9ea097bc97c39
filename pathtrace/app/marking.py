"""The recipes behind ``note`` and ``baseline``: what people say of a run that was stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pathtrace.errors import UsageError
from pathtrace.model.history import HistoryEntry, Note
from pathtrace.store.index import History
from pathtrace.store.marks import Marks, attach, change_marks, read_marks
from pathtrace.store.moments import written


@dataclass(frozen=True, slots=True)
class Saying:
    """What is to be said of a run. None: as it is."""

    text: str | None = None
    files: Sequence[Path] = ()
    label: str | None = None
    pinned: bool | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """A run's marks as they were and are. ``attached``: names of the files that were put into its folder."""

    run: str
    before: Marks
    marks: Marks
    attached: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chosen:
    """``before``: the runs that were the baseline of the same work until now."""

    run: str
    scenario: str
    before: tuple[str, ...]


def note(store: Path, name: str, saying: Saying, now: datetime) -> Said:
    """Keep it with a run, or with a night that left none. UsageError, RunFileError, StoreError."""
    from pathtrace.redaction import redact_urls
    from pathtrace.store.find import resolve_night

    folder = resolve_night(store, name)
    read_marks(folder)  # what cannot be added to is told before anything is copied
    attached = tuple(attach(folder, file) for file in saying.files)
    at = now.astimezone(UTC).replace(microsecond=0)
    texts = [redact_urls(saying.text or "")] + [""] * max(0, len(attached) - 1)
    notes = tuple(
        Note(at, text, attached[number] if number < len(attached) else None)
        for number, text in enumerate(texts)
        if text or number < len(attached)
    )

    before: list[Marks] = []

    def changed(marks: Marks) -> Marks:
        before.append(marks)
        return replace(
            marks,
            label=marks.label if saying.label is None else redact_urls(saying.label),
            pinned=marks.pinned if saying.pinned is None else saying.pinned,
            notes=(*marks.notes, *notes),
        )

    marks = change_marks(folder, changed)
    return Said(folder.name, before[-1], marks, attached)


def choose_baseline(store: Path, name: str, now: datetime) -> Chosen:
    """Hold later runs of the same work against this one, and no more against another.

    UsageError where it has no figures; RunFileError, StoreError.
    """
    from pathtrace.store.find import resolve

    folder = resolve(store, name)
    entry = _entry(folder)
    change_marks(folder, lambda marks: replace(marks, baseline=written(now)))
    with History(folder.parent) as history:
        history.refresh()
        marked = history.baselines(entry.scenario, entry.workload_fingerprint)
    others = tuple(run for run in marked if run != entry.id)
    for run in others:
        _clear(folder.parent / run)
    return Chosen(entry.id, entry.scenario, others)


def clear_baseline(store: Path, name: str) -> tuple[str, bool]:
    """The run's id, and whether it was one. RunFileError, StoreError."""
    from pathtrace.store.find import resolve

    folder = resolve(store, name)
    was = read_marks(folder).baseline is not None
    if was:
        _clear(folder)
    return folder.name, was


def baselines(store: Path) -> tuple[HistoryEntry, ...]:
    """The chosen ones, one for each work, oldest first. RunFileError."""
    with History(store) as history:
        history.refresh()
        return tuple(entry for entry in history.entries() if entry.baseline)


def _clear(folder: Path) -> None:
    change_marks(folder, lambda marks: replace(marks, baseline=None))


def _entry(folder: Path) -> HistoryEntry:
    from pathtrace.store.nights import read_night

    night = read_night(folder)
    if night.entry is None or not night.entry.took:
        why = (
            f": {night.faults[0]}" if night.faults else f": it is {night.entry.status}" if night.entry else ""
        )
        raise UsageError(
            f"{folder.name} cannot be a baseline: nothing was measured{why}",
            hint="choose a complete run: pathtrace history lists them",
        )
    return night.entry
