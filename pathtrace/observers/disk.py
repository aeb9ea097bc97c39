"""Block devices: bytes, operations and busy time of each, by the kernel's own counters.

On Linux ``/proc/diskstats`` is read directly, since psutil leaves out loop devices that it takes
for virtual. Which place lies on which device is not known here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import psutil

from pathtrace.model.sample import Reading
from pathtrace.observers import procfs

_SECTOR_BYTES = 512
"""The unit of ``/proc/diskstats``, whatever the device's own sector size."""
_LOOKS_BETWEEN_SEARCHES = 10


class DiskObserver:
    """Observer "disk", subject the kernel's name (vda, loop0).

    ``read_bytes``, ``write_bytes``, ``read_count``, ``write_count``, and ``busy_s`` where known.
    """

    name = "disk"
    period_s = 0.1

    def __init__(self, proc: str = "/proc", sys_block: str = "/sys/class/block") -> None:
        self._stats = f"{proc}/diskstats"
        self._sys_block = sys_block
        self._in_use: set[bytes] = set()
        self._looks = 0
        self._linux = sys.platform.startswith("linux")

    def observe(self, at_ns: int) -> Sequence[Reading]:
        """One reading per device and counter; devices that are not in use are left out."""
        return self._from_diskstats(at_ns) if self._linux else _from_psutil(at_ns)

    def _from_diskstats(self, at_ns: int) -> list[Reading]:
        search = self._looks % _LOOKS_BETWEEN_SEARCHES == 0
        self._looks += 1
        readings: list[Reading] = []
        for line in (procfs.read_bytes(self._stats) or b"").splitlines():
            fields = line.split()
            if len(fields) < 13:
                continue
            if fields[3] != b"0" or fields[7] != b"0" or self._is_in_use(fields[2], search):
                readings += _of_line(at_ns, fields)
        return readings

    def _is_in_use(self, name: bytes, search: bool) -> bool:
        """True for a device with a medium: its zeros are the start of a counter, so they count."""
        if name not in self._in_use and search:
            size = procfs.read_bytes(f"{self._sys_block}/{name.decode()}/size")
            if size is not None and size.strip() != b"0":
                self._in_use.add(name)
        return name in self._in_use


def _of_line(at_ns: int, fields: list[bytes]) -> tuple[Reading, ...]:
    name = fields[2].decode()
    return (
        Reading(at_ns, "disk", name, "read_bytes", float(int(fields[5]) * _SECTOR_BYTES)),
        Reading(at_ns, "disk", name, "write_bytes", float(int(fields[9]) * _SECTOR_BYTES)),
        Reading(at_ns, "disk", name, "read_count", float(fields[3])),
        Reading(at_ns, "disk", name, "write_count", float(fields[7])),
        Reading(at_ns, "disk", name, "busy_s", int(fields[12]) / 1000),
    )


def _from_psutil(at_ns: int) -> list[Reading]:
    readings: list[Reading] = []
    for name, counters in (psutil.disk_io_counters(perdisk=True) or {}).items():
        metrics = ("read_bytes", "write_bytes", "read_count", "write_count")
        readings += (Reading(at_ns, "disk", name, m, float(getattr(counters, m))) for m in metrics)
        busy_ms = getattr(counters, "busy_time", None)  # FreeBSD has it; macOS and Windows do not
        if busy_ms is not None:
            readings.append(Reading(at_ns, "disk", name, "busy_s", busy_ms / 1000))
    return readings
