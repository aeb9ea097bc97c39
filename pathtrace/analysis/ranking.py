"""Where a change buys most time: seconds per day, people's waiting before a job's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pathtrace.analysis.advice import advice, keep_loaded
from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.frequency.frequency import Observed
from pathtrace.analysis.limiting.limits import Judged
from pathtrace.analysis.network_advice import Advice
from pathtrace.analysis.sampled import share_of_pass, was_cut_short
from pathtrace.analysis.stand_ins import stand_ins
from pathtrace.analysis.study import Daily, FlowStudy
from pathtrace.model.report import RankingEntry, Segment
from pathtrace.model.scenario import Action
from pathtrace.units import format_duration

TRIVIAL_S = 1.0
"""Seconds a day below which no change is worth its advice."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A flow's study with how often it happens and whether people's patience holds it."""

    study: FlowStudy
    daily: Daily
    observed: tuple[Observed, ...]
    within_acceptable_wait: bool | None


def ranking(flows: Sequence[Counted], evidence: Evidence) -> tuple[RankingEntry, ...]:
    """Every stage and resource on a critical path, rank 1 first; not of flows that failed at a stage."""
    sound = [counted for counted in flows if not counted.study.failed]
    anew = {
        counted.study.flow.path[-1]: seen
        for counted in sound
        for seen in counted.observed
        if seen.loading_s is not None
    }
    entries = [entry for counted in sound for entry in _of_flow(counted, evidence, anew)]
    entries.sort(key=lambda entry: (entry.waits != "people", -entry.seconds_per_day, entry.flow, entry.stage))
    return tuple(replace(entry, rank=rank) for rank, entry in enumerate(entries, 1))


def _of_flow(counted: Counted, evidence: Evidence, anew: Mapping[str, Observed]) -> list[RankingEntry]:
    """``anew``: models that are loaded again while requests are answered."""
    parts = counted.study.per_execution
    whole = sum(part.seconds for part in parts)
    bounds = _bounds(counted, parts)
    return [_entry(counted, part, whole, bounds[part.resource], evidence, anew) for part in parts]


def _bounds(counted: Counted, parts: Sequence[Segment]) -> dict[str, float]:
    """Seconds a day that would be saved if a resource took no time; a stage's other time would stay."""
    bounds: dict[str, float] = {}
    for part in parts:
        own = part.seconds * _portion(part, _judged(counted.study, part))
        bounds[part.resource] = bounds.get(part.resource, 0.0) + own * counted.daily.executions
    return bounds


def _portion(part: Segment, judged: Judged | None) -> float:
    """How much of a stage's time its resource really takes, where the samples tell."""
    if judged is None or part.resource != judged.limit.resource:
        return 1.0
    match part.resource.partition(":")[0]:
        case "commit":
            return min(1.0, judged.figures.finish_share)
        case "wait":
            return 1.0 - min(1.0, judged.figures.cpu_share or 0.0)
        case _:
            return 1.0


def _entry(
    counted: Counted,
    part: Segment,
    whole: float,
    bound_s: float,
    evidence: Evidence,
    anew: Mapping[str, Observed],
) -> RankingEntry:
    per_day = part.seconds * counted.daily.executions
    action, _, place = part.stage.partition("@")
    if place in anew and action in (Action.EMBED, Action.GENERATE):
        loading_s = min(part.seconds, anew[place].loading_s or 0.0)
        chosen = keep_loaded(place, loading_s * counted.daily.executions, anew[place].remedy)
    else:
        chosen = _advice(counted, part, bound_s, evidence)
    return RankingEntry(
        rank=0,
        flow=counted.study.flow.name,
        hop=part.hop,
        stage=part.stage,
        resource=part.resource,
        frequency=counted.daily.frequency,
        waits=counted.daily.waits,
        seconds_per_day=per_day,
        seconds_per_execution=part.seconds,
        share=part.seconds / whole if whole else 0.0,
        stand_in=bool(stand_ins(evidence.run.scenario, counted.study.flow.name, part.hop)),
        advice=chosen.text,
        free=chosen.free,
    )


def _advice(counted: Counted, part: Segment, bound_s: float, evidence: Evidence) -> Advice:
    flow = counted.study.flow
    if any(each.loads_per_request is not None for each in counted.observed):
        whole = sum(each.seconds for each in counted.study.per_execution)
        remedy = next((each.remedy for each in counted.observed if each.remedy), None)
        return keep_loaded(flow.path[-1], whole * counted.daily.executions, remedy)
    if counted.within_acceptable_wait:
        wait = evidence.run.scenario.workload.acceptable_wait_s or 0.0
        return Advice(f"nothing needs buying: answers come within {format_duration(wait)}", True)
    cut, share = was_cut_short(counted.study), share_of_pass(evidence, flow)
    if not cut and part.seconds * counted.daily.executions / (share or 1.0) < TRIVIAL_S:
        return Advice("nothing to gain: less than a second a day", True)
    chosen = advice(part.resource, bound_s, counted.study, _judged(counted.study, part), evidence)
    if not cut and share is None:
        return chosen
    return replace(chosen, text=f"{chosen.text}, {'as far as it came' if cut else 'of the sample alone'}")


def _judged(study: FlowStudy, part: Segment) -> Judged | None:
    for judged in study.stages.values():
        stage = judged.figures.stage
        if f"{stage.action}@{stage.place}" == part.stage:
            return judged
    return None
