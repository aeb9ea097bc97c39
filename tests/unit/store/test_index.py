from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pathtrace.errors import RunFileError
from pathtrace.model.history import HistoryEntry, Told
from pathtrace.store.find import run_ids
from pathtrace.store.index import History, set_newer_aside
from pathtrace.store.moments import named_at
from tests.unit.store.nights import at, document, facts, keep_run, keep_scan, run_id, scan_document

LATER_NS = 1 << 62
"""Long after every folder was made: nothing may change again within the same tick."""


def entries(store: Path) -> tuple[HistoryEntry, ...]:
    with History(store, lambda: LATER_NS) as history:
        history.refresh()
        return history.entries()


def ids(store: Path) -> list[str]:
    return [entry.id for entry in entries(store)]


def mark(folder: Path, **marks: object) -> None:
    (folder / "marks.new").write_text(json.dumps({"format": "pathtrace.marks/1", **marks}))
    os.replace(folder / "marks.new", folder / "marks.json")


def test_what_is_read_of_the_index_is_what_was_read_of_the_folders(tmp_path: Path) -> None:
    from pathtrace.store.nights import read_night

    note = {"at": at(1).isoformat(), "text": "new cable", "file": None}
    mark(keep_run(tmp_path, 0), label="a", pinned=True, baseline=at(2).isoformat(), notes=[note])
    keep_run(tmp_path, 1, facts(1, status="running"), {})
    keep_scan(tmp_path, 2)
    folders = tuple(read_night(tmp_path / run_id(night)).entry for night in range(3))
    assert entries(tmp_path) == folders
    assert entries(tmp_path) == folders
    assert (tmp_path / "history.sqlite").stat().st_mode & 0o777 == 0o600


def test_only_folders_that_changed_are_read_again(tmp_path: Path) -> None:
    kept = keep_run(tmp_path, 0)
    changed = keep_run(tmp_path, 1)
    assert [entry.label for entry in entries(tmp_path)] == [None, None]
    (kept / "run.json").write_text("{")  # in place: the folder itself did not change
    mark(changed, label="b")
    after = entries(tmp_path)
    assert [(entry.label, len(entry.took)) for entry in after] == [(None, 3), ("b", 3)]


def test_a_folder_that_changed_just_now_is_read_again(tmp_path: Path) -> None:
    folder = keep_run(tmp_path, 0)
    changed_ns = folder.stat().st_mtime_ns
    with History(tmp_path, lambda: changed_ns) as history:
        history.refresh()
        (folder / "run.json").write_text(json.dumps(document(index_s=3.0)))
        history.refresh()
        assert history.entries()[0].took[0].median_s == 3.0


def test_what_is_no_more_in_the_folders_is_forgotten(tmp_path: Path) -> None:
    for night in range(3):
        keep_run(tmp_path, night)
    assert len(entries(tmp_path)) == 3
    (tmp_path / run_id(1)).rename(tmp_path / ".gone")
    assert ids(tmp_path) == [run_id(0), run_id(2)]


def test_nights_are_asked_for_by_scenario_work_and_number(tmp_path: Path) -> None:
    for night in range(4):
        keep_run(tmp_path, night)
    other = facts(4)
    other["scenario"] = other["scenario"] | {"name": "other", "workload_fingerprint": "v"}
    keep_run(tmp_path, 4, other)
    with History(tmp_path) as history:
        history.refresh()
        assert history.scenarios() == ("lab", "other")
        assert [entry.id for entry in history.entries("lab", 2)] == [run_id(2), run_id(3)]
        assert [entry.id for entry in history.entries("other")] == [run_id(4)]
        assert [entry.id for entry in history.like("v", "s")] == [run_id(4)]
        assert history.entries("nothing") == ()


def test_of_two_baselines_the_one_that_was_chosen_last_counts(tmp_path: Path) -> None:
    for night, chosen in ((0, 9), (1, 8)):
        mark(keep_run(tmp_path, night), baseline=at(chosen).isoformat())
    keep_run(tmp_path, 2)
    with History(tmp_path) as history:
        history.refresh()
        assert history.baseline("lab", "w") == run_id(0)
        assert history.baseline("lab", "other") is None
        assert [entry.baseline for entry in history.entries()] == [True, False, False]


def test_what_was_told_survives_a_new_index(tmp_path: Path) -> None:
    for night, state in ((1, "new"), (2, "ended")):
        told = {"kind": "step", "name": "index", "since": run_id(1), "state": state, "ratio": 1.2}
        keep_run(tmp_path, night)
        keep_scan(tmp_path, night, scan_document(night, "complete", told=[told]))
    expected = tuple(
        Told("step", "index", run_id(1), state, 1.2, run_id(night))
        for night, state in ((1, "new"), (2, "ended"))
    )
    with History(tmp_path) as history:
        history.refresh()
        assert history.told() == history.told("lab") == expected
        assert history.told("other") == ()
        history.rebuild()
        assert history.told() == expected


def test_a_rebuilt_index_knows_also_what_changed_in_place(tmp_path: Path) -> None:
    folder = keep_run(tmp_path, 0)
    entries(tmp_path)
    (folder / "run.json").write_text(json.dumps(document(index_s=7.0)))
    looked: list[tuple[int, int]] = []
    with History(tmp_path, lambda: LATER_NS) as history:
        history.refresh()
        assert history.entries()[0].took[0].median_s == 2.0
        history.rebuild(lambda done, of: looked.append((done, of)))
        assert history.entries()[0].took[0].median_s == 7.0
    assert looked == [(1, 1)]
    assert entries(tmp_path)[0].took[0].median_s == 7.0


def test_a_store_that_is_not_there_has_no_nights_and_is_not_made(tmp_path: Path) -> None:
    assert entries(tmp_path / "none") == ()
    assert not (tmp_path / "none").exists()


def test_a_run_folder_that_cannot_be_read_is_named_and_costs_no_other(tmp_path: Path) -> None:
    keep_run(tmp_path, 0)
    (keep_run(tmp_path, 1, shown={}) / "facts.json").write_bytes(b"\xff\x00")
    with History(tmp_path) as history:
        history.refresh()
        assert [entry.id for entry in history.entries()] == [run_id(0)]
        [caveat] = history.caveats
    assert (caveat.code, caveat.subject) == ("history-unreadable", run_id(1))
    assert run_id(1) in caveat.text


def test_figures_that_were_never_written_are_asked_for(tmp_path: Path) -> None:
    keep_run(tmp_path, 0, shown={})
    keep_run(tmp_path, 1)
    with History(tmp_path) as history:
        history.refresh()
        assert history.unanalysed() == (run_id(0),)


@pytest.mark.parametrize("kept", [0, 100, 4096, 8192])
def test_a_damaged_index_is_made_anew_and_says_so(tmp_path: Path, kept: int) -> None:
    for night in range(30):
        keep_run(tmp_path, night)
    whole = entries(tmp_path)
    path = tmp_path / "history.sqlite"
    content = path.read_bytes()
    path.write_bytes(content[:kept] + b"\xa5" * (len(content) - kept))
    with History(tmp_path, lambda: LATER_NS) as history:
        history.refresh()
        assert history.entries() == whole
        assert history.on_disk
        assert [caveat.code for caveat in history.caveats] == ["history-remade"]
    assert (tmp_path / "history.sqlite.damaged").read_bytes()[kept : kept + 64] == b"\xa5" * 64
    with History(tmp_path, lambda: LATER_NS) as history:
        history.refresh()
        assert (history.entries(), history.caveats) == (whole, ())
    assert not list(tmp_path.glob(".history-*"))


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE nights",
        "UPDATE nights SET took = 'x'",
        "UPDATE nights SET took = '[[1]]'",
        "DELETE FROM texts",
        "UPDATE nights SET at = 'soon'",
    ],
)
def test_rows_that_nobody_of_ours_wrote_are_damage(tmp_path: Path, statement: str) -> None:
    keep_run(tmp_path, 0)
    whole = entries(tmp_path)
    with sqlite3.connect(tmp_path / "history.sqlite") as db:
        db.execute(statement)
    db.close()
    assert entries(tmp_path) == whole


def test_an_index_cut_short_to_nothing_is_filled_again(tmp_path: Path) -> None:
    keep_run(tmp_path, 0)
    whole = entries(tmp_path)
    (tmp_path / "history.sqlite").write_bytes(b"")
    assert entries(tmp_path) == whole


def test_an_index_of_an_older_version_is_filled_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pathtrace.store import index_file

    folder = keep_run(tmp_path, 0)
    entries(tmp_path)
    (folder / "run.json").write_text(json.dumps(document(index_s=7.0)))  # as if it were read otherwise now
    monkeypatch.setattr(index_file, "VERSION", index_file.VERSION + 1)
    assert entries(tmp_path)[0].took[0].median_s == 7.0


def newer(store: Path) -> bytes:
    with sqlite3.connect(store / "history.sqlite") as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    return (store / "history.sqlite").read_bytes()


def test_an_index_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    keep_run(tmp_path, 0)
    entries(tmp_path)
    content = newer(tmp_path)
    with pytest.raises(RunFileError) as caught, History(tmp_path):
        pass
    assert "version 99, this version of pathtrace reads version 1" in str(caught.value)
    assert "pathtrace history --rebuild" in (caught.value.hint or "")
    assert (tmp_path / "history.sqlite").read_bytes() == content


def test_an_index_of_a_newer_version_is_set_aside_where_that_is_asked_for(tmp_path: Path) -> None:
    keep_run(tmp_path, 0)
    whole = entries(tmp_path)
    content = newer(tmp_path)
    set_newer_aside(tmp_path)
    assert entries(tmp_path) == whole
    assert (tmp_path / "history.sqlite.damaged").read_bytes() == content


def test_an_index_that_is_removed_meanwhile_costs_nothing(tmp_path: Path) -> None:
    keep_run(tmp_path, 0)
    with History(tmp_path) as history:
        history.refresh()
        for path in tmp_path.glob("history.sqlite*"):
            path.unlink()
        keep_run(tmp_path, 1)
        history.refresh()
        assert (len(history.entries()), history.on_disk, history.caveats) == (2, True, ())
    assert ids(tmp_path) == [run_id(0), run_id(1)]


def test_two_at_once_read_and_write_the_same_index(tmp_path: Path) -> None:
    for night in range(5):
        keep_run(tmp_path, night)
    with History(tmp_path) as one, History(tmp_path) as other:
        one.refresh()
        other.refresh()
        mark(tmp_path / run_id(2), label="b")
        other.refresh()
        one.refresh()
        assert one.entries() == other.entries()
        assert one.entries()[2].label == "b"
        assert (one.on_disk, other.on_disk) == (True, True)


def test_while_another_writes_the_folders_are_read_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathtrace.store import index_file

    monkeypatch.setattr(index_file, "BUSY_S", 0.01)
    keep_run(tmp_path, 0)
    entries(tmp_path)
    keep_run(tmp_path, 1)
    writer = sqlite3.connect(tmp_path / "history.sqlite", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    with History(tmp_path) as history:
        history.refresh()
        assert [entry.id for entry in history.entries()] == [run_id(0), run_id(1)]
        [caveat] = history.caveats
    assert (caveat.code, "database is locked" in caveat.text) == ("history-unwritten", True)
    writer.execute("ROLLBACK")
    writer.close()
    assert ids(tmp_path) == [run_id(0), run_id(1)]


def test_a_fault_that_is_mended_in_place_is_seen(tmp_path: Path) -> None:
    folder = keep_run(tmp_path, 0)
    (folder / "marks.json").write_text("{")
    with History(tmp_path, lambda: LATER_NS) as history:
        history.refresh()
        assert [caveat.subject for caveat in history.caveats] == [run_id(0)]
    (folder / "marks.json").write_text('{"format": "pathtrace.marks/1", "label": "mended"}')
    with History(tmp_path, lambda: LATER_NS) as history:
        history.refresh()
        assert [entry.label for entry in history.entries()] == ["mended"]
        assert history.caveats == ()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="this system knows no modes of folders")
def test_folders_of_others_cost_no_run(nobody: Path) -> None:
    """A run that was made with ``sudo``, and the ``lost+found`` of a file system of its own."""
    for folder in (nobody / "lost+found", keep_run(nobody, 1)):
        folder.mkdir(exist_ok=True)
        folder.chmod(0)
    keep_run(nobody, 0)
    with History(nobody) as history:
        history.refresh()
        assert [entry.id for entry in history.entries()] == [run_id(0)]
        [caveat] = history.caveats
    assert (caveat.subject, caveat.text) == (
        run_id(1),
        f"{nobody / run_id(1)}: cannot be read: permission denied",
    )
    assert run_ids(nobody) == (run_id(0),)


@pytest.fixture
def nobody() -> Iterator[Path]:
    """A store of somebody who may not read everything, as root may."""
    with tempfile.TemporaryDirectory() as folder:
        was = os.geteuid()
        assert named_at(run_id(0)) is not None  # imports what may lie where nobody may read
        if was == 0:
            os.chown(folder, 65534, -1)
            os.seteuid(65534)
        yield Path(folder)
        os.seteuid(was)
        for each in Path(folder).iterdir():
            if each.is_dir():
                each.chmod(0o700)
