"""What pathtrace itself uses: the ground for its own cost, and for "limited by the tracer".

Seen from inside, so nearly free. Whether the cost is too high is decided by analysis.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Sequence

import psutil

from pathtrace.model.sample import Reading
from pathtrace.observers import procfs
from pathtrace.units import NANOSECONDS_PER_SECOND, seconds

if sys.platform != "win32":
    import resource


_TASKS = "/proc/self/task"
_LIST_NS = NANOSECONDS_PER_SECOND
_MOST_THREADS = 16
_WORTH_NS = 10_000_000
"""A thread that used less than 10 ms so far cannot have filled a core."""


class OwnObserver:
    """Observer "self".

    Subject "process": ``cpu_s``, ``rss_bytes`` (a gauge), ``children_cpu_s`` (of those that ended), and where
    the system tells ``read_bytes`` (off devices), ``rchar_bytes`` (all reads) and ``major_faults``.
    Subject "loop", the main thread, which runs the event loop: ``cpu_s`` and ``run_delay_s`` (ready, but kept
    from running). Subject ``thread:NAME``, the same of each of the 16 threads with most CPU so far; looked
    for once a second.
    """

    name = "self"
    period_s = 0.1

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._io = "/proc/self/io"
        self._loop = threading.main_thread().native_id or 0
        self._threads: dict[int, str] = {}
        self._names: dict[int, str] = {}
        """Of every thread that was ever read."""
        self._listed_ns: int | None = None

    def observe(self, at_ns: int) -> Sequence[Reading]:
        """One reading per counter that this system has."""
        times = os.times()
        counters = [
            ("cpu_s", time.process_time()),
            ("rss_bytes", float(self._process.memory_info().rss)),
            ("children_cpu_s", times.children_user + times.children_system),
        ]
        io = procfs.read_counters(self._io)
        if io:
            counters += (("read_bytes", float(io[b"read_bytes"])), ("rchar_bytes", float(io[b"rchar"])))
        if sys.platform != "win32":
            counters.append(("major_faults", float(resource.getrusage(resource.RUSAGE_SELF).ru_majflt)))
        readings = [Reading(at_ns, "self", "process", metric, value) for metric, value in counters]
        readings += _of_thread(at_ns, self._loop, "loop")
        for number, name in self._busiest(at_ns).items():
            readings += _of_thread(at_ns, number, name)
        return readings

    def _busiest(self, at_ns: int) -> dict[int, str]:
        """The threads to be read, by the kernel's number; each keeps its name, and no other gets it."""
        if self._listed_ns is not None and at_ns - self._listed_ns < _LIST_NS:
            return self._threads
        self._listed_ns = at_ns
        used = {int(number): _used_ns(number) for number in procfs.entries(_TASKS)}
        most = sorted((n for n, cpu_ns in used.items() if cpu_ns >= _WORTH_NS), key=lambda n: -used[n])
        names = {thread.native_id: thread.name for thread in threading.enumerate()}
        for number in most[:_MOST_THREADS]:
            if number not in self._names:
                self._names[number] = self._name(number, names.get(number))
        self._threads = {number: self._names[number] for number in most[:_MOST_THREADS]}
        return self._threads

    def _name(self, number: int, name: str | None) -> str:
        told = name or procfs.read_text(f"{_TASKS}/{number}/comm") or str(number)
        subject = f"thread:{told}"
        return f"{subject}[{number}]" if subject in self._names.values() else subject


def _used_ns(number: str) -> int:
    fields = (procfs.read_bytes(f"{_TASKS}/{number}/schedstat") or b"").split()
    return int(fields[0]) if len(fields) > 1 else 0


def _of_thread(at_ns: int, number: int, subject: str) -> list[Reading]:
    fields = (procfs.read_bytes(f"{_TASKS}/{number}/schedstat") or b"").split()
    if len(fields) < 2:
        return []
    return [
        Reading(at_ns, "self", subject, "cpu_s", seconds(int(fields[0]))),
        Reading(at_ns, "self", subject, "run_delay_s", seconds(int(fields[1]))),
    ]
