"""A server with little memory: what it may keep of the files that it has read.

``with memory_limit(samba.pid, bytes=96 << 20):`` a file that is larger is read from the disk again each time,
as on a NAS whose data is larger than its memory. Needs version 1 control groups.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import lab_control_groups


def why_not() -> str | None:
    """Why no limit can be set here, or None."""
    return lab_control_groups.why_not("memory")


@contextlib.contextmanager
def memory_limit(pid: int, *, bytes: int) -> Iterator[None]:
    """Hold ``pid`` and all below it, now and later, to so much memory, its page cache counted in."""
    with lab_control_groups.limited(pid, "memory", {"memory.limit_in_bytes": str(bytes)}):
        yield
