"""The processes of this host that serve a FUSE mount: sshfs and its ssh, rclone, and what they started.

They are found by what their command lines name and by what they hold open; command lines hold secrets, so
nothing of them is kept. Whether a full thread is the limit is for analysis.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence

from pathtrace.model.run import Mount
from pathtrace.model.sample import Reading
from pathtrace.observers import procfs
from pathtrace.observers.process import descendants
from pathtrace.units import NANOSECONDS_PER_SECOND, seconds

_SEARCH_NS = 5 * NANOSECONDS_PER_SECOND
_LIST_NS = NANOSECONDS_PER_SECOND
_MOST_THREADS = 64
_FUSE = "/dev/fuse"
_BORN = 19
"""Of the fields of ``/proc/PID/stat`` from the state on: when it started, in ticks since boot."""


class HelperObserver:
    """Observer "helper", subject ``PLACE/comm[pid]``: counters of each process that serves a place's mount.

    ``cpu_s``, and over its threads ``run_delay_s`` and ``thread_cpu_s``: at each look the thread that worked
    most since the look before, added up, so that work which wanders from thread to thread counts as one's.
    """

    name = "helper"
    period_s = 0.1

    def __init__(self, mounts: Mapping[str, Mount], proc: str = "/proc") -> None:
        """``mounts`` by place; those that are no FUSE mounts are left out. Looks at every process once."""
        self._proc = proc
        served = {place: mount for place, mount in mounts.items() if mount.fstype.startswith("fuse")}
        self._places: dict[Mount, list[str]] = {}
        for place, mount in served.items() if sys.platform.startswith("linux") else ():
            self._places.setdefault(mount, []).append(place)
        self._looked: set[str] = set()
        self._roots: dict[Mount, list[int]] = {mount: [] for mount in self._places}
        self._helpers: dict[Mount, dict[int, _Helper]] = {mount: {} for mount in self._places}
        self._searched_ns: int | None = None
        self._listed_ns: int | None = None
        if self._places:
            self._search()

    def observe(self, at_ns: int) -> Sequence[Reading]:
        """Readings of the helpers that are there."""
        self._keep_up(at_ns)
        return [
            Reading(at_ns, "helper", f"{place}/{helper.name}", metric, value)
            for mount, helpers in self._helpers.items()
            for helper in helpers.values()
            for metric, value in helper.counters()
            for place in self._places[mount]
        ]

    def _keep_up(self, at_ns: int) -> None:
        """Children come and go; a helper that ended may have been started anew, as sshfs does with ssh."""
        if self._listed_ns is not None and at_ns - self._listed_ns < _LIST_NS:
            return
        self._listed_ns = at_ns
        missing = any(not _alive(self._proc, roots) for roots in self._roots.values())
        if missing and (self._searched_ns is None or at_ns - self._searched_ns >= _SEARCH_NS):
            self._searched_ns = at_ns
            self._search()
        for mount, roots in self._roots.items():
            self._list(mount, roots)

    def _list(self, mount: Mount, roots: Iterable[int]) -> None:
        known = self._helpers[mount]
        members = (pid for root in roots for pid in descendants(self._proc, root)[0])
        names = {pid: name for pid in members if (name := _comm(self._proc, pid)) is not None}
        self._helpers[mount] = {
            pid: known.get(pid) or _Helper(self._proc, pid, name) for pid, name in names.items()
        }

    @property
    def pids(self) -> tuple[int, ...]:
        """The helpers that were there at the last look."""
        return tuple(pid for helpers in self._helpers.values() for pid in helpers)

    def _search(self) -> None:
        """Among the processes that have not been looked at."""
        pids = [pid for pid in procfs.entries(self._proc) if pid.isdigit() and pid not in self._looked]
        self._looked.update(pids)
        arguments = {int(pid): _arguments(self._proc, pid) for pid in pids}
        for mount, roots in self._roots.items():
            servers = _servers(self._proc, mount, arguments)
            drivers = servers or [pid for pid in roots if _comm(self._proc, pid) == "sshfs"]
            found = [*servers, *_ssh_of(self._proc, mount, drivers, arguments)]
            if found:  # until then one that ended stays, so that the search for its successor goes on
                roots[:] = [*(pid for pid in roots if _alive(self._proc, [pid])), *found]
            self._list(mount, roots)


class _Helper:
    """One process: its counters, and what its threads had used at the last look."""

    def __init__(self, proc: str, pid: int, name: str) -> None:
        self.name = f"{name}[{pid}]"
        self._tasks = f"{proc}/{pid}/task"
        self._clock = ~pid << 3 | 2  # the CPU clock of a whole process, MAKE_PROCESS_CPUCLOCK of the kernel
        self._threads: dict[str, tuple[int, int]] = {}
        self._fullest_ns = 0
        self._delay_ns = 0

    def counters(self) -> list[tuple[str, float]]:
        try:
            counters = [("cpu_s", seconds(time.clock_gettime_ns(self._clock)))]
        except OSError:  # it ended
            return []
        threads = procfs.entries(self._tasks)
        if not 0 < len(threads) <= _MOST_THREADS:
            return counters
        now = {thread: _schedstat(f"{self._tasks}/{thread}/schedstat") for thread in threads}
        self._take({thread: times for thread, times in now.items() if times is not None})
        counters.append(("run_delay_s", seconds(self._delay_ns)))
        counters.append(("thread_cpu_s", seconds(self._fullest_ns)))
        return counters

    def _take(self, now: dict[str, tuple[int, int]]) -> None:
        grown = [
            (times[0] - before[0], times[1] - before[1])
            for thread, times in now.items()
            for before in (self._threads.get(thread, (0, 0)),)
        ]
        self._fullest_ns += max((cpu for cpu, _ in grown), default=0)
        self._delay_ns += sum(delay for _, delay in grown)
        self._threads = now


def _servers(proc: str, mount: Mount, arguments: Mapping[int, Sequence[str]]) -> list[int]:
    """The processes behind a mount: those that name its folder and device best, of those that hold FUSE."""
    ranks = {
        pid: 2 * (mount.path in words) + (mount.device in words)
        for pid, words in arguments.items()
        if mount.path in words or mount.device in words
    }
    kind = mount.fstype.partition(".")[2]
    holding = {pid: rank for pid, rank in ranks.items() if _holds_fuse(proc, pid, kind)}
    best = max(holding.values(), default=0)
    return [pid for pid, rank in holding.items() if rank == best]


def _holds_fuse(proc: str, pid: int, kind: str) -> bool:
    """True if it has the FUSE device open; of another user's process, if it is called like the mount."""
    folder = f"{proc}/{pid}/fd"
    try:
        return any(os.readlink(f"{folder}/{name}") == _FUSE for name in os.listdir(folder))
    except PermissionError:
        return _comm(proc, pid) == kind
    except OSError:
        return False


def _ssh_of(
    proc: str, mount: Mount, drivers: Sequence[int], arguments: Mapping[int, Sequence[str]]
) -> list[int]:
    """The ssh that each sshfs drives. It is no child of it: it was started before sshfs went to the
    background. Of several to the same host it is the one that was born next to it."""
    if mount.fstype != "fuse.sshfs":
        return []
    login = (
        mount.device.rpartition(":")[0] if mount.there == "." else mount.device[: -len(mount.there or "") - 1]
    )
    login = login.replace("[", "").replace("]", "")
    found = [
        pid
        for pid, words in arguments.items()
        if words and os.path.basename(words[0]) == "ssh" and login in words and "sftp" in words
    ]
    born = {pid: _born(proc, pid) for pid in (*found, *drivers)}
    nearest = (min(found, key=lambda pid: abs(born[pid] - born[driver]), default=None) for driver in drivers)
    return [pid for pid in dict.fromkeys(nearest) if pid is not None]


def _arguments(proc: str, pid: str) -> tuple[str, ...]:
    content = procfs.read_bytes(f"{proc}/{pid}/cmdline") or b""
    return tuple(os.fsdecode(word) for word in content.split(b"\0") if word)


def _comm(proc: str, pid: int) -> str | None:
    return procfs.read_text(f"{proc}/{pid}/comm")


def _alive(proc: str, pids: Sequence[int]) -> bool:
    return bool(pids) and all(_comm(proc, pid) is not None for pid in pids)


def _born(proc: str, pid: int) -> int:
    content = procfs.read_bytes(f"{proc}/{pid}/stat") or b""
    fields = content[content.rfind(b")") + 2 :].split()
    return int(fields[_BORN]) if len(fields) > _BORN else 0


def _schedstat(path: str) -> tuple[int, int] | None:
    fields = (procfs.read_bytes(path) or b"").split()
    return (int(fields[0]), int(fields[1])) if len(fields) > 1 else None
