"""What a model's server took in while requests were answered, by its own counters and memory.

Fitted as ``bytes = a + b·requests``: what is loaded once lies in ``a``, what is read anew each time in
``b``. What that means for a hop's frequency is ``frequency``'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pathtrace.analysis.counters import Floats
from pathtrace.analysis.evidence import PAGE_BYTES, Evidence
from pathtrace.analysis.executions import Execution, Ints
from pathtrace.analysis.timeuse import merged
from pathtrace.model.scenario import Action, Flow
from pathtrace.units import seconds

WHOLE = 0.5
"""From this share on, the weights are taken to be read whole each time."""
FEWEST_REQUESTS = 2
READ = "I/O counters"
GREW = "resident memory"
AGAIN = {READ: "re-read", GREW: "mapped anew, from this host's memory,"}
ARRIVED = 0.99
"""Of what was read: when so much of it had come, loading was over."""
COUNTERS = (("read_bytes", 1.0), ("rchar_bytes", 1.0), ("major_faults", float(PAGE_BYTES)))
MEMORY = ("rss_bytes", 1.0)
"""A gauge: falls are taken for restarts, so that what counts is how much it grew."""
_AT_A_MODEL = (Action.EMBED, Action.GENERATE)

Spans = tuple[Ints, Ints]


@dataclass(frozen=True, slots=True)
class Ending:
    """Of one execution: when its requests ended, when the first began, when models worked: nanoseconds."""

    flow: str
    start_ns: int
    ends_ns: Floats
    at_work: Mapping[str, Spans]
    """Per model: starts and ends of its part of each request, ascending by end."""


class Counter(NamedTuple):
    """One of the counters of the process behind a model; ``factor`` makes bytes of it."""

    model: str
    metric: str
    factor: float
    source: str

    @property
    def name(self) -> tuple[str, str, str]:
        return "process", self.model, self.metric

    def at(self, evidence: Evidence, moments_ns: Floats) -> Floats | None:
        """Bytes up to each moment."""
        values = evidence.counters.at(*self.name, moments_ns)
        return None if values is None else values * self.factor


@dataclass(frozen=True, slots=True)
class Rereading:
    """What a model's server took in while requests were answered."""

    bytes_per_request: float
    total_bytes: float
    requests: int
    counter: Counter
    loading_s: float | None = None
    """From the beginning of a request's part at the model until its last byte was there."""
    later: int = 0
    """Requests that were not the first of their execution, which may load what nobody had asked for."""
    later_loads: int = 0
    """Those of them that took in most of the weights."""


def endings(execution: Execution, flow: Flow) -> Ending:
    """The end of each request of an execution, ascending."""
    _, ends = _bounds(execution, execution.request >= 0)
    return Ending(
        flow.name,
        execution.start_ns,
        np.sort(ends).astype(np.float64),
        {
            stage.place: _bounds(execution, np.isin(execution.stage, _part(flow, stage.index)))
            for stage in flow.stages
            if stage.action in _AT_A_MODEL
        },
    )


def _part(flow: Flow, first: int) -> list[int]:
    """A model's stage, with the delivery of its answer."""
    following = [
        stage.index for stage in flow.stages[first + 1 : first + 2] if stage.action is Action.DELIVER
    ]
    return [first, *following]


def _bounds(execution: Execution, mine: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Spans:
    """First start and last end of each request's chosen operations, ascending by end."""
    requests, inverse = np.unique(execution.request[mine], return_inverse=True)
    starts = np.full(len(requests), np.iinfo(np.int64).max, dtype=np.int64)
    ends = np.zeros(len(requests), dtype=np.int64)
    np.minimum.at(starts, inverse, execution.start[mine])
    np.maximum.at(ends, inverse, execution.end[mine])
    order = np.argsort(ends, kind="stable")
    return starts[order], ends[order]


def rereading(evidence: Evidence, model: str, asked: Sequence[Ending], weights: int) -> Rereading | None:
    """By the counter that shows the most per request; None if the server or its requests are not seen.

    Where nothing was read, the server's memory may still have grown by the weights at each request:
    they were mapped anew, and their pages were in this host's memory. ``weights``: bytes of one load.
    """
    read = _most(evidence, [Counter(model, *each, READ) for each in COUNTERS], asked, weights)
    if read is None or not weights or read.bytes_per_request >= WHOLE * weights:
        return read
    grew = _most(evidence, [Counter(model, *MEMORY, GREW)], asked, weights)
    if grew is None or grew.bytes_per_request < WHOLE * weights:
        return read
    # Working memory grows too: of the weights it was no more than all.
    return replace(
        grew,
        bytes_per_request=min(grew.bytes_per_request, float(weights)),
        total_bytes=min(grew.total_bytes, float(weights * grew.requests)),
    )


def _most(
    evidence: Evidence, counters: Sequence[Counter], asked: Sequence[Ending], weights: int
) -> Rereading | None:
    found = [
        reading
        for counter in counters
        if (reading := _by_counter(evidence, counter, asked, weights)) is not None
    ]
    return max(found, key=lambda reading: reading.bytes_per_request) if found else None


def _by_counter(
    evidence: Evidence, counter: Counter, asked: Sequence[Ending], weights: int
) -> Rereading | None:
    slopes: list[float] = []
    loading: list[float] = []
    total, requests, later, later_loads = 0.0, 0, 0, 0
    for ending in asked:
        if _answered(ending, counter.model) < FEWEST_REQUESTS:
            continue
        read = _read_so_far(evidence, counter, ending)
        if read is None:
            continue
        slopes.append(slope(read))
        took = [took for _, took in loads(evidence, counter, ending, weights)]
        loading += [each for each in took if each is not None]
        later += len(took[1:])
        later_loads += sum(each is not None for each in took[1:])
        total += float(read[-1])
        requests += len(read)
    if not slopes:
        return None
    return Rereading(
        bytes_per_request=max(0.0, float(round(np.median(slopes)))),
        total_bytes=total,
        requests=requests,
        counter=counter,
        loading_s=float(np.median(loading)) if loading else None,
        later=later,
        later_loads=later_loads,
    )


def _answered(ending: Ending, model: str) -> int:
    """Requests that came to the model at all."""
    starts, _ = ending.at_work.get(model, (ending.ends_ns, None))
    return len(starts)


def _read_so_far(evidence: Evidence, counter: Counter, ending: Ending) -> Floats | None:
    """At the end of each request: bytes read since the first began; of a server that other places use
    too, only while it worked for this one."""
    model = counter.model
    if model not in ending.at_work or not evidence.shares_server(model):
        moments = np.concatenate(([float(ending.start_ns)], ending.ends_ns))
        values = counter.at(evidence, moments)
        return None if values is None else values[1:] - values[0]
    starts, ends = ending.at_work[model]
    if not len(ends):
        return None  # no request came as far as the model
    by_start = np.argsort(starts, kind="stable")
    heads, tails = merged(starts[by_start], ends[by_start])
    values = counter.at(evidence, np.concatenate((heads, tails, ends)).astype(np.float64))
    if values is None:
        return None
    count = len(heads)
    at_heads, at_tails, at_ends = values[:count], values[count : 2 * count], values[2 * count :]
    before = np.concatenate(([0.0], np.cumsum(at_tails - at_heads)))
    within = np.searchsorted(tails, ends)
    return np.asarray(before[within] + at_ends - at_heads[within])


def loads(
    evidence: Evidence, counter: Counter, ending: Ending, weights: int
) -> list[tuple[int, float | None]]:
    """Of each request's part at the model: when it began, and the seconds until the last byte of the
    weights had come if it took them in, else None."""
    found: list[tuple[int, float | None]] = []
    starts, ends = ending.at_work.get(counter.model, (np.empty(0), np.empty(0)))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        read = counter.at(evidence, np.array([start, end], dtype=np.float64))
        whole = read is not None and weights > 0 and read[1] - read[0] >= WHOLE * weights
        arrived = evidence.counters.reached(*counter.name, (start, end), ARRIVED) if whole else None
        found.append((start, None if arrived is None else seconds(arrived - start)))
    return found


def slope(read: Floats) -> float:
    """``b`` of ``bytes = a + b·requests`` by least squares over requests 1, 2, …: a first load is ``a``."""
    count = np.arange(len(read), dtype=np.float64)
    centred = count - count.mean()
    return float((centred * read).sum() / (centred * centred).sum())
