"""What else went on at this host during a run: two looks at all processes, at begin and end.

Names only, never command lines: those hold secrets. What an amount of other activity means for
the figures is for analysis to say.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import psutil

from pathtrace.model.run import Activity
from pathtrace.model.work import Clock
from pathtrace.observers.cpu import busy_s
from pathtrace.units import NANOSECONDS_PER_SECOND

_WORTH_NAMING = 0.05
"""Of a core, over the whole run."""
_NAMED_AT_MOST = 5
_STACKED = ("loop", "dm-", "md", "ram", "zram", "sr", "fd")
"""Devices on top of others, whose bytes would be counted twice, or in memory."""


class _Process(NamedTuple):
    name: str
    cpu_s: float
    disk_bytes: int


class _Look(NamedTuple):
    at_ns: int
    busy_s: float
    disk_bytes: int | None
    network_bytes: int | None
    processes: dict[tuple[int, float], _Process]
    """By number and time of birth, since numbers are used again."""
    ours: frozenset[tuple[int, float]]
    ended_cpu_s: float


SHORTEST_NS = 100_000_000
"""The kernel counts a process's time in ticks of 10 ms: over less than ten of them it tells nothing."""


class ActivityWatch:
    """Call ``begin`` before the timed part and ``end`` after it, both outside it (tens of milliseconds).

    ``servers`` are the processes that the scenario itself uses, also those that serve its mounts; they,
    pathtrace and its children are not "other". Disk bytes leave ours out as far as the kernel tells; network
    bytes are the whole host's without loopback, since bytes on a wire bear no owner's name.
    """

    def __init__(self, host: str, servers: Iterable[int], clock: Clock) -> None:
        self._host = host
        self._servers = frozenset(servers)
        self._clock = clock
        self._first: _Look | None = None

    def begin(self) -> None:
        """Take the first look."""
        self._first = self._look()

    def end(self) -> Activity:
        """Take the second look and return the difference; nothing known without a ``begin``,
        or right after it."""
        first, last = self._first, self._look()
        if first is None or last.at_ns - first.at_ns < SHORTEST_NS:
            return Activity(self._host, None, None, None, ())
        return _between(self._host, first, last)

    def _look(self) -> _Look:
        processes = _all_processes()
        disks = psutil.disk_io_counters(perdisk=True) or {}
        networks = psutil.net_io_counters(pernic=True)
        times = os.times()
        cores = psutil.cpu_times()
        return _Look(
            at_ns=self._clock(),
            busy_s=_worked_s(cores),
            disk_bytes=_whole_disks(disks),
            network_bytes=sum(n.bytes_recv + n.bytes_sent for k, n in networks.items() if k[:2] != "lo"),
            processes=processes,
            ours=_family({os.getpid(), *self._servers}, processes),
            ended_cpu_s=times.children_user + times.children_system,
        )


def _worked_s(cores: Any) -> float:
    """Seconds in which somebody worked: also another machine on ours; interrupts bear no owner's name, and
    most serve the very bytes that are measured."""
    interrupts = getattr(cores, "irq", 0.0) + getattr(cores, "softirq", 0.0)
    return busy_s(cores) - interrupts + getattr(cores, "steal", 0.0)


def _all_processes() -> dict[tuple[int, float], _Process]:
    processes = {}
    for process in psutil.process_iter():
        try:
            with process.oneshot():
                times = process.cpu_times()
                key = (process.pid, process.create_time())
                processes[key] = _Process(process.name(), times.user + times.system, _disk_bytes(process))
        except psutil.Error:
            continue  # ended while we looked, or not ours to see
    return processes


def _disk_bytes(process: psutil.Process) -> int:
    try:
        counters = process.io_counters()
    except (psutil.Error, AttributeError, OSError):  # macOS has none; others only for their owner
        return 0
    return int(counters.read_bytes + counters.write_bytes)


def _family(roots: set[int], processes: dict[tuple[int, float], _Process]) -> frozenset[tuple[int, float]]:
    members = set(roots)
    for root in roots:
        try:
            members.update(child.pid for child in psutil.Process(root).children(recursive=True))
        except psutil.Error:
            continue
    return frozenset(key for key in processes if key[0] in members)


def _whole_disks(disks: Mapping[str, object]) -> int | None:
    """Bytes of all devices that are not partitions of, or stacked upon, others."""
    names = [name for name in disks if not name.startswith(_STACKED)]
    whole = [name for name in names if not any(_is_partition(name, other) for other in names)]
    counters = [disks[name] for name in whole]
    if not counters:
        return None
    return sum(getattr(c, "read_bytes", 0) + getattr(c, "write_bytes", 0) for c in counters)


def _is_partition(name: str, whole: str) -> bool:
    """sda1 of sda and nvme0n1p2 of nvme0n1; sdaa is a disk of its own."""
    return name.startswith(whole) and re.fullmatch(r"p?\d+", name[len(whole) :]) is not None


def _between(host: str, first: _Look, last: _Look) -> Activity:
    wall_s = (last.at_ns - first.at_ns) / NANOSECONDS_PER_SECOND
    ours = first.ours | last.ours
    used = {key: _since(first.processes.get(key), now) for key, now in last.processes.items()}
    our_cpu_s = sum(used[key].cpu_s for key in ours if key in used) + last.ended_cpu_s - first.ended_cpu_s
    other_cpu_s = max(0.0, last.busy_s - first.busy_s - our_cpu_s)
    our_disk = sum(used[key].disk_bytes for key in ours if key in used)
    others = [(key[0], process) for key, process in used.items() if key not in ours]
    return Activity(
        host=host,
        cpu_percent=100 * other_cpu_s / wall_s / (psutil.cpu_count() or 1),
        disk_bytes_per_s=_rate(first.disk_bytes, last.disk_bytes, our_disk, wall_s),
        network_bytes_per_s=_rate(first.network_bytes, last.network_bytes, 0, wall_s),
        notable=_notable(others, wall_s),
    )


def _since(before: _Process | None, now: _Process) -> _Process:
    if before is None:  # born during the run: all that it used falls into it
        return now
    return _Process(now.name, now.cpu_s - before.cpu_s, now.disk_bytes - before.disk_bytes)


def _rate(first: int | None, last: int | None, ours: int, wall_s: float) -> float | None:
    return None if first is None or last is None else max(0, last - first - ours) / wall_s


def _notable(others: list[tuple[int, _Process]], wall_s: float) -> tuple[str, ...]:
    shares = sorted(((p.cpu_s / wall_s, p.name, pid) for pid, p in others), reverse=True)
    return tuple(
        f"{name} (pid {pid}): {round(100 * share)} % of a core"
        for share, name, pid in shares[:_NAMED_AT_MOST]
        if share >= _WORTH_NAMING
    )
