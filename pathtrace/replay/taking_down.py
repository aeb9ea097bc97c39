"""Takes down reads: as samples, at once or when there is time.

A thread that reads out of memory needs the interpreter every few dozen microseconds, and whoever makes
samples meanwhile holds it up. So reads that hand nothing on wait here, at most half a second, and are taken
down after the timed window where that ends earlier.
"""

from __future__ import annotations

from collections.abc import Sequence

from pathtrace.model.work import Done
from pathtrace.replay.operations import Execution, Recording, sample_of

_STAGE = 0
_LONGEST_NS = 500_000_000
"""How long a read may wait to be taken down: what a crash may cost."""
_MOST = 1 << 14
"""Reads that wait at most: some 5 MiB of memory."""


class Reads:
    """The first stage's reads of one execution, in bursts that were read one after another by one worker."""

    def __init__(self, execution: Execution, recording: Recording) -> None:
        self._execution = execution
        self._recording = recording
        self._waiting: list[tuple[int, int, Sequence[Done]]] = []
        self._count = 0
        self._since_ns = recording.clock()

    def later(self, worker: int, first: int, burst: Sequence[Done]) -> None:
        """Take ``burst`` down soon; its operations are numbered from ``first``."""
        self._waiting.append((worker, first, burst))
        self._count += len(burst)
        if self._count >= _MOST or self._recording.clock() - self._since_ns >= _LONGEST_NS:
            self.finish()

    def now(self, worker: int, first: int, burst: Sequence[Done], blocked_ns: int) -> None:
        """Take ``burst`` down; its last read carries the time that the worker was blocked afterwards."""
        self._take(worker, first, burst[:-1], 0)
        self._take(worker, first + len(burst) - 1, burst[-1:], blocked_ns)

    def finish(self) -> None:
        """Take down all that waits."""
        waiting, self._waiting = self._waiting, []
        for worker, first, burst in waiting:
            self._take(worker, first, burst, 0)
        self._count, self._since_ns = 0, self._recording.clock()

    def _take(self, worker: int, first: int, burst: Sequence[Done], blocked_ns: int) -> None:
        repeat, flow, execution = self._execution
        take = self._recording.sink.sample
        for number, done in enumerate(burst, first):
            identity = (repeat, flow, execution, _STAGE, worker, number, -1, -1)
            take(sample_of(identity, done.start_ns, done, blocked_ns, self._recording))
