"""What the kernel's own NFS and SMB clients count of a mount: ``mountstats`` and ``cifs/Stats``, parsed.

Other kinds of mount have no such counters. What they mean for a hop is for analysis.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence

from pathtrace.model.run import Mount
from pathtrace.model.sample import Reading
from pathtrace.observers import procfs

Counters = dict[str, float]

_NFS = ("nfs", "nfs4")
_CIFS = ("cifs", "smb2", "smb3", "smbfs")
_DEVICE = re.compile(r"device (.+) mounted on (.+) with fstype (\S+)(?: statvers=\S+)?\s*$")
_OPERATION = re.compile(r"\s*([A-Z_0-9]+): ([\d ]+)$")
_BYTES = ("normal_read", "normal_write", "direct_read", "direct_write", "server_read", "server_write")
_OPERATIONS, _SENT, _QUEUE_MS, _RTT_MS, _EXECUTE_MS = 0, 1, 5, 6, 7
"""Places in an operation's line: how many, transmissions, then milliseconds that add up over all of them."""
_SHARE = re.compile(r"\d+\) (\\\\\S.*?)(?:\s*\t?DISCONNECTED\s*)?$")
_CIFS_COUNTERS = (
    (re.compile(r"Bytes read: (\d+)"), "read_bytes"),
    (re.compile(r"Bytes written: (\d+)"), "write_bytes"),
    (re.compile(r"SMBs: (\d+)"), "server_ops"),
    (re.compile(r"Reads: +(\d+) total"), "server_read_ops"),
    (re.compile(r"Writes: +(\d+) total"), "server_write_ops"),
    (re.compile(r"Creates: +(\d+) total"), "open_ops"),
    (re.compile(r"Reads: +\d+ Bytes: (\d+)"), "read_bytes"),
    (re.compile(r"Writes: +\d+ Bytes: (\d+)"), "write_bytes"),
    (re.compile(r"Reads: +(\d+) Bytes"), "server_read_ops"),
    (re.compile(r"Writes: +(\d+) Bytes"), "server_write_ops"),
)
"""The last four as SMB 1 has them."""


class MountObserver:
    """Observer "mount", subject the place, of what lies on an NFS or SMB mount of the kernel's.

    ``read_bytes`` and ``write_bytes`` (from and to the server), ``server_read_ops``, ``server_write_ops``,
    ``server_ops`` (all kinds). SMB: ``open_ops``. NFS: ``application_read_bytes`` (what programs read, out of
    caches too), ``retransmits``, and sums over all operations: ``queue_s`` (before they were sent), ``rtt_s``
    (from sent to answered), ``execute_s``, and of reads alone ``read_rtt_s``.
    """

    name = "mount"
    period_s = 0.5

    def __init__(self, mounts: Mapping[str, Mount], proc: str = "/proc") -> None:
        """``mounts`` by place; those of other kinds are left out."""
        linux = sys.platform.startswith("linux")
        self._nfs = {place: mount for place, mount in mounts.items() if linux and mount.fstype in _NFS}
        self._cifs = {place: mount for place, mount in mounts.items() if linux and mount.fstype in _CIFS}
        self._mountstats = f"{proc}/self/mountstats"
        self._cifs_stats = f"{proc}/fs/cifs/Stats"

    def observe(self, at_ns: int) -> Sequence[Reading]:
        """Readings of the mounts that the kernel tells of."""
        found: dict[str, Counters | None] = {}
        if self._nfs:
            nfs = parse_mountstats(procfs.read_text(self._mountstats) or "")
            found |= {place: nfs.get(mount.path) for place, mount in self._nfs.items()}
        if self._cifs:
            cifs = parse_cifs_stats(procfs.read_text(self._cifs_stats) or "")
            found |= {place: cifs.get(share_of(mount.device)) for place, mount in self._cifs.items()}
        return [
            Reading(at_ns, "mount", place, metric, value)
            for place, counters in found.items()
            for metric, value in (counters or {}).items()
        ]


def parse_mountstats(text: str) -> dict[str, Counters]:
    """Counters by mount point, of the NFS mounts in ``/proc/self/mountstats``."""
    found: dict[str, Counters] = {}
    counters: Counters | None = None
    for line in text.splitlines():
        if device := _DEVICE.match(line):
            counters = found.setdefault(_unescaped(device[2]), {}) if device[3] in _NFS else None
        elif counters is not None and line.lstrip().startswith("bytes:"):
            counters.update(_bytes(line.split()[1:]))
        elif counters is not None and (operation := _OPERATION.fullmatch(line.rstrip())):
            _add(counters, operation[1], [int(field) for field in operation[2].split()])
    return {path: counters for path, counters in found.items() if counters}


def _bytes(fields: Sequence[str]) -> Counters:
    counted = dict(zip(_BYTES, (float(field) for field in fields if field.isdigit()), strict=False))
    if len(counted) < len(_BYTES):
        return {}
    return {
        "read_bytes": counted["server_read"],
        "write_bytes": counted["server_write"],
        "application_read_bytes": counted["normal_read"] + counted["direct_read"],
    }


def _add(counters: Counters, operation: str, fields: Sequence[int]) -> None:
    if len(fields) <= _EXECUTE_MS:
        return
    rtt_s = fields[_RTT_MS] / 1000
    if operation in ("READ", "WRITE"):
        counters[f"server_{operation.lower()}_ops"] = float(fields[_OPERATIONS])
        counters[f"{operation.lower()}_rtt_s"] = rtt_s
    sums = {
        "server_ops": float(fields[_OPERATIONS]),
        "retransmits": float(fields[_SENT] - fields[_OPERATIONS]),
        "queue_s": fields[_QUEUE_MS] / 1000,
        "rtt_s": rtt_s,
        "execute_s": fields[_EXECUTE_MS] / 1000,
    }
    for metric, value in sums.items():
        counters[metric] = counters.get(metric, 0.0) + value


def parse_cifs_stats(text: str) -> dict[str, Counters]:
    """Counters by share as ``share_of`` writes it, of ``/proc/fs/cifs/Stats``; SMB 1 and later."""
    found: dict[str, Counters] = {}
    counters: Counters | None = None
    for line in text.splitlines():
        if share := _SHARE.match(line):
            counters = found.setdefault(share_of(share[1]), {})
        elif counters is not None:
            for pattern, metric in _CIFS_COUNTERS:
                if count := pattern.search(line):
                    counters[metric] = counters.get(metric, 0.0) + float(count[1])
    return found


def share_of(device: str) -> str:
    """``//nas/media`` of a device or a UNC name, without folders below the share; case does not matter."""
    parts = device.replace("\\", "/").strip("/").split("/")
    return "//" + "/".join(parts[:2]).lower()


def _unescaped(path: str) -> str:
    """Blanks and the like are octal, as in the mount table."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), path)
