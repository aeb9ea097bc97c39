from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pathtrace.errors import StoreError
from pathtrace.store import retention
from pathtrace.store.find import run_ids
from pathtrace.store.marks import Marks, change_marks, pruned_at, read_marks
from pathtrace.store.retention import RAW, prune
from pathtrace.store.runs import PrunedRunError, load
from tests.unit.store.nights import at, facts, keep_run, run_id

KEEP_S = 90 * 86_400.0


def keep_whole(store: Path, night: int) -> Path:
    folder = keep_run(store, night)
    for name in (*RAW, "report.md", "scenario.yaml", "marks.json", "scan.json"):
        if name not in ("marks.json", "scan.json"):
            (folder / name).write_text("x")
    return folder


def pruned(store: Path, now: datetime, running: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Where all runs are of the scenario that is scanned."""
    return prune(store, run_ids(store), KEEP_S, now, running)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_old_runs_lose_their_samples_and_keep_all_else(tmp_path: Path) -> None:
    old, young = keep_whole(tmp_path, 0), keep_whole(tmp_path, 5)
    now = at(91)
    assert pruned(tmp_path, now) == (run_id(0),)
    assert names(old) == {"facts.json", "run.json", "report.md", "scenario.yaml", "marks.json"}
    assert set(RAW) <= names(young)
    assert pruned_at(old) == now
    assert pruned_at(young) is None
    assert pruned(tmp_path, now) == ()


def test_pinned_runs_baselines_running_ones_and_the_last_one_stay_whole(tmp_path: Path) -> None:
    folders = [keep_whole(tmp_path, night) for night in range(5)]
    change_marks(folders[0], lambda marks: dataclasses.replace(marks, pinned=True))
    change_marks(folders[1], lambda marks: dataclasses.replace(marks, baseline=at(1).isoformat()))
    assert pruned(tmp_path, at(300), (run_id(2),)) == (run_id(3),)
    assert [set(RAW) <= names(folder) for folder in folders] == [True, True, True, False, True]


def test_runs_of_other_scenarios_keep_their_samples_and_so_does_the_last_of_its_own(tmp_path: Path) -> None:
    folders = [keep_whole(tmp_path, night) for night in range(4)]
    own = (run_id(0), run_id(2))
    assert prune(tmp_path, own, KEEP_S, at(300), ()) == (run_id(0),)
    assert [set(RAW) <= names(folder) for folder in folders] == [False, True, True, True]


def test_a_clock_that_jumped_far_ahead_deletes_nothing(tmp_path: Path) -> None:
    for night in (0, 1, 2, 400):
        keep_whole(tmp_path, night)
    assert pruned(tmp_path, at(400)) == ()


def test_runs_that_a_wrong_clock_named_for_later_stay_and_keep_no_others(tmp_path: Path) -> None:
    for night in (0, 1, 2, 4000):
        keep_whole(tmp_path, night)
    assert pruned(tmp_path, at(92)) == (run_id(0), run_id(1))


def test_what_is_younger_is_kept_to_the_second(tmp_path: Path) -> None:
    for night in range(2):
        keep_whole(tmp_path, night)
    assert pruned(tmp_path, at(0) + timedelta(seconds=KEEP_S)) == ()
    assert pruned(tmp_path, at(0) + timedelta(seconds=KEEP_S + 1)) == (run_id(0),)


def test_a_run_without_figures_or_with_marks_that_cannot_be_read_keeps_its_samples(tmp_path: Path) -> None:
    for night in range(5):
        keep_whole(tmp_path, night)
    (tmp_path / run_id(0) / "run.json").unlink()
    (tmp_path / run_id(3) / "run.json").write_text('{"format": "pathtr')
    (tmp_path / run_id(1) / "marks.json").write_text("{")
    (tmp_path / run_id(2) / "report.md").unlink()
    assert pruned(tmp_path, at(300)) == ()


def test_a_crash_in_the_middle_leaves_a_pruned_run_and_the_next_time_does_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = keep_whole(tmp_path, 0)
    keep_whole(tmp_path, 1)
    monkeypatch.setattr(retention, "_delete", lambda folder: (folder / RAW[0]).unlink() or False)
    assert pruned(tmp_path, at(100)) == ()
    monkeypatch.undo()
    assert pruned_at(old) == at(100)
    assert pruned(tmp_path, at(101)) == (run_id(0),)
    assert pruned_at(old) == at(100)
    assert not set(RAW) & names(old)


def test_a_pruned_run_says_what_became_of_it(tmp_path: Path) -> None:
    old = keep_whole(tmp_path, 0)
    keep_whole(tmp_path, 1)
    pruned(tmp_path, at(100))
    with pytest.raises(PrunedRunError) as caught:
        load(old)
    assert "its samples were deleted on 2027-02-09" in caught.value.message
    assert f"pathtrace show {run_id(0)}" in (caught.value.hint or "")


def test_a_folder_of_another_name_is_left_alone(tmp_path: Path) -> None:
    keep_whole(tmp_path, 0).rename(tmp_path / "kept-by-hand")
    keep_whole(tmp_path, 1)
    keep_run(tmp_path, 2, facts(2))
    assert pruned(tmp_path, at(300)) == (run_id(1),)


def test_samples_that_cannot_be_deleted_end_nothing(tmp_path: Path) -> None:
    old = keep_whole(tmp_path, 0)
    keep_whole(tmp_path, 1)
    (old / RAW[0]).unlink()
    (old / RAW[0]).mkdir()
    assert pruned(tmp_path, at(100)) == ()
    assert set(RAW) <= names(old)


def test_a_store_that_is_full_keeps_the_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> Marks:
        raise StoreError("cannot write: no space left on device")

    old = keep_whole(tmp_path, 0)
    keep_whole(tmp_path, 1)
    monkeypatch.setattr(retention, "change_marks", full)
    assert pruned(tmp_path, at(300)) == ()
    assert set(RAW) <= names(old)
    assert read_marks(old) == Marks()
