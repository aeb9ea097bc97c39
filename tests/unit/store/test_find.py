from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from pathtrace.errors import RunFileError, UsageError
from pathtrace.store.find import default_store, resolve, run_ids
from pathtrace.store.marks import change_marks

IDS = ("20261129-080000-aaaa", "20261130-080000-bbbb", "20261130-090000-cccc")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for run, label in zip(IDS, ("before", "after", "after"), strict=True):
        (tmp_path / run).mkdir()
        (tmp_path / run / "facts.json").write_text(json.dumps({"format": 1, "label": label}))
    (tmp_path / "20261130-100000-dddd").mkdir()
    (tmp_path / "notes.txt").write_text("")
    return tmp_path


def test_only_folders_with_facts_are_runs_and_the_oldest_is_first(store: Path) -> None:
    assert run_ids(store) == IDS


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("last", IDS[2]),
        ("last~0", IDS[2]),
        ("last~2", IDS[0]),
        (IDS[1], IDS[1]),
        ("20261129", IDS[0]),
        ("20261130-08", IDS[1]),
        ("before", IDS[0]),
    ],
)
def test_a_run_is_found_by(store: Path, name: str, run: str) -> None:
    assert resolve(store, name) == store / run


def test_a_label_given_later_is_the_one_that_holds(store: Path) -> None:
    change_marks(store / IDS[1], lambda marks: replace(marks, label="new cable"))
    assert resolve(store, "new cable") == store / IDS[1]
    assert resolve(store, "after") == store / IDS[2]


def test_a_label_is_found_whatever_wrote_the_index(store: Path) -> None:
    change_marks(store / IDS[1], lambda marks: replace(marks, label="new cable"))
    with sqlite3.connect(store / "history.sqlite") as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    assert resolve(store, "new cable") == store / IDS[1]


def test_a_run_is_found_by_its_folder_wherever_it_lies(store: Path) -> None:
    assert resolve(store / "other", str(store / IDS[0])) == store / IDS[0]


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("20261130", f"'20261130' is 2 runs: {IDS[1]} (after), {IDS[2]} (after)", "write more of the id"),
        (
            "after",
            f"'after' is 2 runs: {IDS[1]} (after), {IDS[2]} (after)",
            "write an id, or give the others another label: pathtrace note ID --label OTHER",
        ),
        ("befor", "no run is called 'befor'", "did you mean 'before'?"),
        ("", "no run is called ''", f"the last one is {IDS[2]}"),
        ("last~3", "there are 3 runs in the store", "pathtrace run SCENARIO makes one"),
        ("/nowhere/at/all", "no such run folder", None),
    ],
)
def test_what_is_not_one_run_is_refused(store: Path, name: str, message: str, hint: str | None) -> None:
    with pytest.raises(RunFileError) as caught:
        resolve(store, name)

    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_a_folder_that_is_no_run_is_named_so(store: Path) -> None:
    with pytest.raises(RunFileError, match=r"not a run folder: it has no facts\.json"):
        resolve(store, str(store / "20261130-100000-dddd"))


@pytest.mark.parametrize("name", ["20261130-120000-eeee", "20261130-12"])
def test_a_scan_that_left_no_run_is_named_so(store: Path, name: str) -> None:
    night = store / "20261130-120000-eeee"
    night.mkdir()
    (night / "scan.json").write_text("{}")

    with pytest.raises(RunFileError, match="is a scan that was skipped or failed: it left no run") as caught:
        resolve(store, name)

    assert caught.value.hint == "pathtrace history says why"


def test_a_damaged_run_does_not_stand_in_the_way(store: Path) -> None:
    (store / IDS[0] / "facts.json").write_text("{")

    with pytest.raises(RunFileError, match="no run is called 'before'"):
        resolve(store, "before")


def test_there_is_no_last_run_in_an_empty_store(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="there is no run in the store"):
        resolve(tmp_path / "none", "last")


@pytest.mark.parametrize(
    ("environment", "store"),
    [
        ({"PATHTRACE_STORE": "/runs", "XDG_DATA_HOME": "/data"}, Path("/runs")),
        ({"XDG_DATA_HOME": "/data"}, Path("/data/pathtrace/runs")),
        ({}, Path("~/.local/share/pathtrace/runs").expanduser()),
        ({"PATHTRACE_STORE": "~/runs"}, Path("~/runs").expanduser()),
    ],
)
def test_the_store_is_where_the_environment_says(environment: dict[str, str], store: Path) -> None:
    assert default_store(environment) == store


def test_where_nobody_has_a_home_the_store_has_to_be_named() -> None:
    with pytest.raises(UsageError) as caught:
        default_store({"XDG_DATA_HOME": "~nosuchperson/data"})
    assert caught.value.message == "no home folder is known for ~nosuchperson/data/pathtrace/runs"
    assert caught.value.hint == "say where runs lie: --store DIR"
