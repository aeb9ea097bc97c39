from __future__ import annotations

import os
from pathlib import Path

import pytest

from pathtrace.model.mount_table import parse_mountinfo
from pathtrace.model.run import Mount
from pathtrace.places import mounts
from pathtrace.places.mounts import database_warning, mount_in, mount_of

OVERLAYS = parse_mountinfo(
    rb"""27 1 0:9 / / rw - ext4 /dev/vda1 rw
40 27 0:44 / /mnt/nas rw - nfs4 nas:/pool rw,addr=10.0.0.5
50 27 0:60 / /merged rw - overlay overlay rw,lowerdir=/opt/base:/mnt/nas/photos,upperdir=/up,workdir=/work
51 27 0:61 / /here rw - overlay overlay rw,lowerdir=/opt/base
52 27 0:62 / /inside rw - overlay overlay rw,lowerdir=/inside/out/of/sight
"""
)


def test_this_path_has_a_mount_that_lies_above_it(tmp_path: Path) -> None:
    mount = mount_of(tmp_path / "not" / "there")
    assert mount is not None
    assert str(tmp_path.resolve()).startswith(mount.path)
    assert not mount.network


def test_an_overlay_with_a_layer_on_a_share_is_on_that_share() -> None:
    mount = mount_in(OVERLAYS, "/merged/2024/a.jpg")
    assert mount is not None
    assert (mount.path, mount.fstype, mount.network) == ("/merged", "overlay", True)
    assert (mount.server, mount.there, mount.disk) == ("nas", "/pool/photos", None)


@pytest.mark.parametrize("path", ["/here", "/inside"])
def test_an_overlay_of_this_hosts_folders_is_no_network_mount(path: str) -> None:
    mount = mount_in(OVERLAYS, path)
    assert mount is not None
    assert (mount.path, mount.network, mount.server, mount.there) == (path, False, None, None)


def test_an_overlay_has_the_disk_of_what_lies_below_it(tmp_path: Path) -> None:
    disk = mount_of("/")
    with open("/proc/self/mountinfo", "rb") as table:
        text = table.read()
    lines = parse_mountinfo(text + b"99 1 0:99 / /over rw - overlay overlay rw,lowerdir=/opt\n")
    mount = mount_in(lines, "/over/x")
    assert disk is not None
    assert mount is not None
    assert mount.disk == disk.disk


@pytest.mark.parametrize("fstype", ["nfs4", "cifs", "fuse.sshfs"])
def test_a_database_on_a_network_mount_is_warned_of(fstype: str) -> None:
    warning = database_warning(Mount("/mnt/nas", "nas:/lab", fstype, None, True))
    assert warning == (
        f"the database's files lie on a network mount ({fstype} at /mnt/nas): "
        "each commit crosses the network, and a lost mount can damage it"
    )


def test_a_database_on_this_hosts_disk_is_not() -> None:
    assert database_warning(Mount("/data", "/dev/sdb", "ext4", "sdb", False)) is None
    assert database_warning(None) is None


def test_links_are_followed_to_a_far_mount_and_no_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "share" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "share")
    (tmp_path / "round").symlink_to(tmp_path / "round")
    table = f"27 1 0:9 / / rw - ext4 /dev/vda1 rw\n40 27 0:44 / {tmp_path}/share rw - nfs4 nas:/pool rw\n"
    (tmp_path / "mountinfo").write_text(table)
    monkeypatch.setattr(mounts, "_MOUNTINFO", str(tmp_path / "mountinfo"))
    asked: list[str] = []
    readlink = os.readlink

    def read(path: str) -> str:
        asked.append(path)
        return readlink(path)

    monkeypatch.setattr(os, "readlink", read)
    found = [mount_of(tmp_path / path) for path in ("link/deep/a", "link", "share", "round/a", "elsewhere")]
    assert [mount.device if mount else None for mount in found] == [
        "nas:/pool",
        "nas:/pool",
        "nas:/pool",
        "/dev/vda1",
        "/dev/vda1",
    ]
    assert [path for path in asked if path.startswith(f"{tmp_path}/share")] == []
