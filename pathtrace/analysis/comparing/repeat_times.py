"""Times of each flow and hop, one a repeat, for holding runs against each other.

What an execution took; of requests that arrive at a rate (which sets how long all of them take), what
one request took on average.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pathtrace.analysis.executions import Execution, executions
from pathtrace.analysis.requests import per_request
from pathtrace.analysis.summary import execution_figures
from pathtrace.model.run import Run
from pathtrace.model.scenario import Flow, FrequencyKind
from pathtrace.units import seconds


@dataclass(frozen=True, slots=True)
class FlowTimes:
    """Seconds per repeat: of the flow, and by hop (only repeats in which it had operations)."""

    flow: tuple[float, ...]
    hops: Mapping[str, tuple[float, ...]]
    errors: int
    """Failed operations of all of these repeats."""


@dataclass(frozen=True, slots=True)
class _Pass:
    number: int
    complete: bool
    took_s: float
    hops: Mapping[str, float]
    errors: int


def repeat_times(run: Run) -> Mapping[str, FlowTimes]:
    """Of each flow that was measured, its first execution in each repeat; complete ones before others."""
    passes: dict[str, list[_Pass]] = {}
    for part in executions(run):
        if len(part):
            flow = run.scenario.flows[part.flow]
            passes.setdefault(flow.name, []).append(_pass(run, flow, part))
        del part  # its memory, before the next one takes as much
    return {name: _times(each) for name, each in passes.items()}


def _times(passes: Sequence[_Pass]) -> FlowTimes:
    first = min(each.number for each in passes)
    mine = [each for each in passes if each.number == first]
    counted = [each for each in mine if each.complete] or mine
    names = dict.fromkeys(name for each in counted for name in each.hops)
    return FlowTimes(
        tuple(each.took_s for each in counted),
        {name: tuple(each.hops[name] for each in counted if name in each.hops) for name in names},
        sum(each.errors for each in counted),
    )


def _pass(run: Run, flow: Flow, part: Execution) -> _Pass:
    figures = execution_figures(part, flow)
    hops = {
        hop.name: found.duration_s
        for hop, found in zip(flow.hops, figures.hops, strict=True)
        if found is not None
    }
    took_s = figures.duration_s
    paced = run.scenario.workload.rate_per_s is not None
    if paced and flow.frequency.kind is FrequencyKind.PER_REQUEST:
        answered = per_request(part, len(flow.stages))
        took_s = answered.total_s if answered is not None else took_s
        hops = _per_request_hops(flow, part)
    return _Pass(part.number, figures.complete, took_s, hops, figures.errors)


def _per_request_hops(flow: Flow, part: Execution) -> dict[str, float]:
    """Mean seconds of work that one request is to each hop."""
    count = len(np.unique(part.request[part.request >= 0])) or 1
    return {
        hop.name: seconds(float(part.elapsed[mine].sum()) / count)
        for hop in flow.hops
        if (mine := np.isin(part.stage, hop.stages)).any()
    }
