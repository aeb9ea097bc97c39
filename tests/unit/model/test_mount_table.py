from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.model.mount_table import MountLine, covering, described, far_end, parse_mountinfo
from pathtrace.model.run import Mount

TABLE = rb"""22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw,discard
40 27 0:44 / /mnt/my\040share rw,relatime shared:5 master:1 - nfs4 nas.lan:/pool\134x rw,vers=4.2
41 27 0:45 / /mnt/my\040share rw,relatime - cifs //nas/later rw,password=hunter2,username=me
nonsense
42 27
"""


def test_lines_are_read_with_escapes_undone_and_nonsense_and_secrets_left_out() -> None:
    assert parse_mountinfo(TABLE) == (
        MountLine("0:21", "/proc", "proc", "proc", ("rw", "relatime")),
        MountLine("254:1", "/", "ext4", "/dev/vda1", ("rw", "relatime", "discard")),
        MountLine("0:44", "/mnt/my share", "nfs4", "nas.lan:/pool\\x", ("rw", "relatime", "vers=4.2")),
        MountLine("0:45", "/mnt/my share", "cifs", "//nas/later", ("rw", "relatime", "username=me")),
    )


def test_the_longest_mount_point_covers_a_path_and_the_later_hides_the_earlier() -> None:
    lines = parse_mountinfo(TABLE)
    assert covering(lines, "/mnt/my share/docs") == lines[3]
    assert covering(lines, "/mnt/my shared") == lines[1]
    assert covering(lines, "/mnt/my share") == lines[3]


@given(st.binary(max_size=400))
def test_any_table_is_survived(table: bytes) -> None:
    parse_mountinfo(table)


@pytest.mark.parametrize(
    ("fstype", "device", "options", "expected"),
    [
        ("cifs", "//nas/media/2024", (), ("nas", "media/2024")),
        ("cifs", "\\\\nas\\media", ("addr=10.0.0.5",), ("nas", "media")),
        ("nfs4", "nas.lan:/export", (), ("nas.lan", "/export")),
        ("nfs", "[fe80::1]:/export", (), ("fe80::1", "/export")),
        ("fuse.sshfs", "me@nas:/data", (), ("nas", "/data")),
        ("fuse.sshfs", "me@[::1]:/data", (), ("::1", "/data")),
        ("fuse.sshfs", "nas:", (), ("nas", ".")),
        ("fuse.sshfs", "nas:docs", (), ("nas", "docs")),
        ("fuse.rclone", "drive:photos", (), (None, "photos")),
        ("9p", "10.0.0.5", ("trans=tcp", "aname=/srv"), ("10.0.0.5", "/srv")),
        ("9p", "tag", ("trans=virtio",), (None, None)),
        ("virtiofs", "tag", (), (None, None)),
        ("fuse.davfs2", "https://cloud.lan/dav", (), ("cloud.lan", "/dav")),
        ("ext4", "/dev/vda1", (), (None, None)),
        ("tmpfs", "tmpfs", (), (None, None)),
    ],
)
def test_a_mount_names_its_server_and_what_it_has_there(
    fstype: str, device: str, options: tuple[str, ...], expected: tuple[str | None, str | None]
) -> None:
    assert far_end(MountLine("0:1", "/mnt", fstype, device, options)) == expected


def test_no_password_of_a_device_is_kept() -> None:
    line = MountLine("0:1", "/mnt", "fuse.davfs2", "https://me:hunter2@cloud.lan/dav", ("rw",))
    expected = ("/mnt", "https://me@cloud.lan/dav", "fuse.davfs2", None, True, "cloud.lan", "/dav", ("rw",))
    assert described(line, None) == Mount(*expected)
