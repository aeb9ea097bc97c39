"""A server with little memory: what it may keep of the files that it has read.

``with memory_limit(samba.pid, bytes=96 << 20):`` a file that is larger is read from the disk again each time,
as on a NAS whose data is larger than its memory. Needs version 1 control groups.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from lab_leftovers import claimed, family

_CONTROLLER = Path("/sys/fs/cgroup/memory")


def why_not() -> str | None:
    """Why no limit can be set here, or None."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "a limit of a server's memory needs root"
    if not (_CONTROLLER / "cgroup.procs").exists():
        return "a limit of a server's memory needs version 1 control groups"
    return None


@contextlib.contextmanager
def memory_limit(pid: int, *, bytes: int) -> Iterator[None]:
    """Hold ``pid`` and all below it, now and later, to so much memory, its page cache counted in."""
    with claimed("memory-limit") as claim:
        group = _CONTROLLER / f"pathtrace-lab-{claim.folder.name}"
        claim.will_limit(group)
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(bytes))
        for each in family(pid):
            with contextlib.suppress(ProcessLookupError):
                (group / "cgroup.procs").write_text(str(each))
        yield
