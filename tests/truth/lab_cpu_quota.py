"""A share of one core for a process and its children: a control group (version 1) of the lab's own.

What a crashed run left is in the lab's journal like everything else; groups that the lab did not make
are not touched.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab_leftovers import claimed, family

_CONTROLLER = Path("/sys/fs/cgroup/cpu")
_PREFIX = "pathtrace-lab-"
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
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "a CPU quota needs root"
    if not (_CONTROLLER / "cpu.cfs_quota_us").exists() and not (_CONTROLLER / "cgroup.procs").exists():
        return "a CPU quota needs version 1 control groups"
    return None


@contextlib.contextmanager
def cpu_quota(pid: int, *, cores: float) -> Iterator[Quota]:
    """Hold ``pid`` and all below it, now and later, to ``cores`` until the block is left."""
    with claimed("cpu-quota") as claim:
        group = _CONTROLLER / f"{_PREFIX}{claim.folder.name}"
        claim.will_limit(group)
        group.mkdir()
        (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(int(cores * _PERIOD_US)))
        for each in family(pid):
            with contextlib.suppress(ProcessLookupError):
                (group / "cgroup.procs").write_text(str(each))
        yield Quota(cores, group)
