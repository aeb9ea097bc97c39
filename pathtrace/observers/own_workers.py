"""Processes of pathtrace's own beside the main one: what they compute is the tracer's, as a thread's is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pathtrace.model.sample import Reading
from pathtrace.observers import procfs
from pathtrace.units import seconds


class WorkerObserver:
    """Observer "self", subject ``thread:COMM[pid]``: ``cpu_s`` and ``run_delay_s`` of its first thread.

    It does one thing at a time, in that thread. ``pids`` is asked at each look, since workers come and go.
    """

    name = "workers"
    period_s = 0.1

    def __init__(self, pids: Callable[[], Sequence[int]]) -> None:
        self._pids = pids
        self._names: dict[int, str] = {}

    def observe(self, at_ns: int) -> Sequence[Reading]:
        """Two readings for each worker that is there."""
        return [reading for pid in self._pids() for reading in self._of(at_ns, pid)]

    def _of(self, at_ns: int, pid: int) -> list[Reading]:
        fields = (procfs.read_bytes(f"/proc/{pid}/schedstat") or b"").split()
        if len(fields) < 2:
            return []
        if pid not in self._names:
            self._names[pid] = f"thread:{procfs.read_text(f'/proc/{pid}/comm') or 'worker'}[{pid}]"
        return [
            Reading(at_ns, "self", self._names[pid], "cpu_s", seconds(int(fields[0]))),
            Reading(at_ns, "self", self._names[pid], "run_delay_s", seconds(int(fields[1]))),
        ]
