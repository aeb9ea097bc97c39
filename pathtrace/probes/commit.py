"""What a commit costs at a database whose folder nobody else may write to: one row, made durable, alone.

The server's own work is in it; where the folder may be written to, ``fsync`` measures what lies beneath.
"""

from __future__ import annotations

from pathtrace.model.work import Clock
from pathtrace.ports import Commits
from pathtrace.probes.latency import LatencyProbe

_AT_MOST = 200


class CommitProbe(LatencyProbe):
    """Commits one row again and again for about ``limit_s``."""

    def __init__(self, resource: str, place: Commits, clock: Clock, limit_s: float = 1.0) -> None:
        super().__init__(
            resource, place.commit_alone, "a commit of one row by the server", clock, limit_s, _AT_MOST
        )
