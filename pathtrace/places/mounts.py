"""Where a path lies: the mount table read for one path. Knows Linux's mountinfo and nothing of places.

What a mount is worth (its speed, its server's cache) is left to others.
"""

from __future__ import annotations

import os
import posixpath
from dataclasses import replace

from pathtrace.model.mount_table import MountLine, covering, described, is_network, layers, parse_mountinfo
from pathtrace.model.run import Mount

_MOUNTINFO = "/proc/self/mountinfo"
_BLOCK_DEVICES = "/sys/dev/block"


def mount_of(path: str | os.PathLike[str]) -> Mount | None:
    """The mount that ``path`` (or its nearest existing parent) lies on; None where it cannot be known."""
    try:
        with open(_MOUNTINFO, "rb") as table:
            lines = parse_mountinfo(table.read())
    except OSError:
        return None
    return mount_in(lines, os.path.realpath(path))


def mount_in(lines: tuple[MountLine, ...], path: str) -> Mount | None:
    """The mount of an absolute path; an overlay's disk and network are those of what lies below it."""
    found = covering(lines, path)
    if found is None:
        return None
    below, folder = below_of(lines, found)
    mount = described(found, _disk(below))
    if below is found:
        return mount
    under = described(below, None)
    there = under.there and posixpath.normpath(posixpath.join(under.there, folder))
    return replace(mount, network=under.network, server=under.server, there=there)


def below_of(lines: tuple[MountLine, ...], line: MountLine) -> tuple[MountLine, str]:
    """What holds the data of an overlay, and the layer's folder on it: the first layer that lies on a
    network, else the first.

    The line itself if it is no overlay, or if its layers are out of sight, as in a container.
    """
    found = [(covering(lines, folder), folder) for folder in layers(line)]
    seen = [
        (each, posixpath.relpath(folder, each.path))
        for each, folder in found
        if each and each.fstype != line.fstype
    ]
    far = [pair for pair in seen if is_network(pair[0].fstype, pair[0].device)]
    return next(iter((*far, *seen)), (line, "."))


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
