from __future__ import annotations

from pathlib import Path

import pytest

from pathtrace.observers import procfs


def test_what_is_not_there_is_none_or_nothing(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")

    seen = (procfs.read_bytes(gone), procfs.read_text(gone), procfs.read_counters(gone), procfs.entries(gone))

    assert seen == (None, None, {}, ())


def test_counters_are_read_with_or_without_a_unit_and_other_lines_left_out(tmp_path: Path) -> None:
    (tmp_path / "io").write_text("rchar: 12\nMemFree:   34 kB\nName:\tbash\nempty:\n")

    assert procfs.read_counters(str(tmp_path / "io")) == {b"rchar": 12, b"MemFree": 34}


@pytest.mark.skipif(not Path("/proc/kallsyms").exists(), reason="reads /proc")
def test_a_file_that_the_kernel_hands_out_by_the_page_is_read_whole() -> None:
    whole = Path("/proc/kallsyms").read_bytes()
    assert len(whole) > 100_000
    assert procfs.read_bytes("/proc/kallsyms") == whole
