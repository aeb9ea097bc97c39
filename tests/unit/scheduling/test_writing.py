import os
from pathlib import Path

import pytest

from pathtrace.errors import StoreError, UsageError
from pathtrace.scheduling import writing


def test_a_file_is_replaced_whole_with_its_mode_and_through_its_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    writing.write(link, b"new")
    assert (real.read_bytes(), real.stat().st_mode & 0o777, link.is_symlink()) == (b"new", 0o640, True)
    assert sorted(os.listdir(tmp_path)) == ["link", "real"]


def test_a_new_file_is_made_with_its_folder_and_can_be_taken_away_twice(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    writing.write(path, b"x")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"x", 0o644)
    writing.restore(path, None)
    writing.take_away(path)
    assert writing.read(path) is None


def test_what_cannot_be_written_or_read_is_told_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot write it: "):
        writing.write(tmp_path / "file" / "b", b"x")
    with pytest.raises(UsageError, match="cannot read it: Is a directory"):
        writing.read(tmp_path)
