from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from pathtrace.errors import StoreError
from pathtrace.store import files


def test_a_document_is_replaced_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    files.write_document(tmp_path, "report.md", "old and long")
    files.write_document(tmp_path, "report.md", "new")

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"report.md": "new"}


def test_a_write_that_fails_leaves_the_old_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files.write_document(tmp_path, "report.md", "old")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError) as caught:
        files.write_document(tmp_path, "report.md", "new")

    assert str(caught.value) == f"{tmp_path / 'report.md'}: cannot write: no space left on device"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"report.md": "old"}


def test_only_the_owner_may_look_into_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "store" / "run"
    files.make_folder(folder)
    path = files.write_document(folder, "report.md", "")

    modes = [stat.S_IMODE(p.stat().st_mode) for p in (folder.parent, folder, path)]

    assert modes == [0o700, 0o700, 0o600]


def test_a_store_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("")

    with pytest.raises(StoreError, match="cannot write"):
        files.make_folder(tmp_path / "store" / "run")


def test_a_folder_that_is_there_already_is_not_taken(tmp_path: Path) -> None:
    with pytest.raises(FileExistsError):
        files.make_folder(tmp_path)


def test_the_reserve_takes_room_until_it_is_released(tmp_path: Path) -> None:
    files.make_reserve(tmp_path)
    taken = sum(path.stat().st_blocks for path in tmp_path.iterdir()) * 512
    files.release_reserve(tmp_path)
    files.release_reserve(tmp_path)

    assert (taken >= 512 * 1024, list(tmp_path.iterdir())) == (True, [])
