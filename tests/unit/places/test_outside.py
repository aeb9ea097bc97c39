"""What a crashed run left beside the user's data is found again, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path

from pathtrace.places.outside import forget, remember, remove_remembered


def run_with(tmp_path: Path, made: Path) -> Path:
    """A crashed run's scratch folder whose only place had noted ``made``."""
    place = tmp_path / "run" / "library"
    place.mkdir(parents=True)
    remember(place, made)
    return tmp_path / "run"


def test_a_database_goes_with_its_journal_and_the_users_own_stays(tmp_path: Path) -> None:
    for name in ("lab.db", ".pathtrace-1.db", ".pathtrace-1.db-wal", ".pathtrace-1.db-journal"):
        (tmp_path / name).write_text("")
    remove_remembered(run_with(tmp_path, tmp_path / ".pathtrace-1.db"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lab.db", "run"]


def test_a_folder_goes_with_what_was_written(tmp_path: Path) -> None:
    (tmp_path / ".pathtrace-2").mkdir()
    (tmp_path / ".pathtrace-2" / "copy").write_text("")
    remove_remembered(run_with(tmp_path, tmp_path / ".pathtrace-2"))
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_what_does_not_bear_our_prefix_is_never_removed(tmp_path: Path) -> None:
    (tmp_path / "lab.db").write_text("")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".pathtrace-3").symlink_to(tmp_path / "elsewhere")
    remove_remembered(run_with(tmp_path, tmp_path / "lab.db"))
    remove_remembered(run_with(tmp_path / "again", tmp_path / ".pathtrace-3"))
    assert (tmp_path / "lab.db").exists()
    assert (tmp_path / "elsewhere").exists()


def test_a_note_that_is_damaged_or_forgotten_removes_nothing(tmp_path: Path) -> None:
    (tmp_path / ".pathtrace-4.db").write_text("")
    run = run_with(tmp_path, tmp_path / ".pathtrace-4.db")
    forget(run / "library")
    remove_remembered(run)
    (run / "library" / "made-outside.json").write_text("{")
    remove_remembered(run)
    assert (tmp_path / ".pathtrace-4.db").exists()
