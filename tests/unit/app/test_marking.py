from __future__ import annotations

from pathlib import Path

import pytest

from pathtrace.app.marking import Saying, note
from pathtrace.errors import RunFileError
from tests.unit.store.nights import at, keep_run, run_id


def test_where_marks_are_damaged_no_file_is_copied(tmp_path: Path) -> None:
    folder = keep_run(tmp_path, 0)
    (folder / "marks.json").write_text("{")
    (tmp_path / "cable.jpg").write_bytes(b"JFIF")
    with pytest.raises(RunFileError, match="cannot be read"):
        note(tmp_path, run_id(0), Saying(files=(tmp_path / "cable.jpg",)), at(1))
    assert not (folder / "attached").exists()
