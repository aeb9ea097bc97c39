"""How items of another host are read, with a client whose answers the test sets."""

from __future__ import annotations

import asyncio
from array import array
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from pathtrace.errors import OperationError
from pathtrace.model.work import Done, Item
from pathtrace.places.file_list import FileList
from pathtrace.places.remote import Fetched
from pathtrace.places.remote_work import (
    Farewells,
    RemoteBlocks,
    RemoteDocuments,
    RemoteReading,
    read_document,
    read_long_document,
)


@dataclass
class Client:
    """One file in memory; ``broken`` reads fail, ``hanging`` ones never end."""

    content: bytes
    broken: set[int] = field(default_factory=set)
    hanging: set[int] = field(default_factory=set)
    opened: int = 0
    closed: int = 0

    async def handle(self, name: str) -> Handle:
        self.opened += 1
        return Handle(self)

    async def fetch(self, name: str, size: int, block_bytes: int) -> Fetched:
        return Fetched(self.content, 5, 20, 10, 30, 7, 100, -1)


@dataclass
class Handle:
    client: Client

    async def read(self, offset: int, length: int) -> Fetched:
        if offset in self.client.broken:
            self.client.broken.discard(offset)
            raise OperationError("a.bin: the connection was lost")
        if offset in self.client.hanging:
            await asyncio.Event().wait()
        data = self.client.content[offset : offset + length]
        return Fetched(data, 0, 0, -1, 0, 0, 0, -1)

    async def close(self) -> None:
        self.client.closed += 1


def one_file(size: int) -> FileList:
    return FileList(b"/x", b"a.bin", array("Q", [5]), array("q", [size]), size)


def ticking() -> int:
    return next(_TICKS)


_TICKS = count()


def blocks_of(client: Client, whole: bool) -> tuple[RemoteReading, RemoteBlocks, Farewells]:
    farewells = Farewells()
    files = one_file(10)
    reading = RemoteReading(files, 0, whole, 4, client, ticking, farewells)  # type: ignore[arg-type]
    return reading, RemoteBlocks([reading], 4), farewells


async def drawn(client: Client, whole: bool) -> list[Done]:
    reading, blocks, farewells = blocks_of(client, whole)
    dones = [await reading.read(block) for block in blocks]
    await asyncio.sleep(0)
    await farewells.end()
    return dones


def test_a_document_is_handed_on_by_the_block_that_completes_it() -> None:
    client = Client(b"0123456789")
    dones = asyncio.run(drawn(client, whole=True))
    assert [done.items for done in dones] == [(), (), (Item("a.bin", 10, None, 0, b"0123456789"),)]
    assert (client.opened, client.closed) == (1, 1)


def test_other_blocks_are_handed_on_as_they_come() -> None:
    dones = asyncio.run(drawn(Client(b"0123456789"), whole=False))
    assert [item for done in dones for item in done.items] == [
        Item("a.bin", 4, None, 0, b"0123"),
        Item("a.bin", 4, None, 4, b"4567"),
        Item("a.bin", 2, None, 8, b"89"),
    ]


def test_a_block_that_fails_costs_itself_and_the_document() -> None:
    client = Client(b"0123456789", broken={4})
    dones = asyncio.run(drawn(client, whole=True))
    assert [done.fault for done in dones] == [None, "a.bin: the connection was lost", None]
    assert [done.items for done in dones] == [(), (), ()]
    assert (client.opened, client.closed) == (2, 2)


def test_a_block_that_hangs_can_be_cut_off_and_the_file_is_closed_all_the_same() -> None:
    client = Client(b"0123456789", hanging={4})

    async def life() -> list[bytes]:
        reading, blocks, farewells = blocks_of(client, whole=False)
        got: list[bytes] = []
        for block in blocks:
            task = asyncio.create_task(reading.read(block))
            for _ in range(3):
                await asyncio.sleep(0)
            if not task.done():
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                continue
            got += [bytes(item.data or b"") for item in (await task).items]
        await asyncio.sleep(0)
        await farewells.end()
        return got

    assert asyncio.run(life()) == [b"0123", b"89"]
    assert (client.opened, client.closed) == (2, 2)


def test_a_file_that_ends_early_is_a_fault() -> None:
    dones = asyncio.run(drawn(Client(b"01234"), whole=False))
    assert [done.fault for done in dones] == [
        None,
        "a.bin: got shorter while the run read it; it ends after 5 bytes",
        "a.bin: got shorter while the run read it; it ends after 8 bytes",
    ]


def test_times_of_a_document_begin_when_it_was_asked_for() -> None:
    item = RemoteDocuments(one_file(4))[0]
    done = asyncio.run(read_document(item, Client(b"abcd"), 4, lambda: 2))  # type: ignore[arg-type]
    assert done == Done(
        start_ns=2,
        elapsed_ns=103,
        bytes=4,
        items=(Item("a.bin", 4, None, 0, b"abcd"),),
        setup_ns=23,
        first_byte_ns=33,
        finish_ns=7,
        cpu_ns=-1,
        stat_ns=10,
    )


@pytest.mark.parametrize(("broken", "fault"), [(set(), None), ({0}, "a.bin: the connection was lost")])
def test_a_long_document_is_handed_on_from_a_file_without_a_name(
    tmp_path: Path, broken: set[int], fault: str | None
) -> None:
    client = Client(b"abcd" * 100, broken)
    item = RemoteDocuments(one_file(400))[0]

    async def life() -> Done:
        farewells = Farewells()
        done = await read_long_document(item, client, ticking, farewells, tmp_path)  # type: ignore[arg-type]
        await asyncio.sleep(0)
        await farewells.end()
        return done

    done = asyncio.run(life())
    assert done.fault == fault
    assert [bytes(item.data or b"") for item in done.items] == ([] if fault else [b"abcd" * 100])
    assert list(tmp_path.iterdir()) == []
    assert client.closed == 1
