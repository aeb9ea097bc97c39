"""Where a path lies: the mount table read for one path. Knows Linux's mountinfo and nothing of places.

What a mount is worth (its speed, its server's cache) is left to others.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from pathtrace.model.run import Mount

NETWORK_TYPES = frozenset(
    (
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.smbnetfs", "fuse.sshfs", "davfs", "fuse.davfs2"),
        *("9p", "virtiofs", "ceph", "fuse.ceph", "glusterfs", "fuse.glusterfs", "lustre", "beegfs", "afs"),
        *("fuse.rclone", "fuse.s3fs", "fuse.mount-s3"),
    )
)
"""File systems whose data come from another machine, or from another one's memory."""

_MOUNTINFO = "/proc/self/mountinfo"
_BLOCK_DEVICES = "/sys/dev/block"
_ESCAPE = re.compile(rb"\\([0-7]{3})")


class MountLine(NamedTuple):
    """One line of the mount table; ``number`` is the device as ``major:minor``."""

    number: str
    path: str
    fstype: str
    device: str


def mount_of(path: str | os.PathLike[str]) -> Mount | None:
    """The mount that ``path`` (or its nearest existing parent) lies on; None where it cannot be known."""
    try:
        with open(_MOUNTINFO, "rb") as table:
            lines = parse_mountinfo(table.read())
    except OSError:
        return None
    found = covering(lines, os.path.realpath(path))
    if found is None:
        return None
    return Mount(found.path, found.device, found.fstype, _disk(found), found.fstype in NETWORK_TYPES)


def database_warning(mount: Mount | None) -> str | None:
    """What is to be said of a database whose files lie there; None if they lie on this host."""
    if mount is None or not mount.network:
        return None
    return (
        f"the database's files lie on a network mount ({mount.fstype} at {mount.path}): "
        "each commit crosses the network, and a lost mount can damage it"
    )


def parse_mountinfo(table: bytes) -> tuple[MountLine, ...]:
    """The lines of a mountinfo file, octal escapes undone; lines that make no sense are left out."""
    return tuple(line for line in map(_line, table.splitlines()) if line is not None)


def covering(lines: tuple[MountLine, ...], path: str) -> MountLine | None:
    """The line with the longest mount point above ``path``; of equals the later, which hides the earlier."""
    best = None
    for line in lines:
        above = line.path.rstrip("/") + "/"
        if (path + "/").startswith(above) and (best is None or len(line.path) >= len(best.path)):
            best = line
    return best


def _line(line: bytes) -> MountLine | None:
    fields, separator, after = line.partition(b" - ")
    before, behind = fields.split(b" "), after.split(b" ")
    if not separator or len(before) < 5 or len(behind) < 2:
        return None
    return MountLine(_text(before[2]), _text(before[4]), _text(behind[0]), _text(behind[1]))


def _text(field: bytes) -> str:
    return os.fsdecode(_ESCAPE.sub(lambda match: bytes([int(match[1], 8) & 0xFF]), field))


def _disk(line: MountLine) -> str | None:
    """The block device's kernel name, as in /proc/diskstats (a partition has its own)."""
    number = line.number
    if number.startswith("0:"):  # btrfs and the like number their mounts themselves
        number = _device_number(line.device)
    try:
        return os.path.basename(os.readlink(f"{_BLOCK_DEVICES}/{number}"))
    except OSError:
        return None


def _device_number(device: str) -> str:
    try:
        number = os.stat(device).st_rdev if device.startswith("/dev/") else 0
    except OSError:
        return "0:0"
    return f"{os.major(number)}:{os.minor(number)}"
