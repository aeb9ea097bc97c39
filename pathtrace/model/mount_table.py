"""Linux's mount table as text: which mount covers a path, and what a mount says of the host behind it.

Pure, so that the table of another host can be read too. Finding disks and files is left to others.
"""

from __future__ import annotations

import os
import posixpath
import re
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urlsplit

from pathtrace.model.run import Mount

NETWORK_TYPES = frozenset(
    (
        *("nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "afpfs", "webdav", "davfs", "ceph", "glusterfs"),
        *("lustre", "beegfs", "afs", "9p", "virtiofs", "fuse.sshfs", "fuse.smbnetfs", "fuse.davfs2"),
        *("fuse.ceph", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.mount-s3"),
    )
)
"""File systems whose data come from another machine, or from another one's memory."""

_SHARES = ("cifs", "smb2", "smb3", "smbfs")
_ESCAPE = re.compile(rb"\\([0-7]{3})")
_SECRET = re.compile(r"pass|secret|cred|token|key", re.IGNORECASE)
_HOST_PATH = re.compile(r"(?:[^@/]*@)?(\[[^\]]+\]|[^:/\[\]]+):(.*)", re.DOTALL)
"""``host:/export``, ``user@host:folder``, ``[fe80::1]:/export``."""
_LAYERS = ("upperdir", "lowerdir", "lowerdir+")


class MountLine(NamedTuple):
    """One line of the mount table; ``number`` is the device as ``major:minor``."""

    number: str
    path: str
    fstype: str
    device: str
    options: tuple[str, ...] = ()
    """Secrets left out."""


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


def described(line: MountLine, disk: str | None) -> Mount:
    """The mount of a line, with its server as far as device and options name one."""
    server, there = far_end(line)
    device = _without_password(line.device)
    network = is_network(line.fstype, line.device)
    return Mount(line.path, device, line.fstype, disk, network, server, there, line.options)


def placed(lines: tuple[MountLine, ...], line: MountLine, disk: str | None) -> Mount:
    """The mount of a line of the table; an overlay has the network and server of what lies below it."""
    mount = described(line, disk)
    below, folder = below_of(lines, line)
    if below is line:
        return mount
    under = described(below, disk)
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


def is_network(fstype: str, device: str) -> bool:
    """True if the data come from another machine: by type, or by a device written ``host:…``."""
    return fstype in NETWORK_TYPES or (not device.startswith("/") and ":" in device)


def far_end(line: MountLine) -> tuple[str | None, str | None]:
    """Server, and share or folder there; None for what the mount table does not say.

    A share's folder is ``share/below``; a folder that sshfs took from the login is ``.``.
    """
    device = line.device
    if line.fstype in _SHARES:
        host, _, share = device.replace("\\", "/").lstrip("/").partition("/")
        return host or None, share or None
    if line.fstype == "9p":
        transport = _option(line, "trans")
        return (device if transport == "tcp" else None), _option(line, "aname")
    if not is_network(line.fstype, device) or line.fstype == "virtiofs":
        return None, None
    if "://" in device:
        url = urlsplit(device)
        return url.hostname, url.path or "/"
    found = _HOST_PATH.fullmatch(device)
    if found is None:
        return None, None
    server = None if line.fstype == "fuse.rclone" else found[1].strip("[]")  # a remote's name is no host's
    return server, found[2] or ("." if line.fstype == "fuse.sshfs" else "/")


def layers(line: MountLine) -> tuple[str, ...]:
    """The folders that an overlay is made of, the writable one first; empty for everything else."""
    if line.fstype not in ("overlay", "fuse.fuse-overlayfs"):
        return ()
    found = [(key, value) for key, _, value in (o.partition("=") for o in line.options) if key in _LAYERS]
    found.sort(key=lambda pair: _LAYERS.index(pair[0]))
    return tuple(folder.replace("\\:", ":") for _, value in found for folder in _split(value))


def _split(folders: str) -> list[str]:
    """At colons; ``::`` parts data-only layers, and ``\\:`` is a colon of a name."""
    return [folder for folder in re.split(r"(?<!\\):", folders) if folder.startswith("/")]


def _line(line: bytes) -> MountLine | None:
    fields, separator, after = line.partition(b" - ")
    before, behind = fields.split(b" "), after.split(b" ")
    if not separator or len(before) < 5 or len(behind) < 2:
        return None
    options = _options(_text(b",".join((*before[5:6], *behind[2:3]))))
    return MountLine(_text(before[2]), _text(before[4]), _text(behind[0]), _text(behind[1]), options)


def _options(text: str) -> tuple[str, ...]:
    """Of the mount, then of the file system, each once."""
    options = dict.fromkeys(option for option in re.split(r"(?<!\\),", text) if option)
    return tuple(option for option in options if not _SECRET.search(option.partition("=")[0]))


def _option(line: MountLine, key: str) -> str | None:
    values = (value for name, _, value in (o.partition("=") for o in line.options) if name == key)
    return next(values, None)


def _without_password(device: str) -> str:
    return re.sub(r"(?<=://)([^/@:]*):[^/@]*@", r"\1@", device)


def _text(field: bytes) -> str:
    return os.fsdecode(_ESCAPE.sub(lambda match: bytes([int(match[1], 8) & 0xFF]), field))
