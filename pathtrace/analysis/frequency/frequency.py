"""How often data really moves: declared by the user, observed from bytes pathtrace did not move itself.

Observed frequency comes from a model server's own counters over the requests of the run, which
``rereading`` reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.frequency.eviction import Reason, reason
from pathtrace.analysis.frequency.idle_loads import idle_loads
from pathtrace.analysis.frequency.reloads import Calls, Told, told_by
from pathtrace.analysis.frequency.rereading import (
    AGAIN,
    FEWEST_REQUESTS,
    WHOLE,
    Ending,
    Rereading,
    rereading,
)
from pathtrace.model.report import Finding, FrequencyReport
from pathtrace.model.scenario import Flow, FrequencyKind, Hop, PlaceKind
from pathtrace.units import format_bytes, format_duration, format_ratio

KEPT = 0.05
"""Share of the weights read per request below which they count as kept in memory."""
NEARLY_ALL = 0.9
"""From this share on, a model that its server loaded for so many requests is loaded for every one."""
DRIVEN = "driven by the replay"


@dataclass(frozen=True, slots=True)
class Observed:
    """Of one per-load hop: the report, how many loads a request really causes, and what to say first."""

    report: FrequencyReport
    loads_per_request: float | None
    finding: Finding | None
    loading_s: float | None = None
    """What loading takes of each request at least, where that could be seen."""
    remedy: str | None = None
    """What would end the loading, where its reason was seen."""


def observe(
    flow: Flow,
    hop: Hop,
    evidence: Evidence,
    asked: Sequence[Ending],
    weights: int,
    calls: Sequence[Calls] = (),
) -> Observed:
    """Of any hop. ``asked``: the requests of all executions whose path leads through the hop's model;
    ``weights``: bytes that one load reads; ``calls``: what model servers said of loading."""
    declared = flow.frequency.text
    if not _loads_model(flow, hop, evidence):
        finding = _loaded_meanwhile(flow, hop, evidence, calls)
        return Observed(FrequencyReport(declared, None, DRIVEN), None, finding)
    if evidence.place(hop.destination).stand_in:
        return Observed(FrequencyReport(declared, None, DRIVEN), None, None)
    reading = rereading(evidence, hop.destination, asked, weights)
    told = told_by(hop.destination, [each for each in calls if each.by_request], evidence.run.scenario)
    if told is not None and (told.share > KEPT or reading is None):
        return _as_told(declared, hop, told, reading, evidence)
    if reading is None:
        text = _why_not(evidence, hop.destination, asked)
        return Observed(FrequencyReport(declared, None, f"{DRIVEN}; {text}"), None, None)
    why = reason(evidence, hop.destination, reading, asked, weights)
    return _judge(declared, hop, reading, weights, evidence, why)


def _loads_model(flow: Flow, hop: Hop, evidence: Evidence) -> bool:
    """True for the hop that brings weights to a model, of a flow that should be rare."""
    rare = flow.frequency.kind in (FrequencyKind.PER_LOAD, FrequencyKind.ONCE)
    return rare and hop is flow.hops[-1] and evidence.place(hop.destination).kind is PlaceKind.INFERENCE


def _as_told(declared: str, hop: Hop, told: Told, reading: Rereading | None, evidence: Evidence) -> Observed:
    """By what the server said of itself, which counters of its process may not show."""
    read = reading.bytes_per_request if reading is not None else None
    if told.share <= KEPT:
        report = FrequencyReport(declared, str(FrequencyKind.PER_LOAD), told.text, read)
        return Observed(report, None, None)
    often = "every request" if told.share >= NEARLY_ALL else f"{format_ratio(told.share)} of requests"
    text = f"declared {declared}, observed at {often}: {told.text}"
    report = FrequencyReport(declared, str(FrequencyKind.PER_REQUEST), text, read)
    per_request_s = told.share * told.load_s
    per_day = format_duration(per_request_s * evidence.run.scenario.workload.requests_per_day)
    finding = Finding("frequency", f"{hop.name}: {text}", (told.teller, f"loading takes {per_day} a day"))
    return Observed(report, told.share, finding, per_request_s)


def _loaded_meanwhile(flow: Flow, hop: Hop, evidence: Evidence, calls: Sequence[Calls]) -> Finding | None:
    """Of a hop that a model works for, and no flow loads: said where the model does not stay."""
    place = evidence.place(hop.source)
    if place.kind is not PlaceKind.INFERENCE or evidence.weights_of(place.name) is not None:
        return None
    mine = [each for each in calls if each.flow == flow.name]
    told = told_by(place.name, mine, evidence.run.scenario)
    if told is None or told.share <= KEPT:
        return None
    text = f"{hop.name}: {place.name} is loaded anew while {flow.name} runs: {told.text}"
    return Finding("frequency", text, (told.teller,))


def _judge(
    declared: str, hop: Hop, reading: Rereading, weights: int, evidence: Evidence, why: Reason | None
) -> Observed:
    per_request = reading.bytes_per_request
    share = per_request / weights if weights else 0.0
    if 0 < reading.later_loads < NEARLY_ALL * reading.later and share < NEARLY_ALL:
        return _at_some(declared, hop, reading, weights, evidence, why)
    if share < KEPT:
        text = (
            f"its server read {format_bytes(per_request)} per request over {reading.requests} requests, "
            f"of {format_bytes(weights)} of weights: they stay loaded"
        )
        gaps = evidence.run.scenario.control.idle_gaps_s
        again = [found for gap in gaps if (found := idle_loads(evidence, hop.destination, gap)) is not None]
        text = "; ".join([text, *(each.text for each in again)])
        observed = str(FrequencyKind.PER_LOAD) if weights else None
        return Observed(FrequencyReport(declared, observed, text, per_request), None, None)
    anew = AGAIN[reading.counter.source]
    what = f"{anew} each time" if share >= WHOLE else f"of {format_bytes(weights)} {anew} each time"
    text = (
        f"declared {declared}, observed at every request: {format_bytes(per_request)} {what} "
        f"({format_bytes(reading.total_bytes)} over {reading.requests} requests)"
    )
    report = FrequencyReport(declared, str(FrequencyKind.PER_REQUEST), text, per_request)
    source = f"{reading.counter.source} of the server behind {hop.destination}"
    seen = (source, *([why.text] if why else []), *_cost(reading.loading_s, evidence))
    finding = Finding("frequency", f"{hop.name}: {text}", seen)
    remedy = why.remedy if why else None
    return Observed(report, 1.0 if share >= WHOLE else share, finding, reading.loading_s, remedy)


def _at_some(
    declared: str, hop: Hop, reading: Rereading, weights: int, evidence: Evidence, why: Reason | None
) -> Observed:
    """Loaded whole at some requests and not at the others."""
    often = reading.later_loads / reading.later
    text = (
        f"declared {declared}, loaded again at {reading.later_loads} of {reading.later} later requests: "
        f"{format_bytes(weights)} {AGAIN[reading.counter.source]} each time"
    )
    kind = FrequencyKind.PER_REQUEST if reading.later_loads > 1 else FrequencyKind.PER_LOAD
    report = FrequencyReport(declared, str(kind), text, reading.bytes_per_request)
    source = f"{reading.counter.source} of the server behind {hop.destination}"
    loading_s = None if reading.loading_s is None else often * reading.loading_s
    seen = (source, *([why.text] if why else []), *_cost(loading_s, evidence))
    finding = Finding("frequency", f"{hop.name}: {text}", seen)
    return Observed(report, often, finding, loading_s, why.remedy if why else None)


def _cost(loading_s: float | None, evidence: Evidence) -> tuple[str, ...]:
    """``loading_s``: of a request, on average."""
    if loading_s is None:
        return ()
    per_day = loading_s * evidence.run.scenario.workload.requests_per_day
    took = format_duration(loading_s)
    return (f"it takes at least {took} of each request: {format_duration(per_day)} a day",)


def _why_not(evidence: Evidence, model: str, asked: Sequence[Ending]) -> str:
    if not any(len(ending.ends_ns) >= FEWEST_REQUESTS for ending in asked):
        return "too few requests to its model to tell"
    reached = evidence.reached(model)
    if reached is None or reached.server_pid is None:
        return "the process of its server cannot be seen from here"
    return "the server's I/O counters cannot be read from here"
