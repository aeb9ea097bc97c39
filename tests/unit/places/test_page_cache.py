from __future__ import annotations

import os
from pathlib import Path

import pytest

from pathtrace.places import page_cache
from pathtrace.places.mounts import mount_of
from pathtrace.places.page_cache import Look


@pytest.fixture
def path(tmp_path: Path) -> bytes:
    mount = mount_of(tmp_path)
    if mount is None or mount.fstype == "tmpfs":
        pytest.skip("files here are always in memory")
    file = tmp_path / "data"
    file.write_bytes(os.urandom(40_961))
    return os.fsencode(file)


def test_a_file_that_was_just_written_can_be_emptied_filled_and_emptied(path: bytes) -> None:
    looks = [
        page_cache.empty(path, 40_961),
        page_cache.look(path, 40_961),
        page_cache.fill(path, 40_961, lambda: False),
        page_cache.empty(path, 40_961),
    ]
    assert [(look.pages, look.resident, look.unproved) for look in looks] == [
        (11, 0, 0),
        (11, 0, 0),
        (11, 11, 0),
        (11, 0, 0),
    ]


def test_mincore_says_the_same_as_cachestat(path: bytes) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.pread(fd, 40_961, 0)
        by_mincore = page_cache._by_mincore(fd, 40_961)
        by_cachestat = page_cache._by_cachestat(fd, 40_961)
    finally:
        os.close(fd)
    assert by_mincore is not None
    assert by_mincore[:2] == (11, 11)
    assert by_cachestat is None or by_cachestat[:2] == (11, 11)


def test_a_file_that_is_gone_proves_nothing(tmp_path: Path) -> None:
    look = page_cache.empty(os.fsencode(tmp_path / "gone"), 10)
    assert (look.state, look.evidence) == ("unknown", "neither cachestat nor mincore could tell for 1 file")


@pytest.mark.parametrize(
    ("look", "state"),
    [
        (Look(3, 1000, 0, 0, "cachestat"), "cold"),
        (Look(3, 1000, 10, 0, "cachestat"), "cold"),
        (Look(3, 1000, 11, 0, "cachestat"), "unknown"),
        (Look(3, 1000, 989, 0, "cachestat"), "unknown"),
        (Look(3, 1000, 1000, 0, "cachestat"), "warm"),
        (Look(3, 1000, 0, 1, "cachestat"), "unknown"),
        (Look(), "unknown"),
    ],
)
def test_a_state_is_claimed_only_where_it_is_proved(look: Look, state: str) -> None:
    assert look.state == state


def test_evidence_is_a_sentence_with_its_figures() -> None:
    look = Look(4213, 65_733, 0, 2, "cachestat")
    assert look.evidence == (
        "cachestat: 0 of 65,733 pages resident in 4,213 files; 2 files could not be asked"
    )


def test_looks_add_up() -> None:
    total = Look(1, 2, 3, 0, "mincore").plus(Look(1, 2, 3, 1, "cachestat")).plus(Look())
    assert total == Look(2, 4, 6, 1, "cachestat and mincore")
