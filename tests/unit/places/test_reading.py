from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pathtrace.model.work import Clock, Done, Item
from pathtrace.places import reading
from pathtrace.places.reading import (
    Burst,
    Plan,
    Reading,
    map_document,
    read_burst,
    read_document,
    read_document_directly,
)
from pathtrace.places.sources import Direct, Mapped, Opening, Plain

REUSED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def ticking() -> Clock:
    """A clock that moves on by one at every look."""
    return count().__next__


def item(path: Path, size: int | None = None) -> Item:
    return Item(path.name, path.stat().st_size if size is None else size, str(path))


def data(done: Done) -> bytes:
    (handed,) = done.items
    assert handed.data is not None
    return bytes(handed.data)


@REUSED
@given(size=st.one_of(st.integers(0, 300), st.integers(65_000, 200_000)), block=st.integers(50, 100_000))
@pytest.mark.parametrize("read", [read_document, map_document, read_document_directly])
def test_bytes_in_are_bytes_out(
    tmp_path: Path, size: int, block: int, read: Callable[[Item, int, Clock], Done]
) -> None:
    content = os.urandom(size)
    path = tmp_path / "document"
    path.write_bytes(content)
    done = read(item(path), block, ticking())
    assert (done.bytes, done.fault, data(done)) == (size, None, content)


def test_open_stat_first_byte_and_close_are_timed_apart(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 10)
    done = read_document(item(path), 4096, ticking())
    # The clock's looks: start 0, asking 1, opened 2, first byte 3, closing 4, end 5.
    assert done._replace(items=(), cpu_ns=0) == Done(
        0, 5, 10, (), setup_ns=2, first_byte_ns=3, finish_ns=1, cpu_ns=0, stat_ns=1
    )
    assert done.cpu_ns >= 0


def test_a_document_too_long_to_keep_is_handed_on_as_a_mapping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "WHOLE_BYTES", 70_000)
    content = os.urandom(100_000)
    path = tmp_path / "long"
    path.write_bytes(content)
    for read in (read_document, map_document, read_document_directly):
        assert data(read(item(path), 30_000, ticking())) == content


def test_a_pipe_in_a_files_place_does_not_hold_the_thread(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    done = read_document(item(path, size=5), 4096, ticking())
    assert (done.bytes, done.items) == (0, ())
    assert done.fault is not None


def plan(path: Path, blocks: int, *, opening: Opening = Plain, whole: bool = False) -> Plan:
    return Plan(path.name, str(path), path.stat().st_size, blocks, opening, whole)


def block(path: Path, offset: int, size: int = 1000) -> Item:
    return Item(path.name, size, str(path), offset)


@pytest.mark.parametrize("opening", [Plain, Mapped, Direct])
def test_the_first_block_opens_and_the_last_one_closes(tmp_path: Path, opening: Opening) -> None:
    path = tmp_path / "weights"
    path.write_bytes(os.urandom(3000))
    one = Reading(plan(path, 3, opening=opening), ticking())
    before = len(os.listdir("/proc/self/fd"))
    dones = [one.read(block(path, offset)) for offset in (0, 1000, 2000)]
    assert len(os.listdir("/proc/self/fd")) == before
    assert [done.finish_ns for done in dones] == [0, 0, 1]
    assert b"".join(map(data, dones)) == path.read_bytes()
    again = [one.read(block(path, offset)) for offset in (0, 1000, 2000)]
    assert b"".join(map(data, again)) == path.read_bytes()


@pytest.mark.parametrize("opening", [Plain, Mapped, Direct])
def test_skimming_reads_the_same_bytes_and_hands_nothing_on(tmp_path: Path, opening: Opening) -> None:
    path, size, step = tmp_path / "file", 10_000, 4096
    path.write_bytes(os.urandom(size))
    one = Reading(Plan("file", str(path), size, 3, opening, False), ticking())
    blocks = [Item("file", min(step, size - offset), str(path), offset) for offset in range(0, size, step)]
    read, skimmed = [one.read(block) for block in blocks], [one.skim(block) for block in blocks]
    assert [each.bytes for each in skimmed] == [each.bytes for each in read] == [4096, 4096, 1808]
    assert [each.items for each in skimmed] == [(), (), ()]
    assert [each.setup_ns > 0 for each in skimmed] == [each.setup_ns > 0 for each in read]
    assert all(each.cpu_ns >= 0 and each.fault is None for each in skimmed)


def test_skimming_a_file_that_got_shorter_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100)
    one = Reading(Plan("file", str(tmp_path / "file"), 200, 1, Plain, False), ticking())
    done = one.skim(Item("file", 200, str(tmp_path / "file"), 0))
    assert (done.bytes, done.items) == (100, ())
    assert done.fault == one.read(Item("file", 200, str(tmp_path / "file"), 0)).fault is not None


def test_a_document_in_blocks_is_not_handed_on_when_a_block_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "document"
    path.write_bytes(os.urandom(3000))
    one = Reading(plan(path, 3, whole=True), ticking())
    dones = [one.read(block(path, offset)) for offset in (1000, 0)]
    os.truncate(path, 2500)
    dones.append(one.read(block(path, 2000)))
    assert [(done.bytes, len(done.items)) for done in dones] == [(1000, 0), (1000, 0), (500, 0)]
    assert dones[-1].fault == "document: got shorter while the run read it; it ends after 2,500 bytes"


def test_a_block_that_memory_cannot_hold_is_a_fault_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"x" * 1000)
    one = Reading(plan(path, 2, whole=False), ticking())
    done = one.read(block(path, 0)._replace(size_bytes=1 << 60))
    assert (done.bytes, done.fault) == (0, "weights: no memory for a block of this size")


def test_letting_go_in_the_middle_closes_the_file_and_starts_afresh(tmp_path: Path) -> None:
    path = tmp_path / "document"
    path.write_bytes(os.urandom(2000))
    one = Reading(plan(path, 2, whole=True), ticking())
    before = len(os.listdir("/proc/self/fd"))
    one.read(block(path, 0))
    one.let_go()
    assert len(os.listdir("/proc/self/fd")) == before
    one.read(block(path, 1000))
    assert data(one.read(block(path, 0))) == path.read_bytes()


def test_threads_that_share_a_reading_get_every_byte_once(tmp_path: Path) -> None:
    path = tmp_path / "document"
    content = os.urandom(200_000)
    path.write_bytes(content)
    one = Reading(plan(path, 200, whole=True), ticking())
    with ThreadPoolExecutor(4) as pool:
        dones = list(pool.map(lambda offset: one.read(block(path, offset)), range(0, 200_000, 1000)))
    assert sum(done.bytes for done in dones) == 200_000
    assert [data(done) for done in dones if done.items] == [content]


def test_a_burst_ends_when_its_time_is_up_and_never_before_one_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.touch()
    items = [item(path)] * 10
    done = Done(0, 0, 0)
    assert len(read_burst(items, lambda _: done, ticking(), Burst(3, 10))) == 3
    assert len(read_burst(items, lambda _: done, ticking(), Burst(0, 10))) == 1
    assert len(read_burst(items, lambda _: done, ticking(), Burst(1000, 10))) == 10


def test_a_burst_ends_when_much_is_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.touch()
    done = Done(0, 0, 400)
    assert len(read_burst([item(path)] * 10, lambda _: done, ticking(), Burst(1000, 1200))) == 3
