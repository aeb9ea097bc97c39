"""Servers on this host: what the processes behind a place's URL used, descendants included.

Linux's counters of a process take in those of its children once they are waited for. So the sum
over the living, children's parts included, neither loses nor doubles what an ended child did.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

import psutil

from pathtrace.model.sample import Reading
from pathtrace.observers import procfs
from pathtrace.units import NANOSECONDS_PER_SECOND, seconds

_REFRESH_NS = NANOSECONDS_PER_SECOND
_MOST_THREADS = 64
"""With more threads their run delays are not added up, and children are listed once a second: one file
for each thread would cost too much."""
_PERIOD_S = 0.1
_SHARED_PERIOD_S = 0.02
_GAUGE = "rss_bytes"


class ProcessObserver:
    """Observer "process", subject the place's name.

    ``cpu_s``, ``major_faults``, ``rss_bytes`` (a gauge), and with the right to see them ``read_bytes`` (off
    devices) and ``rchar_bytes`` (all reads); once a second ``run_delay_s``, over all threads. Pages of a
    file mapped into memory count in ``read_bytes`` and ``major_faults``, not in ``rchar_bytes``.
    """

    name = "process"

    def __init__(self, servers: Mapping[str, int], proc: str = "/proc") -> None:
        self._places: dict[int, list[str]] = {}
        for place, pid in servers.items():
            self._places.setdefault(pid, []).append(place)
        self._families = {pid: _Family(pid, proc) for pid in self._places}
        shared = len(self._places) < len(servers)
        self._period_s = _SHARED_PERIOD_S if shared else _PERIOD_S

    @property
    def period_s(self) -> float:
        """Shorter where places share a server: what it did for one must be told from what for the other."""
        return self._period_s

    def observe(self, at_ns: int) -> Sequence[Reading]:
        """Readings of every server that is still there."""
        return [
            Reading(at_ns, "process", place, metric, value)
            for pid, family in self._families.items()
            for metric, value in family.counters(at_ns)
            for place in self._places[pid]
        ]


class _Family:
    """One process and its descendants, as last listed."""

    def __init__(self, pid: int, proc: str) -> None:
        self._pid = pid
        self._proc = proc
        self._members: tuple[int, ...] = (pid,)
        self._listed_ns: int | None = None
        self._few = True
        """Few enough threads to list the descendants at each look: a child may live half a second."""
        self._highest: dict[str, float] = {}
        self._delays_ns: dict[str, int] = {}
        """Of each thread that was ever seen: nobody else keeps what ended ones had waited."""
        self._born = _started(proc, pid)

    def counters(self, at_ns: int) -> list[tuple[str, float]]:
        if not sys.platform.startswith("linux"):
            return list(_by_psutil(self._pid).items())
        if _started(self._proc, self._pid) != self._born or self._born is None:
            return []  # it ended; another process may have its number by now
        totals: dict[str, float] = {}
        due = self._listed_ns is None or at_ns - self._listed_ns >= _REFRESH_NS
        if due or self._few:
            self._members, threads = descendants(self._proc, self._pid)
            self._few = threads <= _MOST_THREADS
        if due:
            self._listed_ns = at_ns
            totals.update(self._run_delay())
        for pid in self._members:
            for metric, value in _of_process(self._proc, pid):
                totals[metric] = totals.get(metric, 0.0) + value
        return [(metric, self._rising(metric, value)) for metric, value in totals.items()]

    def _run_delay(self) -> dict[str, float]:
        for thread, delay_ns in _run_delays(self._proc, self._members).items():
            self._delays_ns[thread] = max(delay_ns, self._delays_ns.get(thread, 0))
        return {"run_delay_s": seconds(sum(self._delays_ns.values()))} if self._delays_ns else {}

    def _rising(self, metric: str, value: float) -> float:
        """A counter never falls, also when a child ends whose parent never waits for it."""
        if metric == _GAUGE:
            return value
        self._highest[metric] = max(value, self._highest.get(metric, 0.0))
        return self._highest[metric]


def _stat(proc: str, pid: int) -> list[bytes] | None:
    """Fields of ``/proc/PID/stat`` from the state on: field k of the manual page is [k - 3]."""
    content = procfs.read_bytes(f"{proc}/{pid}/stat")
    return content[content.rfind(b")") + 2 :].split() if content else None


def _started(proc: str, pid: int) -> bytes | None:
    fields = _stat(proc, pid)
    return fields[19] if fields else None


def _of_process(proc: str, pid: int) -> list[tuple[str, float]]:
    fields = _stat(proc, pid)
    if fields is None:
        return []
    ticks = sum(int(field) for field in fields[11:15])  # utime, stime, cutime, cstime
    counters = [
        ("cpu_s", ticks / os.sysconf("SC_CLK_TCK")),
        ("major_faults", float(int(fields[9]) + int(fields[10]))),
        ("rss_bytes", float(int(fields[21]) * os.sysconf("SC_PAGE_SIZE"))),
    ]
    io = procfs.read_counters(f"{proc}/{pid}/io")
    if io:
        counters += (("read_bytes", float(io[b"read_bytes"])), ("rchar_bytes", float(io[b"rchar"])))
    return counters


def descendants(proc: str, pid: int) -> tuple[tuple[int, ...], int]:
    """The process and all below it, from the kernel's own lists: cheaper than looking at every process;
    and how many threads had to be looked at."""
    found, waiting, threads = [pid], [pid], 0
    while waiting:
        parent = waiting.pop()
        for thread in procfs.entries(f"{proc}/{parent}/task"):
            threads += 1
            listed = procfs.read_bytes(f"{proc}/{parent}/task/{thread}/children") or b""
            children = [int(child) for child in listed.split()]
            found += children
            waiting += children
    return tuple(found), threads


def _run_delays(proc: str, pids: Sequence[int]) -> dict[str, int]:
    """Nanoseconds that each thread was ready and kept from running; none where there are too many threads."""
    threads = [f"{proc}/{pid}/task/{name}" for pid in pids for name in procfs.entries(f"{proc}/{pid}/task")]
    if len(threads) > _MOST_THREADS:
        return {}
    fields = {thread: (procfs.read_bytes(f"{thread}/schedstat") or b"").split() for thread in threads}
    return {thread: int(field[1]) for thread, field in fields.items() if len(field) > 1}


def _by_psutil(pid: int) -> dict[str, float]:
    """Where there is no /proc: the process alone, since listing its descendants is dear there."""
    try:
        process = psutil.Process(pid)
        times, memory = process.cpu_times(), process.memory_info()
    except psutil.Error:
        return {}
    return {"cpu_s": times.user + times.system, "rss_bytes": float(memory.rss)}
