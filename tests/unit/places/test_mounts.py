from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.model.run import Mount
from pathtrace.places.mounts import MountLine, covering, database_warning, mount_of, parse_mountinfo

TABLE = rb"""22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw,discard
40 27 0:44 / /mnt/my\040share rw,relatime shared:5 master:1 - nfs4 nas.lan:/pool\134x rw,vers=4.2
41 27 0:45 / /mnt/my\040share rw,relatime - cifs //nas/later rw
nonsense
42 27
"""


def test_lines_are_read_with_escapes_undone_and_nonsense_left_out() -> None:
    assert parse_mountinfo(TABLE) == (
        MountLine("0:21", "/proc", "proc", "proc"),
        MountLine("254:1", "/", "ext4", "/dev/vda1"),
        MountLine("0:44", "/mnt/my share", "nfs4", "nas.lan:/pool\\x"),
        MountLine("0:45", "/mnt/my share", "cifs", "//nas/later"),
    )


def test_the_longest_mount_point_covers_a_path_and_the_later_hides_the_earlier() -> None:
    lines = parse_mountinfo(TABLE)
    assert covering(lines, "/mnt/my share/docs") == lines[3]
    assert covering(lines, "/mnt/my shared") == lines[1]
    assert covering(lines, "/mnt/my share") == lines[3]


@given(st.binary(max_size=400))
def test_any_table_is_survived(table: bytes) -> None:
    parse_mountinfo(table)


def test_this_path_has_a_mount_that_lies_above_it(tmp_path: Path) -> None:
    mount = mount_of(tmp_path / "not" / "there")
    assert mount is not None
    assert str(tmp_path.resolve()).startswith(mount.path)
    assert not mount.network


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
