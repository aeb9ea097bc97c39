"""The host's memory. These readings are gauges: a state at a moment, not counters."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import psutil

from pathtrace.model.sample import Reading
from pathtrace.observers import procfs

_UNIT_BYTES = 1024
"""``/proc/meminfo`` counts in units of 1024 bytes."""
_FIELDS = ((b"MemAvailable", "available_bytes"), (b"Cached", "cached_bytes"), (b"Dirty", "dirty_bytes"))


class MemoryObserver:
    """Observer "memory", subject "host": available, cached, dirty and swap-used ``…_bytes``."""

    name = "memory"
    period_s = 0.1

    def __init__(self, proc: str = "/proc") -> None:
        self._meminfo = f"{proc}/meminfo"
        self._linux = sys.platform.startswith("linux")

    def observe(self, at_ns: int) -> Sequence[Reading]:
        """One reading per gauge that this system has."""
        gauges = self._from_meminfo() if self._linux else _from_psutil()
        return [Reading(at_ns, "memory", "host", metric, value) for metric, value in gauges]

    def _from_meminfo(self) -> list[tuple[str, float]]:
        info = procfs.read_counters(self._meminfo)
        gauges = [(metric, float(info[name] * _UNIT_BYTES)) for name, metric in _FIELDS if name in info]
        if b"SwapTotal" in info and b"SwapFree" in info:
            gauges.append(("swap_used_bytes", float((info[b"SwapTotal"] - info[b"SwapFree"]) * _UNIT_BYTES)))
        return gauges


def _from_psutil() -> list[tuple[str, float]]:
    memory = psutil.virtual_memory()
    gauges = [("available_bytes", float(memory.available))]
    if hasattr(memory, "cached"):
        gauges.append(("cached_bytes", float(memory.cached)))
    return [*gauges, ("swap_used_bytes", float(psutil.swap_memory().used))]
