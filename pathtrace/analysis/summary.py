"""Figures of one execution: per stage and per hop, operations, bytes, time, latency, throughput.

Knows samples only. What limits a stage, and how often a flow happens, is for others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pathtrace.analysis.executions import Execution, Ints
from pathtrace.analysis.series import Sawtooth, sawtooth
from pathtrace.analysis.spread import interval, latency
from pathtrace.analysis.timeuse import merged, stage_time, union_ns, workers_of
from pathtrace.model.report import Latency, Parts, Throughput, TimeUse
from pathtrace.model.scenario import Flow, FrequencyKind, Hop, Stage
from pathtrace.units import seconds


@dataclass(frozen=True, slots=True)
class Spell:
    """A fixed part in the time of operations: tenth, fiftieth and ninetieth percentile, seconds."""

    p10_s: float
    p50_s: float
    p90_s: float


@dataclass(frozen=True, slots=True)
class StageFigures:
    """One stage in one execution. Sums are over its operations; ``cpu_*`` only where CPU is known."""

    stage: Stage
    flow: str
    workers: int
    operations: int
    errors: int
    bytes: int
    wall_s: float
    present_s: float
    """From the flow's start until its last result was handed on; after that nothing more could come."""
    elapsed_s: float
    active_s: float
    in_progress: tuple[Ints, Ints]
    """Starts and ends of the stretches in which operations were in progress; ``active_s`` is their sum."""
    setup_s: float
    finish_s: float
    cpu_s: float | None
    cpu_share: float | None
    """CPU per elapsed time of the operations whose CPU is known."""
    io_bytes: int | None
    idle: Spell | None
    """Elapsed time of an operation without its CPU time."""
    time: TimeUse
    latency: Latency
    parts: Parts | None

    @property
    def all_failed(self) -> bool:
        """Then its times say nothing about what it does when it works."""
        return 0 < self.operations <= self.errors

    @property
    def mostly_failed(self) -> bool:
        """Then the time that passed is rather that of failures."""
        return self.operations < 2 * self.errors

    @property
    def rate(self) -> float:
        """Bytes per second while operations were in progress."""
        return self.bytes / self.active_s if self.active_s else 0.0

    @property
    def operation_rate(self) -> float:
        return self.operations / self.active_s if self.active_s else 0.0

    @property
    def finish_share(self) -> float:
        return self.finish_s / self.elapsed_s if self.elapsed_s else 0.0


@dataclass(frozen=True, slots=True)
class HopFigures:
    """One hop in one execution, short enough to be kept for every repeat."""

    operations: int
    errors: int
    bytes: int
    duration_s: float
    active_s: float

    @property
    def bytes_per_s(self) -> float | None:
        return self.bytes / self.duration_s if self.duration_s else None


@dataclass(frozen=True, slots=True)
class ExecutionFigures:
    """One execution, kept for every repeat; ``hops`` in the flow's order, None without operations."""

    repeat: int
    flow: int
    number: int
    start_ns: int
    end_ns: int
    complete: bool
    users: int
    errors: int
    hops: tuple[HopFigures | None, ...]
    sawteeth: tuple[Sawtooth | None, ...] = ()
    """In the hops' order; nothing of requests, whose pace people set."""

    @property
    def duration_s(self) -> float:
        return seconds(self.end_ns - self.start_ns)


def execution_figures(execution: Execution, flow: Flow) -> ExecutionFigures:
    """The figures that are wanted of every repeat."""
    return ExecutionFigures(
        repeat=execution.repeat,
        flow=execution.flow,
        number=execution.number,
        start_ns=execution.start_ns,
        end_ns=execution.end_ns,
        complete=execution.complete,
        users=execution.window.users if execution.window else 0,
        errors=int((~execution.ok).sum()),
        hops=tuple(_hop_figures(execution, hop) for hop in flow.hops),
        sawteeth=()
        if flow.frequency.kind is FrequencyKind.PER_REQUEST
        else tuple(sawtooth(execution, hop) for hop in flow.hops),
    )


def stage_figures(execution: Execution, flow: Flow, stage: Stage) -> StageFigures | None:
    """Everything that samples say of one stage; None if it had no operation."""
    mine = execution.stage == stage.index
    elapsed = execution.elapsed[mine]
    if not len(elapsed):
        return None
    cpu, known = execution.cpu[mine], execution.cpu[mine] >= 0
    io = execution.io_bytes[mine]
    workers = workers_of(execution, stage.index)
    start, end = execution.start[mine], execution.end[mine]
    known_elapsed = int(elapsed[known].sum())
    return StageFigures(
        stage=stage,
        flow=flow.name,
        workers=workers,
        operations=len(elapsed),
        errors=int((~execution.ok[mine]).sum()),
        bytes=int(execution.bytes[mine].sum()),
        wall_s=seconds(execution.wall_ns),
        present_s=seconds(int((end + execution.blocked[mine]).max()) - execution.start_ns),
        elapsed_s=seconds(int(elapsed.sum())),
        active_s=seconds(union_ns(start, end)),
        in_progress=merged(start, end),
        setup_s=seconds(int(execution.setup[mine].sum())),
        finish_s=seconds(int(execution.finish[mine].sum())),
        cpu_s=seconds(int(cpu[known].sum())) if known.any() else None,
        cpu_share=float(cpu[known].sum() / known_elapsed) if known_elapsed else None,
        io_bytes=int(io[io >= 0].sum()) if (io >= 0).any() else None,
        idle=_spell(np.maximum(0, elapsed - np.maximum(cpu, 0))),
        time=stage_time(execution, stage.index, workers),
        latency=latency(elapsed[execution.ok[mine]]),
        parts=_parts(execution, mine),
    )


def throughput(chosen: HopFigures, repeats: Sequence[HopFigures]) -> Throughput:
    """Of the flow's median repeat, with the interval over all of them, which holds that repeat's too."""
    low, high = interval([rate for hop in repeats if (rate := hop.bytes_per_s) is not None])
    if chosen.bytes_per_s is not None and low is not None and high is not None:
        low, high = min(low, chosen.bytes_per_s), max(high, chosen.bytes_per_s)
    return Throughput(
        bytes_per_s=chosen.bytes_per_s,
        low=low,
        high=high,
        active_bytes_per_s=chosen.bytes / chosen.active_s if chosen.active_s else None,
        operations_per_s=chosen.operations / chosen.duration_s if chosen.duration_s else None,
    )


def _hop_figures(execution: Execution, hop: Hop) -> HopFigures | None:
    """Time is that of all its stages; operations and bytes are its main stage's."""
    mine = np.isin(execution.stage, hop.stages)
    main = execution.stage == hop.main_stage
    if not mine.any():
        return None
    if not execution.elapsed[mine].any():
        # Handed on unread: the reading happens within the next place's operations.
        mine |= execution.stage == hop.stages[-1] + 1
    start, end = execution.start[mine], execution.end[mine]
    return HopFigures(
        operations=int(main.sum()),
        errors=int((~execution.ok[mine]).sum()),
        bytes=int(execution.bytes[main].sum()),
        duration_s=seconds(int(end.max() - start[0])),
        active_s=seconds(union_ns(start, end)),
    )


def _spell(values: Ints) -> Spell:
    p10, p50, p90 = (seconds(float(value)) for value in np.percentile(values, (10, 50, 90)))
    return Spell(p10, p50, p90)


def _parts(execution: Execution, mine: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Parts | None:
    """Medians over the operations that succeeded; None where there is none."""
    mine = mine & execution.ok
    if not mine.any():
        return None
    setup, finish = execution.setup[mine], execution.finish[mine]
    body = execution.elapsed[mine] - setup - finish
    stat = execution.stat[mine]
    known = stat[stat >= 0]
    stat_s = seconds(float(np.median(known))) if len(known) else None
    setup_s, body_s, finish_s = (seconds(float(np.median(part))) for part in (setup, body, finish))
    return Parts(setup_s, body_s, finish_s, stat_s)
