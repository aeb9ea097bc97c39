"""A share of one core for a process and its children."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lab_control_groups

_PERIOD_US = 100_000


@dataclass(frozen=True)
class Quota:
    cores: float
    group: Path

    def throttled_s(self) -> float:
        """Seconds for which the kernel held the group back so far."""
        lines = (self.group / "cpu.stat").read_text().splitlines()
        counters = dict(line.split() for line in lines)
        return int(counters["throttled_time"]) / 1e9


def why_not() -> str | None:
    """Why no quota can be set here, or None."""
    return lab_control_groups.why_not("cpu", "cpu.cfs_quota_us")


@contextlib.contextmanager
def cpu_quota(pid: int, *, cores: float) -> Iterator[Quota]:
    """Hold ``pid`` and all below it, now and later, to ``cores`` until the block is left."""
    settings = {"cpu.cfs_period_us": str(_PERIOD_US), "cpu.cfs_quota_us": str(int(cores * _PERIOD_US))}
    with lab_control_groups.limited(pid, "cpu", settings) as group:
        yield Quota(cores, group)
