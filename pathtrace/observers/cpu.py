"""The host's cores: seconds that each worked, and waited for disks with nothing else to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psutil

from pathtrace.model.sample import Reading

_BUSY = ("user", "nice", "system", "irq", "softirq")
"""``guest`` is part of ``user``; ``steal`` is time that another machine had."""


class CpuObserver:
    """Observer "cpu", subject "all" and "core0", "core1", …: ``busy_s``, ``iowait_s`` where known."""

    name = "cpu"
    period_s = 0.1

    def observe(self, at_ns: int) -> Sequence[Reading]:
        """Cumulative seconds since boot, per core and over all of them."""
        cores = psutil.cpu_times(percpu=True)
        busy = [busy_s(core) for core in cores]
        readings = [Reading(at_ns, "cpu", "all", "busy_s", sum(busy))]
        readings += (Reading(at_ns, "cpu", f"core{i}", "busy_s", value) for i, value in enumerate(busy))
        if cores and hasattr(cores[0], "iowait"):
            waits = [core.iowait for core in cores]
            readings.append(Reading(at_ns, "cpu", "all", "iowait_s", sum(waits)))
            readings += (
                Reading(at_ns, "cpu", f"core{i}", "iowait_s", value) for i, value in enumerate(waits)
            )
        return readings


def busy_s(times: Any) -> float:
    """Seconds at work of psutil's CPU times, whose fields differ between systems."""
    return float(sum(getattr(times, field, 0.0) for field in _BUSY))
