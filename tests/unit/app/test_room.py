"""What lies where: a place that is said to be on another host, and a folder that is on this one's disk."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pathtrace.app import room
from pathtrace.model.run import Mount
from tests.unit.scenario.example import PLACES, read, text_of

HOSTS = "hosts: {nas: {address: 192.0.2.10}}\n"
HERE = Mount("/", "/dev/vda", "ext4", "vda", False)
SHARE = Mount("/srv/archive", "//nas/archive", "cifs", None, True, server="nas")
TUNNEL = Mount("/srv/archive", "nas:archive", "fuse.sshfs", None, True)


def doubts(monkeypatch: pytest.MonkeyPatch, host: str, mount: Mount | None) -> list[str]:
    monkeypatch.setattr(room, "mount_of", lambda path: mount)
    places = PLACES.replace("path: /srv/archive", f"path: /srv/archive, host: {host}")
    scenario = read(text_of(HOSTS, places))
    found = asyncio.run(room.data_caveats(scenario, frozenset(place.name for place in scenario.places)))
    return [caveat.text for caveat in found if caveat.code == "not-away"]


def test_a_share_that_is_not_mounted_is_not_taken_for_another_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert doubts(monkeypatch, "nas", HERE) == [
        f"archive is said to lie on nas, but {Path('/srv/archive')} is on a disk of this machine (ext4 at /)"
    ]


@pytest.mark.parametrize(
    ("host", "mount"), [("nas", SHARE), ("nas", TUNNEL), ("nas", None), ("workstation", HERE)]
)
def test_what_is_mounted_or_here_or_not_known_gives_no_doubt(
    monkeypatch: pytest.MonkeyPatch, host: str, mount: Mount | None
) -> None:
    assert doubts(monkeypatch, host, mount) == []
