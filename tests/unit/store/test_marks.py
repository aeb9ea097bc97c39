from __future__ import annotations

import dataclasses
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.errors import RunFileError, StoreError, UsageError
from pathtrace.model.history import Note
from pathtrace.store.marks import Marks, attach, change_marks, read_marks
from tests.unit.store.nights import at

WORDS = st.text(st.characters(codec="utf-8"), max_size=30)
NOTES = st.builds(Note, st.integers(0, 9).map(at), WORDS, st.none() | WORDS)
MARKS = st.builds(
    Marks, st.none() | WORDS, st.booleans(), st.none() | WORDS, st.none() | WORDS, st.tuples(NOTES, NOTES)
)


@given(MARKS)
def test_marks_are_read_as_they_were_written(tmp_path_factory: pytest.TempPathFactory, marks: Marks) -> None:
    folder = tmp_path_factory.mktemp("run")
    assert change_marks(folder, lambda was: marks) == marks
    assert read_marks(folder) == marks


def test_a_run_without_marks_has_none(tmp_path: Path) -> None:
    assert read_marks(tmp_path) == Marks()


def test_marks_are_private_and_the_folder_has_nothing_else(tmp_path: Path) -> None:
    change_marks(tmp_path, lambda was: dataclasses.replace(was, pinned=True))
    assert os.listdir(tmp_path) == ["marks.json"]
    assert (tmp_path / "marks.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "text",
    ["{", "3", '{"format": "pathtrace.marks/1", "pinned": 3}', '{"format": "pathtrace.marks/1", "notes": 3}'],
)
def test_damaged_marks_are_refused_and_left_as_they_are(tmp_path: Path, text: str) -> None:
    (tmp_path / "marks.json").write_text(text)
    with pytest.raises(RunFileError) as caught:
        change_marks(tmp_path, lambda was: was)
    assert "move it away" in (caught.value.hint or "")
    assert (tmp_path / "marks.json").read_text() == text


def test_of_many_at_once_none_is_lost(tmp_path: Path) -> None:
    def note(number: int) -> None:
        change_marks(
            tmp_path,
            lambda was: dataclasses.replace(was, notes=(*was.notes, Note(at(0), f"{number}"))),
        )

    threads = [threading.Thread(target=note, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {each.text for each in read_marks(tmp_path).notes} == set(map(str, range(20)))


def test_an_attached_file_lies_in_the_folder_under_a_name_that_was_free(tmp_path: Path) -> None:
    run, source = tmp_path / "run", tmp_path / "iperf log\x1b[2J.txt"
    run.mkdir()
    source.write_bytes(b"941 Mbit/s")
    assert attach(run, source) == "attached/iperf-log-2J.txt"
    assert attach(run, source) == "attached/iperf-log-2J-2.txt"
    assert (run / "attached" / "iperf-log-2J.txt").read_bytes() == b"941 Mbit/s"
    assert sorted(os.listdir(run / "attached")) == ["iperf-log-2J-2.txt", "iperf-log-2J.txt"]


@pytest.mark.parametrize(("name", "kept"), [(".hidden", "hidden"), ("..", "file"), ("é ü.png", "é-ü.png")])
def test_names_are_made_plain(tmp_path: Path, name: str, kept: str) -> None:
    from pathtrace.store.marks import _plain

    assert _plain(name) == kept


def test_what_a_killed_process_had_begun_is_removed_and_an_editors_copy_is_not(tmp_path: Path) -> None:
    (tmp_path / "attached").mkdir()
    for left in (".marks.json.ab12cd34", ".marks.json.swp", "attached/.attach.ab12cd34"):
        (tmp_path / left).write_text("{")
    change_marks(tmp_path, lambda was: dataclasses.replace(was, pinned=True))
    assert sorted(os.listdir(tmp_path)) == [".marks.json.swp", "attached", "marks.json"]
    assert os.listdir(tmp_path / "attached") == []


def test_what_is_no_file_is_not_attached(tmp_path: Path) -> None:
    for source in (tmp_path / "none", tmp_path):
        with pytest.raises(UsageError, match="cannot attach"):
            attach(tmp_path, source)


def test_a_folder_that_is_not_there_takes_no_marks(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        change_marks(tmp_path / "none", lambda was: was)
