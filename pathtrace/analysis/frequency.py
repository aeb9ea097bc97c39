"""How often data really moves: declared by the user, observed from bytes pathtrace did not move itself.

Observed frequency comes from a model server's own counters over the requests of the run, fitted as
``bytes = a + b·requests``: what is loaded once lies in ``a``, what is read anew each time in ``b``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pathtrace.analysis.counters import Floats
from pathtrace.analysis.evidence import PAGE_BYTES, Evidence
from pathtrace.analysis.executions import Execution
from pathtrace.model.report import Finding, FrequencyReport
from pathtrace.model.scenario import Flow, FrequencyKind, Hop, PlaceKind
from pathtrace.units import format_bytes

KEPT = 0.05
"""Share of the weights read per request below which they count as kept in memory."""
WHOLE = 0.5
"""From this share on, the weights are taken to be read whole each time."""
FEWEST_REQUESTS = 2
DRIVEN = "driven by the replay"

_COUNTERS = (("read_bytes", 1.0), ("rchar_bytes", 1.0), ("major_faults", float(PAGE_BYTES)))


@dataclass(frozen=True, slots=True)
class Ending:
    """When the requests of one execution ended, and when the first began: nanoseconds."""

    flow: str
    start_ns: int
    ends_ns: Floats


@dataclass(frozen=True, slots=True)
class Rereading:
    """What a model's server read while requests were answered, by its own counters."""

    bytes_per_request: float
    total_bytes: float
    requests: int


@dataclass(frozen=True, slots=True)
class Observed:
    """Of one per-load hop: the report, how many loads a request really causes, and what to say first."""

    report: FrequencyReport
    loads_per_request: float | None
    finding: Finding | None


def endings(execution: Execution, flow: Flow) -> Ending:
    """The end of each request of an execution, ascending."""
    asked = execution.request >= 0
    requests, inverse = np.unique(execution.request[asked], return_inverse=True)
    ends = np.zeros(len(requests), dtype=np.int64)
    np.maximum.at(ends, inverse, execution.end[asked])
    return Ending(flow.name, execution.start_ns, np.sort(ends).astype(np.float64))


def observe(flow: Flow, hop: Hop, evidence: Evidence, asked: Sequence[Ending], weights: int) -> Observed:
    """Of any hop. ``asked``: the requests of all executions whose path leads through the hop's model;
    ``weights``: bytes that one load reads."""
    declared = flow.frequency.text
    destination = evidence.place(hop.destination)
    loads = flow.frequency.kind in (FrequencyKind.PER_LOAD, FrequencyKind.ONCE)
    if destination.kind is not PlaceKind.INFERENCE or not loads or hop is not flow.hops[-1]:
        return Observed(FrequencyReport(declared, None, DRIVEN), None, None)
    if destination.stand_in:
        return Observed(FrequencyReport(declared, None, DRIVEN), None, None)
    reading = rereading(evidence, hop.destination, asked)
    if reading is None:
        text = _why_not(evidence, hop.destination, asked)
        return Observed(FrequencyReport(declared, None, f"{DRIVEN}; {text}"), None, None)
    return _judge(declared, hop, reading, weights)


def rereading(evidence: Evidence, model: str, asked: Sequence[Ending]) -> Rereading | None:
    """The counter that shows the most per request; None if the server or its requests are not seen."""
    found = [
        reading
        for metric, factor in _COUNTERS
        if (reading := _by_counter(evidence, model, metric, factor, asked)) is not None
    ]
    return max(found, key=lambda reading: reading.bytes_per_request) if found else None


def _by_counter(
    evidence: Evidence, model: str, metric: str, factor: float, asked: Sequence[Ending]
) -> Rereading | None:
    slopes: list[float] = []
    total, requests = 0.0, 0
    for ending in asked:
        if len(ending.ends_ns) < FEWEST_REQUESTS:
            continue
        moments = np.concatenate(([float(ending.start_ns)], ending.ends_ns))
        values = evidence.counters.at("process", model, metric, moments)
        if values is None:
            continue
        read = (values - values[0]) * factor
        slopes.append(slope(read[1:]))
        total += float(read[-1])
        requests += len(ending.ends_ns)
    if not slopes:
        return None
    return Rereading(max(0.0, float(np.median(slopes))), total, requests)


def slope(read: Floats) -> float:
    """``b`` of ``bytes = a + b·requests`` by least squares over requests 1, 2, …: a first load is ``a``."""
    count = np.arange(len(read), dtype=np.float64)
    centred = count - count.mean()
    return float((centred * read).sum() / (centred * centred).sum())


def _judge(declared: str, hop: Hop, reading: Rereading, weights: int) -> Observed:
    per_request = reading.bytes_per_request
    share = per_request / weights if weights else 0.0
    if share < KEPT:
        text = (
            f"its server read {format_bytes(per_request)} per request over {reading.requests} requests, "
            f"of {format_bytes(weights)} of weights: they stay loaded"
        )
        observed = str(FrequencyKind.PER_LOAD) if weights else None
        return Observed(FrequencyReport(declared, observed, text, per_request), None, None)
    what = "re-read each time" if share >= WHOLE else f"of {format_bytes(weights)} re-read each time"
    text = (
        f"declared {declared}, observed at every request: {format_bytes(per_request)} {what} "
        f"({format_bytes(reading.total_bytes)} over {reading.requests} requests)"
    )
    report = FrequencyReport(declared, str(FrequencyKind.PER_REQUEST), text, per_request)
    finding = Finding(
        "frequency", f"{hop.name}: {text}", (f"I/O counters of the server behind {hop.destination}",)
    )
    return Observed(report, 1.0 if share >= WHOLE else share, finding)


def _why_not(evidence: Evidence, model: str, asked: Sequence[Ending]) -> str:
    if not any(len(ending.ends_ns) >= FEWEST_REQUESTS for ending in asked):
        return "too few requests to its model to tell"
    reached = evidence.reached(model)
    if reached is None or reached.server_pid is None:
        return "the process of its server cannot be seen from here"
    return "the server's I/O counters cannot be read from here"
