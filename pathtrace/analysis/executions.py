"""Cuts a run's samples into executions: one flow, once through, in one repeat, as sorted columns.

Knows the table's layout and nothing of what a column means. Only the rows of one repeat are copied
at a time, so that memory stays bounded by the largest repeat.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pathtrace.model.run import Run
from pathtrace.model.sample import Outcome, Window

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
    repeats = run.samples.rows["repeat"] if len(run.samples) else np.empty(0, np.int16)
    for repeat in np.unique(repeats):
        if repeat >= 0:
            yield from _of_repeat(run, int(repeat))


def execution(run: Run, repeat: int, flow: int, number: int) -> Execution:
    """One execution again, for a closer look."""
    rows = run.samples.rows
    chosen = (rows["repeat"] == repeat) & (rows["flow"] == flow) & (rows["execution"] == number)
    return _columns(run, _taken(rows, chosen))


def _of_repeat(run: Run, repeat: int) -> Iterator[Execution]:
    rows = _taken(run.samples.rows, run.samples.rows["repeat"] == repeat)
    keys = rows["flow"].astype(np.int64) * 100_000 + rows["execution"]
    for key in np.unique(keys):
        part = _taken(rows, keys == key)
        if 0 <= int(part["flow"][0]) < len(run.scenario.flows):
            yield _columns(run, part)


def _taken(rows: npt.NDArray[np.void], chosen: Mask) -> npt.NDArray[np.void]:
    """The chosen rows; a view where they follow one another, as those of an execution mostly do."""
    at = np.flatnonzero(chosen)
    if len(at) and at[-1] - at[0] + 1 == len(at):
        return rows[at[0] : at[-1] + 1]
    return rows[chosen]


def _columns(run: Run, rows: npt.NDArray[np.void]) -> Execution:
    """Rows whose stage the flow does not have are damaged, and left out."""
    repeat, flow, number = (int(rows[name][0]) for name in ("repeat", "flow", "execution"))
    known = (rows["stage"] >= 0) & (rows["stage"] < len(run.scenario.flows[flow].stages))
    if not known.all():
        rows = rows[known]
    start = rows["start_ns"].astype(np.int64)
    order = np.lexsort((rows["operation"], start))

    def column(name: str) -> Ints:
        return rows[name].astype(np.int64)[order]

    elapsed = np.maximum(column("elapsed_ns"), 0)
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
        start=start[order],
        end=start[order] + elapsed,
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
