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
from pathtrace.units import seconds

if sys.platform != "win32":
    import resource


class OwnObserver:
    """Observer "self".

    Subject "process": ``cpu_s``, ``rss_bytes`` (a gauge), ``children_cpu_s`` (of those that ended), and where
    the system tells ``read_bytes`` (off devices), ``rchar_bytes`` (all reads) and ``major_faults``.
    Subject "loop", the main thread, which runs the event loop: ``cpu_s`` and ``run_delay_s`` (ready, but kept
    from running).
    """

    period_s = 0.1

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._io = "/proc/self/io"
        self._loop = f"/proc/self/task/{threading.main_thread().native_id}/schedstat"

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
        return readings + self._of_loop(at_ns)

    def _of_loop(self, at_ns: int) -> list[Reading]:
        fields = (procfs.read_bytes(self._loop) or b"").split()
        if len(fields) < 2:
            return []
        return [
            Reading(at_ns, "self", "loop", "cpu_s", seconds(int(fields[0]))),
            Reading(at_ns, "self", "loop", "run_delay_s", seconds(int(fields[1]))),
        ]
