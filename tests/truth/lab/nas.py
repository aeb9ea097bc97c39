"""A NAS of the lab: one disk, served by Samba as the share ``documents`` and by sshd under its path.

    with nas(net.nas, lambda folder: large_files(folder, sizes=[500_000_000], seed=1),
             held=Held(bytes_per_s=60e6)) as box:
        box.samba.url("documents", "large0.bin")     # smb://lab@10.…/documents/large0.bin
        box.samba.password, box.samba.credentials    # for the environment; for smbclient -A
        box.ssh.configuration, box.ssh.url(box.folder / "large0.bin")
        box.disk.cool()                              # the server forgets what it has read
        with cpu_quota(box.samba.pid, cores=0.3): …

The disk was filled before its limit counts and is cold; a fast one lies in memory and is always warm.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import disks, samba, ssh
from .disks import Disk, fast_disk, held_disk
from .documents import Content
from .hosts import Host
from .samba import Demand, Samba, Share, smbd
from .ssh import Ssh, sshd

SHARE = "documents"


@dataclass(frozen=True)
class Held:
    """What a disk is held to; ``inf`` is no limit."""

    bytes_per_s: float = float("inf")
    iops: float = float("inf")
    fsync_s: float = 0.0


@dataclass(frozen=True)
class Nas:
    host: Host
    disk: Disk
    samba: Samba
    ssh: Ssh

    @property
    def folder(self) -> Path:
        """Where the share lies on the NAS itself: the path that sftp and sshfs name."""
        return self.disk.folder


def why_not(held: Held | None = None) -> str | None:
    """Why no NAS can be had here, or None."""
    return samba.why_not() or ssh.why_not() or (disks.why_not() if held else None)


@contextlib.contextmanager
def nas(
    host: Host,
    content: Content | None = None,
    *,
    held: Held | None = None,
    signing: Demand = "off",
    encryption: Demand = "off",
    smb_port: int = 445,
    ssh_port: int = 22,
) -> Iterator[Nas]:
    """Serve ``content``, writable, from a disk that is ``held`` to something, or from memory."""
    with contextlib.ExitStack() as stack:
        disk = stack.enter_context(
            fast_disk(content)
            if held is None
            else held_disk(content, bytes_per_s=held.bytes_per_s, iops=held.iops, fsync_s=held.fsync_s)
        )
        shares = {SHARE: Share(disk.folder, "write")}
        server = stack.enter_context(
            smbd(host, shares, port=smb_port, signing=signing, encryption=encryption)
        )
        yield Nas(host, disk, server, stack.enter_context(sshd(host, port=ssh_port)))
