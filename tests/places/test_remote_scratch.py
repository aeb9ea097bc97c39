"""On another host: as many connections as it can bear, and scratch that is removed or told of."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.scenario import Action, Start
from pathtrace.model.work import Clock, Item
from pathtrace.places import remote_files
from pathtrace.places.remote import Fetched, RemoteClient, RemoteFile, Target
from pathtrace.places.remote_files import RemoteFiles
from tests.unit.scenario.example import PLACES, read, text_of

FILES = 40
EACH_S = 0.01


class Server:
    """A client whose server needs its time for each file that it removes."""

    endpoint = None
    identity = None

    def __init__(self) -> None:
        self.folders: dict[str, list[str]] = {}
        self.gone = False

    async def open(self, parallel: int) -> None: ...

    async def close(self) -> None: ...

    async def listing(self) -> AsyncIterator[RemoteFile]:
        return
        yield

    async def make_folder(self, name: str) -> None:
        self.folders[name] = []

    async def store(self, name: str, data: bytes) -> Fetched:
        self.folders[name.rpartition("/")[0]].append(name)
        return Fetched(b"", 0, 0, 0, -1, 0, 1, -1)

    async def remove_folder(self, name: str) -> None:
        if self.gone:
            raise OperationError("nas refused the connection")
        while self.folders.get(name):
            await asyncio.sleep(EACH_S)
            self.folders[name].pop()
        self.folders.pop(name, None)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    made = Server()

    def make_client(target: Target, clock: Clock) -> RemoteClient:
        return cast("RemoteClient", made)

    monkeypatch.setattr(remote_files, "_maker", lambda scheme: make_client)
    return made


def written(server: Server, scratch: Path, goes: bool) -> RemoteFiles:
    """The place once it was written to and closed; ``goes``: the server, before that."""
    places = PLACES.replace("path: /srv/archive", 'url: "smb://nas/share/out", data: output')
    place = RemoteFiles(read(text_of(places=places)).place("archive"), time.perf_counter_ns, 1)

    async def life() -> None:
        scratch.mkdir(parents=True)
        await place.open(scratch)
        await place.begin(Start.COLD, frozenset({Action.WRITE}))
        for number in range(FILES):
            await place.perform(Action.WRITE, [Item(f"{number}.txt", 1, data=b"a")])
        assert place.left_behind is None
        server.gone = goes
        await place.close()

    asyncio.run(life())
    return place


def test_removing_takes_as_long_as_what_was_written_needs(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_files, "_REMOVE_S", EACH_S)
    assert written(server, tmp_path / "run" / "out", goes=False).left_behind is None
    assert server.folders == {}


def test_what_a_server_that_went_away_keeps_is_told(server: Server, tmp_path: Path) -> None:
    place = written(server, tmp_path / "run" / "out", goes=True)
    (folder,) = server.folders
    assert place.left_behind == f"smb://nas/share/out/{folder}"


def died(server: Server, store: Path, run: str) -> None:
    """A run that wrote there and is not closed."""
    scratch = store / ".scratch" / run / "archive"
    scratch.mkdir(parents=True)
    asyncio.run(begun(scratch))


async def begun(scratch: Path) -> RemoteFiles:
    places = PLACES.replace("path: /srv/archive", 'url: "smb://me:secret@nas/share/out", data: output')
    place = RemoteFiles(read(text_of(places=places)).place("archive"), time.perf_counter_ns, 1)
    await place.open(scratch)
    await place.begin(Start.COLD, frozenset({Action.WRITE}))
    return place


@pytest.mark.parametrize(("claimed", "left"), [(False, 0), (True, 1)])
def test_what_a_dead_run_left_on_the_server_goes_with_the_next_one_that_writes_there(
    server: Server, tmp_path: Path, claimed: bool, left: int
) -> None:
    died(server, tmp_path, "20261130-020000-dead")
    server.folders["of somebody else"] = ["a.txt"]
    if claimed:  # it goes on, as far as is known
        (tmp_path / ".scratch" / "20261130-020000-dead.owner").write_text("")
    assert all("secret" not in note.read_text() for note in tmp_path.rglob("*.elsewhere"))

    async def next_one() -> None:
        scratch = tmp_path / ".scratch" / "20261201-020000-next" / "archive"
        scratch.mkdir(parents=True)
        await (await begun(scratch)).close()

    asyncio.run(next_one())
    assert len(list(tmp_path.rglob("*.elsewhere"))) == left
    assert sorted(server.folders)[left:] == ["of somebody else"]


def test_what_a_server_kept_that_went_away_goes_once_it_is_back(server: Server, tmp_path: Path) -> None:
    written(server, tmp_path / ".scratch" / "20261130-020000-gone" / "out", goes=True)
    server.gone = False
    written(server, tmp_path / ".scratch" / "20261201-020000-next" / "out", goes=False)
    assert server.folders == {}
    assert list(tmp_path.rglob("*.elsewhere")) == []


def test_more_connections_than_hosts_can_bear_are_refused_before_any_is_made(server: Server) -> None:
    places = PLACES.replace("path: /srv/archive", 'url: "smb://nas/share", workers: 32, depth: 16')
    place = RemoteFiles(read(text_of(places=places)).place("archive"), time.perf_counter_ns, 1)
    with pytest.raises(PlaceError) as caught:
        asyncio.run(place.check())
    assert caught.value.message == "32 workers of depth 16 are 512 connections"
    assert caught.value.hint == "over SMB workers × depth may be up to 64"
