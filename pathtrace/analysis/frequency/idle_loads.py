"""Whether a model was loaded again at the first request after a pause, by its server's counters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.frequency.rereading import (
    AGAIN,
    ARRIVED,
    COUNTERS,
    GREW,
    MEMORY,
    READ,
    WHOLE,
    Counter,
)
from pathtrace.units import format_bytes, format_duration, seconds


@dataclass(frozen=True, slots=True)
class IdleLoads:
    """That a model was loaded at the first request after a pause, and by what it was seen."""

    text: str
    source: str
    loading_s: float
    """From the request until the last byte was there, median."""


def idle_loads(evidence: Evidence, model: str, idle_s: float) -> IdleLoads | None:
    """Of the pauses of one length; None if its weights were not taken in after most of them."""
    run, size = evidence.run, evidence.weights_bytes(model) or 0
    spans = [
        (window.start_ns, window.end_ns)
        for window in run.windows
        if window.idle_s == idle_s and window.repeat >= 0 and model in run.scenario.flows[window.flow].path
    ]
    for counter in (*(Counter(model, *each, READ) for each in COUNTERS), Counter(model, *MEMORY, GREW)):
        taken = [(span, _taken(evidence, counter, span)) for span in spans]
        again = [(span, each) for span, each in taken if size and each is not None and each >= WHOLE * size]
        if again and 2 * len(again) > len([each for _, each in taken if each is not None]):
            return _loaded_again(evidence, counter, idle_s, again, len(taken), size)
    return None


def _taken(evidence: Evidence, counter: Counter, span: tuple[int, int]) -> float | None:
    values = counter.at(evidence, np.array(span, dtype=np.float64))
    return None if values is None else float(values[1] - values[0])


def _loaded_again(
    evidence: Evidence,
    counter: Counter,
    idle_s: float,
    again: Sequence[tuple[tuple[int, int], float]],
    pauses: int,
    size: int,
) -> IdleLoads:
    each = float(np.median([taken for _, taken in again]))
    shown = format_bytes(each if counter.source is READ else min(each, float(size)))
    took = [seconds(evidence.counters.reached(*counter.name, span, ARRIVED) - span[0]) for span, _ in again]
    pause = f"loaded again after {format_duration(idle_s)} without requests"
    text = f"{pause}: {shown} {AGAIN[counter.source]} in {len(again)} of {pauses} pauses"
    return IdleLoads(text, counter.source, float(np.median(took)))
