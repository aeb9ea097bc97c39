from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pathtrace.model.sample import Reading
from pathtrace.observers.disk import DiskObserver

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/diskstats")
LINE = "   7  {n} {name} {reads} 0 {sectors} 0 2 0 8 0 0 {busy} 0 0 0 0 0 0 0\n"


def stats(folder: Path, *devices: tuple[str, int, int, int]) -> None:
    lines = [LINE.format(n=n, name=d[0], reads=d[1], sectors=d[2], busy=d[3]) for n, d in enumerate(devices)]
    (folder / "diskstats").write_text("".join(lines))


def observer(folder: Path) -> DiskObserver:
    return DiskObserver(proc=str(folder), sys_block=str(folder))


@linux
def test_a_loop_device_is_a_device_like_any_other(tmp_path: Path) -> None:
    stats(tmp_path, ("loop0", 3, 24, 1250))

    assert observer(tmp_path).observe(7) == [
        Reading(7, "disk", "loop0", "read_bytes", 24 * 512.0),
        Reading(7, "disk", "loop0", "write_bytes", 8 * 512.0),
        Reading(7, "disk", "loop0", "read_count", 3.0),
        Reading(7, "disk", "loop0", "write_count", 2.0),
        Reading(7, "disk", "loop0", "busy_s", 1.25),
    ]


@linux
def test_a_device_with_a_medium_counts_from_zero_and_one_without_is_left_out(tmp_path: Path) -> None:
    line = "   7  {n} {name} 0 0 0 0 0 0 0 0 0 0 0\n"
    (tmp_path / "diskstats").write_text(line.format(n=0, name="loop0") + line.format(n=1, name="loop1"))
    for name, size in (("loop0", "2048\n"), ("loop1", "0\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "size").write_text(size)

    readings = observer(tmp_path).observe(1)

    assert {(r.subject, r.value) for r in readings} == {("loop0", 0.0)}


@linux
def test_without_the_kernels_file_there_are_no_readings(tmp_path: Path) -> None:
    assert observer(tmp_path).observe(1) == []


def test_this_host_is_looked_at_without_an_error() -> None:
    assert {r.observer for r in DiskObserver().observe(1)} <= {"disk"}
