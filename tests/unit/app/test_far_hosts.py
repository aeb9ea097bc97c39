"""Other hosts are asked over a shell; what cannot be asked is a caveat, and nothing else is lost."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from pathtrace.app import far_hosts
from pathtrace.app.far_hosts import FarHosts
from pathtrace.errors import PlaceError
from pathtrace.model.run import Reached
from pathtrace.model.scenario import Start
from tests.unit.probes.local_shell import LocalShell
from tests.unit.scenario.example import PLACES, read, text_of

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks a Linux host")
HOSTS = "hosts: {nas: {ssh: admin@nas}, workstation: {}}\n"


class Shell(LocalShell):
    closed = False

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
def shells(monkeypatch: pytest.MonkeyPatch) -> list[Shell]:
    """Every shell that was opened, to this very host."""
    opened: list[Shell] = []

    async def open_shell(address: str) -> Shell:
        assert address == "admin@nas"
        opened.append(Shell())
        return opened[-1]

    monkeypatch.setattr(far_hosts, "open_shell", open_shell)
    return opened


def opened(folder: Path, top: str = HOSTS, there: str = "") -> FarHosts:
    where = f'url: "sftp://nas{folder}"{there}'
    scenario = read(text_of(top, PLACES.replace("path: /srv/archive", where)))
    far = FarHosts(scenario, lambda: 0)
    asyncio.run(far.open({"archive": Reached("archive", None, None, None, None)}))
    return far


def test_the_host_and_what_a_place_lies_on_there_are_described(shells: list[Shell], tmp_path: Path) -> None:
    far = opened(tmp_path)
    assert far.facts["nas"].cores == os.cpu_count()
    assert far.folders == {"archive": str(tmp_path)}
    assert str(tmp_path).startswith(far.mounts["archive"].path)
    assert far.caveats() == ()
    asyncio.run(far.close())
    assert [shell.closed for shell in shells] == [True]


def test_the_scenario_s_word_for_where_files_lie_counts(shells: list[Shell], tmp_path: Path) -> None:
    (tmp_path / "volume").mkdir()
    far = opened(tmp_path, there=f', there: "{tmp_path}/volume"')
    assert far.folders == {"archive": f"{tmp_path}/volume"}


def test_a_folder_that_is_not_there_is_a_caveat_and_not_a_disk(shells: list[Shell], tmp_path: Path) -> None:
    far = opened(tmp_path, there=f', there: "{tmp_path}/absent"')
    assert (far.folders, far.mounts) == ({}, {})
    (caveat,) = far.caveats()
    assert (caveat.code, caveat.subject) == ("far-folder-unknown", "archive")
    assert caveat.text == (
        f"archive does not lie at {tmp_path}/absent on nas, or not for the user of ssh, "
        "so its disk was not looked at"
    )


def test_a_host_without_ssh_or_places_is_left_alone(shells: list[Shell], tmp_path: Path) -> None:
    far = opened(tmp_path, "hosts: {nas: {}, db: {ssh: admin@nas}, workstation: {}}\n")
    assert (shells, far.facts, far.caveats()) == ([], {}, ())


def test_a_host_that_cannot_be_asked_is_a_caveat(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def refuse(address: str) -> Shell:
        raise PlaceError("nas refused the connection")

    monkeypatch.setattr(far_hosts, "open_shell", refuse)
    far = opened(tmp_path)
    (caveat,) = far.caveats()
    assert (caveat.code, caveat.subject) == ("far-host-unseen", "nas")
    assert caveat.text == "nas could not be asked over ssh: nas refused the connection"
    assert far.shell("nas") is None


def started(far: FarHosts, start: Start) -> tuple[str, str] | None:
    state = asyncio.run(far.begin("archive", start))
    return (state.layer, state.state) if state else None


def test_a_server_s_cache_is_emptied_only_where_that_is_allowed(shells: list[Shell], tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(8192))
    assert started(opened(tmp_path), Start.COLD) is None
    allowed = opened(tmp_path, HOSTS + "allow: [drop-server-cache]\n")
    assert started(allowed, Start.WARM) is None
    found = started(allowed, Start.COLD)
    assert found in (("server_cache", "cold"), ("server_cache", "unknown"))  # in memory if tmp is a tmpfs
    assert [any("nocache" in command for command in shell.commands) for shell in shells] == [False, True]


def test_a_cache_that_could_not_be_emptied_is_unknown(shells: list[Shell], tmp_path: Path) -> None:
    far = opened(tmp_path, HOSTS + "allow: [drop-server-cache]\n")
    state = asyncio.run(far.begin("archive", Start.COLD))
    assert state is not None
    assert state.state == "unknown"
    assert state.evidence.startswith("it could not be emptied over ssh: no file below")
