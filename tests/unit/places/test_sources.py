from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pathtrace.places import sources
from pathtrace.places.page_cache import look
from pathtrace.places.sources import Direct, Mapped, Opening, Plain, direct_refusal

SIZE = 150_000


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(offset=st.integers(0, SIZE + 5000), length=st.integers(1, SIZE))
@pytest.mark.parametrize("opening", [Plain, Mapped, Direct])
def test_every_way_gives_the_bytes_that_are_there(
    tmp_path: Path, opening: Opening, offset: int, length: int
) -> None:
    path = tmp_path / "file"
    content = os.urandom(SIZE) if not path.exists() else path.read_bytes()
    path.write_bytes(content)
    source = opening(str(path))
    source.look()
    assert source.size == SIZE
    assert bytes(source.block(offset, length)) == content[offset : offset + length]
    assert source.skim(offset, length) == len(content[offset : offset + length])


def test_direct_reads_leave_nothing_in_the_cache(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(os.urandom(SIZE))
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    assert direct_refusal(str(path), "ext4") is None
    Direct(str(path)).block(0, SIZE)
    assert look(os.fsencode(path), SIZE).resident == 0
    Plain(str(path)).block(0, SIZE)
    assert look(os.fsencode(path), SIZE).resident > 0


@pytest.mark.parametrize("when", ["open", "transfer"])
def test_a_file_system_that_refuses_is_told_apart_from_a_bad_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x")

    def refuse(*args: object) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(sources.os, "open" if when == "open" else "preadv", refuse)
    assert direct_refusal(str(path), "ext4") == "the file system refuses direct reads"
    with pytest.raises(OSError, match="the file system refuses direct reads"):
        Direct(str(path)).block(0, 10)
    monkeypatch.undo()
    with pytest.raises(FileNotFoundError):
        direct_refusal(str(tmp_path / "gone"), "ext4")


def test_a_system_without_direct_reads_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_O_DIRECT", 0)
    assert direct_refusal(str(tmp_path), "apfs") == "this system has no direct reads"
