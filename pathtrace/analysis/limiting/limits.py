"""What limits each stage while it works, and each hop: its neighbours' limit if it only waits for them.

The rules for each kind of work are in ``reading``, ``processing`` and ``serving``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pathtrace.analysis.evidence import Evidence, Span
from pathtrace.analysis.limiting.far_limits import hung
from pathtrace.analysis.limiting.limit import MOSTLY, TIE, TRACER, UNKNOWN, Limit, unknown
from pathtrace.analysis.limiting.processing import process_limit
from pathtrace.analysis.limiting.reading import load_limit, read_limit, write_limit
from pathtrace.analysis.limiting.serving import insert_limit, lookup_limit, model_limit
from pathtrace.analysis.summary import StageFigures
from pathtrace.model.report import LimitedBy, Segment
from pathtrace.model.scenario import Action, Flow, FrequencyKind, Hop
from pathtrace.units import format_ratio

MEASURE_ANYTHING = "run it again until at least one operation of this hop has finished"


@dataclass(frozen=True, slots=True)
class Judged:
    """A stage's figures with what limits it."""

    figures: StageFigures
    limit: Limit


def judge(figures: StageFigures, flow: Flow, evidence: Evidence, span: Span) -> Judged:
    """A stage's limit while it is busy, by the kind of its work."""
    return Judged(figures, _limit(figures, flow, evidence, span))


def _limit(figures: StageFigures, flow: Flow, evidence: Evidence, span: Span) -> Limit:
    if figures.mostly_failed:
        return hung(figures, evidence, span, figures.stage.place) or _failures(figures)
    match figures.stage.action:
        case Action.READ:
            return read_limit(figures, evidence, span)
        case Action.WRITE:
            return write_limit(figures, evidence, span)
        case Action.PROCESS:
            return process_limit(figures, flow, evidence, span)
        case Action.INSERT:
            return insert_limit(figures, evidence, span)
        case Action.LOOKUP:
            return lookup_limit(figures, evidence, span)
        case Action.LOAD:
            return load_limit(figures, evidence, span)
        case _:
            return model_limit(figures, flow, evidence, span)


def _failures(figures: StageFigures) -> Limit:
    """What passed is the time of failures, which no faster part would shorten."""
    failed = f"{figures.errors} of {figures.operations} operations failed"
    what = "the command" if figures.stage.action is Action.PROCESS else "what failed"
    return unknown(
        ("every operation failed" if figures.all_failed else failed,), f"mend {what}, then run again"
    )


def hop_limits(flow: Flow, stages: Mapping[int, Judged], path: Sequence[Segment]) -> list[LimitedBy]:
    """Of every hop of a flow. ``path``: its critical path, for near ties and for hand-over."""
    own = [_own_limit(hop, stages) for hop in flow.hops]
    return [_hop_limit(flow, index, own, stages, path) for index in range(len(flow.hops))]


def totals(path: Sequence[Segment]) -> dict[str, float]:
    """Seconds per resource, largest first."""
    sums: dict[str, float] = {}
    for part in path:
        sums[part.resource] = sums.get(part.resource, 0.0) + part.seconds
    return dict(sorted(sums.items(), key=lambda pair: -pair[1]))


def not_measured(reason: str) -> LimitedBy:
    """Of a hop that never ran."""
    return LimitedBy(UNKNOWN, (), UNKNOWN, (reason,), "repair what is named, then run again")


def _own_limit(hop: Hop, stages: Mapping[int, Judged]) -> Limit:
    """The limit of the hop's fullest stage; of one that no operation reached, nothing is known."""
    judged = [stages[index] for index in hop.stages if index in stages]
    if not judged:
        return Limit(UNKNOWN, ("no operation of it was recorded",), next_measurement=MEASURE_ANYTHING)
    return max(judged, key=lambda each: each.figures.elapsed_s / each.figures.workers).limit


def _hop_limit(
    flow: Flow,
    index: int,
    own: Sequence[Limit],
    stages: Mapping[int, Judged],
    path: Sequence[Segment],
) -> LimitedBy:
    holder, why = _holder(flow, index, stages)
    limit = (own[holder].resource != TRACER and _handover(flow.hops[holder], path)) or own[holder]
    ties = (*limit.also, *_near(limit.resource, totals(path)), *(own[index].also if holder != index else ()))
    also = tuple(dict.fromkeys(name for name in ties if name != limit.resource))
    following = limit.next_measurement
    if limit.resource != UNKNOWN and own[index].resource == UNKNOWN:
        following = own[index].next_measurement
    return LimitedBy(
        limit.resource, also, own[index].resource, (*why, *_evidence(limit, own[holder])), following
    )


def _evidence(limit: Limit, own: Limit) -> tuple[str, ...]:
    return limit.evidence if limit is own else (*limit.evidence, *own.evidence)


def _handover(hop: Hop, path: Sequence[Segment]) -> Limit | None:
    """pathtrace itself, where most of a hop's part of the path lies between its operations."""
    spent = totals([part for part in path if part.hop == hop.name])
    share = spent.get(TRACER, 0.0) / (sum(spent.values()) or 1.0)
    if share < MOSTLY:
        return None
    text = f"{format_ratio(share)} of its part of the critical path is pathtrace's own work and hand-over"
    return Limit(TRACER, (text,), utilisation=share)


def _holder(flow: Flow, index: int, stages: Mapping[int, Judged]) -> tuple[int, tuple[str, ...]]:
    """The hop that this one waits for, itself if none; and the shares of time that say so."""
    if flow.frequency.kind is FrequencyKind.PER_REQUEST:
        return index, ()
    texts: list[str] = []
    at = index
    while at + 1 < len(flow.hops) and (share := _blocked(flow.hops[at], stages)) >= MOSTLY:
        texts.append(f"{flow.hops[at].name} is blocked {format_ratio(share)} of the time")
        at += 1
    if at == index:
        while at > 0 and (share := _starved(flow.hops[at], stages)) >= MOSTLY:
            texts.append(f"{flow.hops[at].name} is starved {format_ratio(share)} of the time")
            at -= 1
    return at, tuple(texts)


def _blocked(hop: Hop, stages: Mapping[int, Judged]) -> float:
    """The share of its last stage's time: what that hands on finds the next hop full."""
    last = stages.get(hop.stages[-1]) if hop.stages else None
    return _share(last.figures, last.figures.time.blocked_s) if last else 0.0


def _starved(hop: Hop, stages: Mapping[int, Judged]) -> float:
    """The least share of any of its stages: one that works or is blocked is not kept by the hop before."""
    return min((_kept_waiting(stages[index].figures) for index in hop.stages if index in stages), default=0.0)


def _kept_waiting(figures: StageFigures) -> float:
    present_s = figures.present_s * figures.workers
    return _share(figures, present_s - figures.time.busy_s - figures.time.blocked_s)


def _share(figures: StageFigures, part_s: float) -> float:
    """Of the time in which the stage still had something to come: a long tail behind it says nothing."""
    whole = figures.present_s * figures.workers
    return min(1.0, max(0.0, part_s) / whole) if whole else 0.0


def _near(resource: str, totals: Mapping[str, float]) -> tuple[str, ...]:
    """Resources that take as much of the flow's critical path, within a tenth."""
    mine = totals.get(resource, 0.0)
    return tuple(
        name
        for name, total in totals.items()
        if name != resource and mine > 0 and abs(total - mine) <= TIE * max(total, mine)
    )
