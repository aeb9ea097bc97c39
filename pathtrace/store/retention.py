"""What is kept of old runs: figures, report, facts and marks for ever; samples and readings for a while.

Pinned runs, baselines and the last run stay whole, and so does one whose figures or page were never
written or cannot be read.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from pathtrace.errors import RunFileError, StoreError
from pathtrace.store import files
from pathtrace.store.find import run_ids
from pathtrace.store.marks import Marks, change_marks, read_marks
from pathtrace.store.moments import FARTHEST_BACK, named_at, written

RAW = (files.SAMPLES, files.READINGS, files.WINDOWS, files.FAULTS)
"""What is deleted; the samples first, since they are the most."""


_LONGEST_GAP = timedelta(days=60)
"""Between two runs: a longer one may be a clock that is wrong, and what is deleted for it is gone."""


def prune(
    store: Path, own: Collection[str], keep_s: float, now: datetime, running: Collection[str]
) -> tuple[str, ...]:
    """Delete the samples of runs that are older than ``keep_s``; the ids of those runs. RunFileError.

    ``own``: ids of the runs that this holds for, a scenario's; others in the store keep theirs. ``running``:
    ids of runs that are under way. That it was done is written down before it is, so that a
    crash leaves no run that only looks damaged; the next time deletes the rest. What cannot be deleted is
    left for the next time too; so is all, where the last run comes so late that the clock may be wrong.
    Runs that a clock had named for later do not count.
    """
    ids = [run for run in run_ids(store) if _is_before(run, now + FARTHEST_BACK)]
    if _comes_late(ids[-2:]):
        return ()
    oldest = now - timedelta(seconds=keep_s)
    mine = [run for run in ids if run in own]
    old = [run for run in mine[:-1] if _is_before(run, oldest) and run not in running]
    return tuple(run for run in old if _prune(store / run, now))


def _comes_late(last_two: Sequence[str]) -> bool:
    moments = [named_at(run) for run in last_two]
    known = [moment for moment in moments if moment is not None]
    return len(known) == 2 and known[1] - known[0] > _LONGEST_GAP


def _is_before(run: str, oldest: datetime) -> bool:
    at = named_at(run)
    return at is not None and at < oldest


def _prune(folder: Path, now: datetime) -> bool:
    if not any((folder / name).exists() for name in RAW):
        return False
    if not (folder / files.PAGE).is_file() or not _has_figures(folder):
        return False
    try:
        marks = read_marks(folder)
        if marks.pinned or marks.baseline is not None:
            return False
        kept = change_marks(folder, lambda marks: _pruned(marks, now))
    except (RunFileError, StoreError):
        return False  # marks that cannot be read may hold a pin
    return kept.pruned is not None and _delete(folder)


def _has_figures(folder: Path) -> bool:
    try:
        return isinstance(json.loads(files.content(folder / files.DOCUMENT)), dict)
    except (OSError, ValueError, RecursionError):
        return False  # what is left to work them out of anew


def _pruned(marks: Marks, now: datetime) -> Marks:
    """Marked as pruned unless it was pinned in this very moment."""
    if marks.pinned or marks.baseline is not None:
        return marks
    return dataclasses.replace(marks, pruned=marks.pruned or written(now))


def _delete(folder: Path) -> bool:
    for name in RAW:
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError:
            return False
    return True
