"""One scan at a time: the second waits, and where that takes too long it is skipped and says for whom."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.command import SLOW
from tests.scanning.nights import assert_sound, assert_tidy, make_lab, scan, start

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs kill -9")


def test_the_second_of_two_scans_is_skipped_says_who_scans_and_is_kept(tmp_path: Path) -> None:
    make_lab(tmp_path)
    (tmp_path / "lab.yaml").write_text(SLOW)
    first = start(tmp_path)
    try:
        assert first.stderr is not None
        first.stderr.readline()
        code, night, _ = scan(tmp_path, "--wait", "0", PATHTRACE_STORE=str(tmp_path / "other"))
        assert (code, night["outcome"]) == (0, "skipped"), "another store, and the same host"
        code, night, _ = scan(tmp_path, "--wait", "0")
        assert (code, night["outcome"], night["run"]) == (0, "skipped", None)
        assert night["night"]["reason"].startswith(f"the scan of slow (pid {first.pid} on ")
        assert (tmp_path / "store" / night["id"] / "scan.json").exists()
    finally:
        first.kill()
        first.communicate()


def test_a_scan_that_waits_has_its_turn_when_the_other_one_dies(tmp_path: Path) -> None:
    make_lab(tmp_path)
    quick = (tmp_path / "lab.yaml").read_text()
    (tmp_path / "lab.yaml").write_text(SLOW)
    first = start(tmp_path)
    try:
        assert first.stderr is not None
        first.stderr.readline()
        (tmp_path / "lab.yaml").write_text(quick)
        second = start(tmp_path, "--wait", "60 s")
        assert second.stderr is not None
        assert second.stderr.readline().startswith("waiting for up to ")
    finally:
        first.kill()
        first.communicate()
    out, err = second.communicate(timeout=60)
    assert (second.returncode, '"outcome": "measured"' in out) == (0, True), err
    assert_sound(tmp_path, set())
    assert_tidy(tmp_path)
