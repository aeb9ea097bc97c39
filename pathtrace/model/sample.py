"""Samples (one per operation) and readings (one per counter and moment), and their columns.

``Sample`` and ``Reading`` are NamedTuples since they are made inside timed loops; ``SampleTable``
and ``ReadingTable`` are the same as read-only numpy columns, for analysis. Times are nanoseconds
from the run's origin. numpy is imported where a table is built, not with this module.
"""

from __future__ import annotations

import mmap
import sys
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


PIECE = 1 << 16
"""Rows of a ``SampleTable`` that are taken at a time."""


class Outcome(IntEnum):
    OK = 0
    FAILED = 1
    TIMEOUT = 2
    CANCELLED = 3


class Sample(NamedTuple):
    """One operation. ``-1`` in an optional column means "not known".

    A worker's time is busy for ``elapsed_ns``, then blocked for ``blocked_ns`` (its result found
    the next queue full); the rest of the flow's wall time it was starved.
    """

    repeat: int
    """0-based; warm-ups are negative: the last warm-up is -1."""
    flow: int
    """Index into ``Scenario.flows``."""
    execution: int
    """0, or the number of the load level (``users`` list) or idle-gap pass."""
    stage: int
    worker: int
    """In a stage for streams; the user's number for requests."""
    operation: int
    """Unique within repeat, flow and execution, in order of start of recording."""
    cause: int
    """The upstream operation whose result released this one; -1 at the source."""
    request: int
    """Request number for per-request flows, else -1."""
    intended_ns: int
    """When it should have started: arrival of its item, or the schedule of an open loop."""
    start_ns: int
    setup_ns: int
    first_byte_ns: int
    finish_ns: int
    elapsed_ns: int
    blocked_ns: int
    cpu_ns: int
    bytes: int
    io_bytes: int
    tokens: int
    outcome: int
    detail: int
    """Index of the failure's text in the run's ``faults``; -1."""
    stat_ns: int = -1
    """The part of ``setup_ns`` in which an open file was asked how long it is."""
    load_ns: int = -1
    """How long the server loaded its model for this request; 0: the model was in memory already."""


# Column name -> numpy type code. One record is these fields, packed, little-endian (format 1).
SAMPLE_COLUMNS: tuple[tuple[str, str], ...] = (
    ("repeat", "i2"),
    ("flow", "i2"),
    ("execution", "i2"),
    ("stage", "i2"),
    ("worker", "i4"),
    ("operation", "i4"),
    ("cause", "i4"),
    ("request", "i4"),
    ("intended_ns", "i8"),
    ("start_ns", "i8"),
    ("setup_ns", "i8"),
    ("first_byte_ns", "i8"),
    ("finish_ns", "i8"),
    ("elapsed_ns", "i8"),
    ("blocked_ns", "i8"),
    ("cpu_ns", "i8"),
    ("bytes", "i8"),
    ("io_bytes", "i8"),
    ("tokens", "i4"),
    ("outcome", "i2"),
    ("detail", "i4"),
    ("stat_ns", "i8"),
    ("load_ns", "i8"),
)


class Reading(NamedTuple):
    """One counter at one moment. ``subject`` is a disk, an interface, a core, a process, a place."""

    at_ns: int
    observer: str
    subject: str
    metric: str
    value: float


@dataclass(frozen=True, slots=True)
class SampleTable:
    """All samples of a run as one read-only structured array with ``SAMPLE_COLUMNS``.

    The rows may lie in a file that is mapped into memory. Who looks at many of them takes them by
    ``PIECE`` and gives each piece back: a large run is then never in memory as a whole.
    """

    rows: npt.NDArray[np.void]
    mapping: mmap.mmap | None = None
    """What the rows lie in, if that is a file."""

    def __len__(self) -> int:
        return len(self.rows)

    def release(self) -> None:
        """Give back the memory of rows that can be read from their file again."""
        if self.mapping is not None and sys.platform == "linux":
            self.mapping.madvise(mmap.MADV_DONTNEED)


@dataclass(frozen=True, slots=True)
class ReadingTable:
    """All readings of a run, in order of time."""

    rows: tuple[Reading, ...]

    def series(self, observer: str, subject: str, metric: str) -> tuple[tuple[int, float], ...]:
        """(at_ns, value) pairs of one counter, in order of time."""
        return tuple(
            (r.at_ns, r.value)
            for r in self.rows
            if r.observer == observer and r.subject == subject and r.metric == metric
        )

    def subjects(self, observer: str) -> tuple[str, ...]:
        """The subjects that an observer reported, in order of first appearance."""
        return tuple(dict.fromkeys(r.subject for r in self.rows if r.observer == observer))


@dataclass(frozen=True, slots=True)
class Window:
    """The timed part of one execution of a flow, ``start_ns`` to ``end_ns`` from the run's origin."""

    repeat: int
    flow: int
    execution: int
    users: int
    start_ns: int
    end_ns: int
    complete: bool
    """False if a budget, a fault or an interrupt ended it."""
    workers: tuple[int, ...]
    """Per stage: how many workers (for requests: users, or requests in flight) it had."""
    idle_s: float = 0.0
    """How long nothing had been asked before it, where the scenario's ``idle_gaps`` made it wait."""
