"""Where a path lies: the mount table read for one path. Knows Linux's mountinfo and nothing of places.

What a mount is worth (its speed, its server's cache) is left to others.
"""

from __future__ import annotations

import os

from pathtrace.model.mount_table import MountLine, below_of, covering, parse_mountinfo, placed
from pathtrace.model.run import Mount

_MOUNTINFO = "/proc/self/mountinfo"
_BLOCK_DEVICES = "/sys/dev/block"
_MOST_STEPS = 1000
"""Of a path with its links: one that leads round in a circle ends."""


def mount_of(path: str | os.PathLike[str]) -> Mount | None:
    """The mount that ``path`` (or its nearest existing parent) lies on; None where it cannot be known."""
    try:
        with open(_MOUNTINFO, "rb") as table:
            lines = parse_mountinfo(table.read())
    except OSError:
        return None
    return mount_in(lines, _resolved(lines, os.path.abspath(path)))


def _resolved(lines: tuple[MountLine, ...], path: str) -> str:
    """Links are followed as far as this host's own disks go: a mount whose server is gone would hang."""
    head, rest = "/", path.split("/")[1:]
    for _ in range(_MOST_STEPS):
        if not rest:
            break
        head = os.path.join(head, rest.pop(0))
        line = covering(lines, head)
        if line is not None and placed(lines, line, None).network:
            return os.path.join(head, *rest)
        try:
            target = os.path.normpath(os.path.join(os.path.dirname(head), os.readlink(head)))
        except OSError:
            continue
        head, rest = "/", [*target.split("/")[1:], *rest]
    return os.path.join(head, *rest)


def mount_in(lines: tuple[MountLine, ...], path: str) -> Mount | None:
    """The mount of an absolute path; an overlay's disk and network are those of what lies below it."""
    found = covering(lines, path)
    if found is None:
        return None
    below, _ = below_of(lines, found)
    return placed(lines, found, _disk(below))


def database_warning(mount: Mount | None) -> str | None:
    """What is to be said of a database whose files lie there; None if they lie on this host."""
    if mount is None or not mount.network:
        return None
    return (
        f"the database's files lie on a network mount ({mount.fstype} at {mount.path}): "
        "each commit crosses the network, and a lost mount can damage it"
    )


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
