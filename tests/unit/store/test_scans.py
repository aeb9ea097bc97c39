from __future__ import annotations

from pathlib import Path

import pytest

from pathtrace.errors import RunFileError, StoreError
from pathtrace.model.history import Told
from pathtrace.store.scans import new_night, night_of, read_scan, told_of, write_scan
from tests.unit.store.nights import at, scan_document


def test_a_scan_is_read_as_it_was_written(tmp_path: Path) -> None:
    folder = new_night(tmp_path / "store", at(2))
    document = scan_document(2)
    assert read_scan(folder) is None
    write_scan(folder, document)
    assert read_scan(folder) == document
    assert folder.name.startswith("20261103-021700-")
    assert ((folder / "scan.json").stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o600, 0o700)
    assert night_of(folder, document).reason == "the machine was busy: 74 % of the processor"


def test_a_store_that_takes_nothing_says_so(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("")
    with pytest.raises(StoreError):
        new_night(tmp_path / "store", at(2))


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "pathtrace.scan/2"}', "[" * 100_000])
def test_a_damaged_scan_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "scan.json").write_text(text)
    with pytest.raises(RunFileError):
        read_scan(tmp_path)


@pytest.mark.parametrize("night", [None, 3, {}, {"at": "soon"}, {"scenario": "lab"}])
def test_a_scan_without_its_night_is_no_night(tmp_path: Path, night: object) -> None:
    with pytest.raises(ValueError, match=r"night|isoformat"):
        night_of(tmp_path, {"night": night})


def test_what_was_told_is_read_as_far_as_it_can_be(tmp_path: Path) -> None:
    told = {"kind": "step", "name": "index", "since": "20261103", "state": "new", "ratio": None}
    known = Told("step", "index", "20261103", "new", night=tmp_path.name)
    assert told_of(tmp_path, {"told": [told, {}, None]}) == (known,)
    assert told_of(tmp_path, {"told": "x"}) == ()
    assert told_of(tmp_path, {}) == ()
