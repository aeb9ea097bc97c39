"""Cuts a run's samples into executions: one flow, once through, in one repeat, as sorted columns.

Knows the table's layout and nothing of what a column means. Only the rows of one execution are copied
at a time, so that memory stays bounded by the largest one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pathtrace.model.run import Run
from pathtrace.model.sample import PIECE, SAMPLE_COLUMNS, Outcome, SampleTable, Window

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Execution:
    """Columns of one execution's samples in order of start (then operation number)."""

    repeat: int
    flow: int
    number: int
    window: Window | None
    stage: Ints
    worker: Ints
    operation: Ints
    cause: Ints
    request: Ints
    intended: Ints
    start: Ints
    end: Ints
    setup: Ints
    stat: Ints
    first_byte: Ints
    finish: Ints
    elapsed: Ints
    blocked: Ints
    cpu: Ints
    bytes: Ints
    io_bytes: Ints
    tokens: Ints
    load: Ints
    ok: Mask
    detail: Ints

    def __len__(self) -> int:
        return len(self.start)

    @property
    def start_ns(self) -> int:
        """First start; the execution has at least one sample."""
        return int(self.start[0])

    @property
    def end_ns(self) -> int:
        """Last end."""
        return int(self.end.max())

    @property
    def wall_ns(self) -> int:
        return self.end_ns - self.start_ns

    @property
    def complete(self) -> bool:
        return self.window is not None and self.window.complete


def executions(run: Run) -> Iterator[Execution]:
    """Every execution that has samples, repeat by repeat; warm-ups are left out."""
    keys = _keys(run.samples)
    for key in np.unique(keys[keys >= 0]):
        if (key >> _FLOW & _MASK) < len(run.scenario.flows):
            yield _columns(run, np.flatnonzero(keys == key))


def execution(run: Run, repeat: int, flow: int, number: int) -> Execution:
    """One execution again, for a closer look."""
    key = (repeat << _REPEAT) + (flow << _FLOW) + number
    return _columns(run, np.flatnonzero(_keys(run.samples) == key))


_REPEAT, _FLOW, _MASK = 32, 16, 0xFFFF


def _keys(samples: SampleTable) -> Ints:
    """Per row, repeat, flow and execution in one number that sorts as they do; warm-ups are negative."""
    keys = np.empty(len(samples), dtype=np.int64)
    for at in range(0, len(samples), PIECE):
        piece = samples.rows[at : at + PIECE]
        repeat, flow, number = (piece[name].astype(np.int64) for name in ("repeat", "flow", "execution"))
        keys[at : at + PIECE] = (repeat << _REPEAT) + ((flow & _MASK) << _FLOW) + (number & _MASK)
        samples.release()
    return keys


def _copied(samples: SampleTable, chosen: Ints) -> dict[str, Ints]:
    """The chosen rows' columns."""
    columns = {name: np.empty(len(chosen), dtype=np.int64) for name, _ in SAMPLE_COLUMNS}
    for at in range(0, len(chosen), PIECE):
        piece = samples.rows[chosen[at : at + PIECE]]
        for name, column in columns.items():
            column[at : at + PIECE] = piece[name]
        samples.release()
    return columns


def _columns(run: Run, chosen: Ints) -> Execution:
    """Rows whose stage the flow does not have are damaged, and left out."""
    columns = _copied(run.samples, chosen)
    repeat, flow, number = (int(columns.pop(name)[0]) for name in ("repeat", "flow", "execution"))
    stage = columns["stage"]
    known = np.flatnonzero((stage >= 0) & (stage < len(run.scenario.flows[flow].stages)))
    order = known[np.lexsort((columns["operation"][known], columns["start_ns"][known]))]

    def column(name: str) -> Ints:
        return columns.pop(name)[order]

    start, elapsed = column("start_ns"), np.maximum(column("elapsed_ns"), 0)
    return Execution(
        repeat=repeat,
        flow=flow,
        number=number,
        window=_window(run, repeat, flow, number),
        stage=column("stage"),
        worker=column("worker"),
        operation=column("operation"),
        cause=column("cause"),
        request=column("request"),
        intended=column("intended_ns"),
        start=start,
        end=start + elapsed,
        setup=np.maximum(column("setup_ns"), 0),
        stat=column("stat_ns"),
        first_byte=column("first_byte_ns"),
        finish=np.maximum(column("finish_ns"), 0),
        elapsed=elapsed,
        blocked=np.maximum(column("blocked_ns"), 0),
        cpu=column("cpu_ns"),
        bytes=np.maximum(column("bytes"), 0),
        io_bytes=column("io_bytes"),
        tokens=column("tokens"),
        load=column("load_ns"),
        ok=column("outcome") == Outcome.OK,
        detail=column("detail"),
    )


def _window(run: Run, repeat: int, flow: int, number: int) -> Window | None:
    for window in run.windows:
        if (window.repeat, window.flow, window.execution) == (repeat, flow, number):
            return window
    return None
