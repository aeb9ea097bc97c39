"""A share of one core for a process and its children: a control group (version 1) of the lab's own.

What a crashed run left is removed by the next one; groups that the lab did not make are not touched.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

_CONTROLLER = Path("/sys/fs/cgroup/cpu")
_PREFIX = "pathtrace-lab-"
_PERIOD_US = 100_000


def why_not() -> str | None:
    """Why no quota can be set here, or None."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "a CPU quota needs root"
    if not (_CONTROLLER / "cpu.cfs_quota_us").exists() and not (_CONTROLLER / "cgroup.procs").exists():
        return "a CPU quota needs version 1 control groups"
    return None


@contextlib.contextmanager
def cpu_quota(pid: int, *, cores: float) -> Iterator[None]:
    """Hold ``pid`` and all below it, now and later, to ``cores`` until the block is left."""
    _remove_leftovers()
    group = _CONTROLLER / f"{_PREFIX}{os.getpid()}"
    group.mkdir()
    try:
        (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(int(cores * _PERIOD_US)))
        for each in _family(pid):
            with contextlib.suppress(ProcessLookupError):
                (group / "cgroup.procs").write_text(str(each))
        yield
    finally:
        _empty(group)


def _family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(each for child in children for each in _family(int(child)))]


def _empty(group: Path) -> None:
    """Back to where they came from, then away with the group."""
    deadline = time.monotonic() + 5
    while True:
        for pid in (group / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                (group.parent / "cgroup.procs").write_text(pid)
        try:
            group.rmdir()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _remove_leftovers() -> None:
    for group in _CONTROLLER.glob(f"{_PREFIX}*"):
        owner = group.name.removeprefix(_PREFIX)
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            _empty(group)
