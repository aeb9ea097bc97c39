"""Run and changes -> what its flows would take, with a range, a self-check and what is not known.

Every repeat is played again, without the changes and with them. What playing again does not explain of
the measured time (hand-over by pathtrace itself) stays. Which steps a change takes is for ``rescaling``
and ``resetting``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pathtrace.analysis.assembly import measured_flows
from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.executions import Execution, execution
from pathtrace.analysis.limiting.limit import LINK_FULL, MOSTLY, UNKNOWN
from pathtrace.analysis.predicting.altering import (
    Altered,
    Course,
    Hold,
    Join,
    Recommit,
    Rescale,
    Step,
    Unload,
    altered,
    operations_in,
)
from pathtrace.analysis.predicting.change_targets import parse_changes
from pathtrace.analysis.predicting.committing import commit_steps, disk_under_commits
from pathtrace.analysis.predicting.moving import moving_steps
from pathtrace.analysis.predicting.rescaling import (
    Plan,
    crossing_stages,
    disk_steps,
    latency_steps,
    link_steps,
)
from pathtrace.analysis.predicting.resetting import batch_steps, loaded_steps, staff_steps
from pathtrace.analysis.predicting.resimulation import Replayed, replay_requests, replay_stream, with_rest
from pathtrace.analysis.requests import per_request
from pathtrace.analysis.spread import middle
from pathtrace.analysis.study import FlowStudy
from pathtrace.errors import EvidenceError
from pathtrace.model.prediction import (
    Change,
    Changed,
    FlowPrediction,
    Prediction,
    Range,
    SelfCheck,
    Unknown,
)
from pathtrace.model.report import FlowReport, Report
from pathtrace.model.run import Run
from pathtrace.model.scenario import FrequencyKind, Scenario
from pathtrace.units import seconds

RESAMPLES = 1000
NEGLIGIBLE = 0.01
"""What makes no more difference to a flow need not be known."""
CERTAIN = 0.025
"""Of resampled medians, left out at either end."""
OFF = 0.07
"""What a prediction is off by anyway, as a ratio of it: between the lab's hosts the middle one of those with
all ceilings known was 5 to 6 % off, which neither repeats nor the self-check show."""


@dataclass(frozen=True, slots=True)
class _Pass:
    """One repeat: measured, played again, and after the changes in the better and the worse course."""

    measured_s: float
    again: Replayed
    better: Replayed
    worse: Replayed
    held: Altered
    request_s: float | None
    """Mean of a request, measured; None of flows that are no requests."""

    def after(self, replayed: Replayed) -> float:
        return with_rest(self.measured_s, self.again.duration_s, replayed.duration_s)


def predict(run: Run, report: Report, settings: Sequence[str]) -> Prediction:
    """UsageError if something cannot be set; EvidenceError if the run has nothing to predict from."""
    evidence, studies = measured_flows(run)
    changes = parse_changes(settings, evidence)
    sound = [study for study in studies if not study.failed and study.chosen.complete]
    if not sound:
        raise EvidenceError(
            "no flow of this run was measured to its end: there is nothing to predict from",
            hint="run it again, then ask",
        )
    plans = {study.index: _plan(study, evidence, changes) for study in sound}
    reports = {flow.name: flow for flow in report.flows}
    flows = tuple(
        _flow(study, evidence, changes, plans[study.index], reports[study.flow.name]) for study in sound
    )
    checks = [flow.self_check for flow in flows]
    unmeasured = _unmeasured(run, sound)
    return Prediction(
        run=run.id,
        changes=changes,
        self_check=SelfCheck(
            sum(each.measured_s for each in checks), sum(each.simulated_s for each in checks)
        ),
        flows=flows,
        seconds_per_day_saved=sum(flow.seconds_per_day_saved for flow in flows),
        unknowns=tuple(
            dict.fromkeys(
                (
                    *(each for plan in plans.values() for each in plan.not_known),
                    *map(_of_the_unmeasured, unmeasured),
                )
            )
        ),
        unchanged=tuple(_unchanged(sound, plans, evidence, changes)),
        unmeasured=unmeasured,
    )


def _unmeasured(run: Run, sound: Sequence[FlowStudy]) -> tuple[str, ...]:
    known = {study.flow.name for study in sound}
    return tuple(flow.name for flow in run.scenario.flows if flow.name not in known)


def _of_the_unmeasured(flow: str) -> Unknown:
    return Unknown(
        f"what {flow} takes, now or then: no repeat of it was measured to its end",
        "pathtrace run SCENARIO, with a larger `budget`, or once its places answer",
    )


def _plan(study: FlowStudy, evidence: Evidence, changes: Sequence[Change]) -> Plan:
    plan = Plan(frozenset(change.resource for change in changes))
    done = moving_steps(study, evidence, changes, plan)
    for change in changes:
        match change.kind:
            case Changed.LINK:
                link_steps(study, evidence, change, plan, done)
            case Changed.LATENCY:
                latency_steps(study, evidence, change, plan)
            case Changed.DISK:
                disk_steps(study, evidence, change, plan, done)
                disk_under_commits(study, evidence, change, plan, done)
            case Changed.COMMIT:
                commit_steps(study, evidence, change, plan)
            case Changed.BATCH:
                batch_steps(study, evidence, change, plan)
            case Changed.LOADED:
                chosen = execution(evidence.run, study.chosen.repeat, study.index, study.chosen.number)
                loaded_steps(study, change, chosen, plan)
            case Changed.WORKERS | Changed.DEPTH:
                staff_steps(study, evidence, change, plan, done)
    return plan


def _flow(
    study: FlowStudy, evidence: Evidence, changes: Sequence[Change], plan: Plan, report: FlowReport
) -> FlowPrediction:
    passes = [_pass(study, evidence.run, repeat, plan.steps) for repeat in _repeats(study, evidence.run)]
    cap = all(change.improves for change in changes)
    better = [_capped(each, each.after(each.better), cap) for each in passes]
    worse = [
        max(low, _capped(each, each.after(each.worse), cap)) for each, low in zip(passes, better, strict=True)
    ]
    chosen = passes[middle([each.measured_s for each in passes])]
    at = passes.index(chosen)
    expected = math.sqrt(better[at] * worse[at])
    if worse[at] <= better[at] * (1 + NEGLIGIBLE):
        plan.hidden.clear()
    check = SelfCheck(chosen.measured_s, chosen.again.duration_s)
    before, request = chosen.measured_s, _of_a_request(study, chosen)
    ratio = request[1] / request[0] if request and request[0] else expected / before if before else 1.0
    if not plan.steps:
        after = Range(before, before, before)
    else:
        after = _range(expected, better, worse, abs(check.error), evidence.run.scenario.control.seed)
        after = never_narrower(after, before, cap)
    saved = (report.seconds_per_execution or 0.0) * report.executions_per_day * (1.0 - ratio)
    return FlowPrediction(
        name=study.flow.name,
        before_s=before,
        after_s=after,
        bottleneck_after=_bottleneck(study, chosen, plan) if plan.steps else report.bottleneck,
        self_check=check,
        request=request,
        seconds_per_day_saved=saved if plan.steps else 0.0,
    )


def _repeats(study: FlowStudy, run: Run) -> list[Execution]:
    found = [each for each in study.repeats if each.complete]
    return [execution(run, each.repeat, study.index, each.number) for each in found]


def _pass(study: FlowStudy, run: Run, part: Execution, steps: list[Step]) -> _Pass:
    assert part.window is not None  # of a complete execution
    none = altered(part, part.window.workers, [])
    changed = altered(part, part.window.workers, steps)
    again = _replay(none.better, part, study, run.scenario)
    better = _replay(changed.better, part, study, run.scenario) if steps else again
    worse = _replay(changed.worse, part, study, run.scenario) if steps else again
    asked = per_request(part, len(study.flow.stages))
    measured_s = seconds(part.wall_ns)
    return _Pass(measured_s, again, better, worse, changed, asked.total_s if asked else None)


def _replay(course: Course, part: Execution, study: FlowStudy, scenario: Scenario) -> Replayed:
    operations = operations_in(course, part)
    if study.flow.frequency.kind is FrequencyKind.PER_REQUEST:
        users = part.window.users if part.window is not None else 1
        return replay_requests(operations, users, scenario.workload.rate_per_s)
    queues = [scenario.place(stage.place).queue for stage in study.flow.stages]
    return replay_stream(operations, course.workers, queues)


def _capped(each: _Pass, after_s: float, cap: bool) -> float:
    """What is only better than before makes nothing slower, though another order of work might seem to."""
    return min(after_s, each.measured_s) if cap else after_s


def _range(expected: float, better: list[float], worse: list[float], error: float, seed: int) -> Range:
    """Medians of resampled repeats, in the better and the worse course, and what the self-check is off."""
    chosen = np.random.default_rng(seed).integers(0, len(better), (RESAMPLES, len(better)))
    low = float(np.quantile(np.median(np.array(better)[chosen], axis=1), CERTAIN))
    high = float(np.quantile(np.median(np.array(worse)[chosen], axis=1), 1 - CERTAIN))
    return Range(expected, min(expected, low) * max(0.0, 1 - error), max(expected, high) * (1 + error))


def never_narrower(after: Range, before_s: float, cap: bool) -> Range:
    """What the change moves may be off as predictions are; what stays as it is, is not predicted."""
    if abs(after.expected - before_s) <= NEGLIGIBLE * before_s:
        return after
    low, high = min(after.low, after.expected * (1 - OFF)), max(after.high, after.expected * (1 + OFF))
    most = max(after.high, before_s) if cap else high
    return Range(after.expected, low, min(high, most))


def _of_a_request(study: FlowStudy, chosen: _Pass) -> tuple[float, float] | None:
    """The mean of a request, measured and after the changes."""
    before, again, better, worse = (
        chosen.request_s,
        *(each.request_s for each in (chosen.again, chosen.better, chosen.worse)),
    )
    if study.flow.frequency.kind is not FrequencyKind.PER_REQUEST or before is None or again is None:
        return None
    after = [with_rest(before, again, each or 0.0) for each in (better, worse)]
    return before, math.sqrt(after[0] * after[1])


def _bottleneck(study: FlowStudy, chosen: _Pass, plan: Plan) -> str:
    """Of the stage that is fullest afterwards: what holds it now, if that is known."""
    workers = chosen.held.better.workers
    full = [busy / max(1, count) for busy, count in zip(chosen.better.busy_s, workers, strict=True)]
    stage = max(range(len(full)), key=lambda at: full[at])
    holds = [step for step in plan.steps if isinstance(step, Hold) and step.stage == stage]
    if stage in plan.hidden:
        return UNKNOWN
    holder = max(holds, key=lambda each: each.total_s, default=None)
    if holder is not None and holder.total_s >= LINK_FULL * full[stage]:
        return holder.resource
    shorter = any(
        step.stage == stage and isinstance(step, Rescale | Recommit | Join | Unload) for step in plan.steps
    )
    judged = study.stages.get(stage)
    if judged is None or (
        shorter and full[stage] < MOSTLY * judged.figures.elapsed_s / judged.figures.workers
    ):
        return UNKNOWN
    return judged.limit.resource


def _unchanged(
    studies: Sequence[FlowStudy], plans: dict[int, Plan], evidence: Evidence, changes: Sequence[Change]
) -> list[str]:
    """What no change touches, flow by flow, and why a change does nothing."""
    texts: list[str] = []
    for study in studies:
        touched = {step.stage for step in plans[study.index].steps if not isinstance(step, Hold)}
        left = [f"{each.action} at {each.place}" for each in study.flow.stages if each.index not in touched]
        if left:
            texts.append(f"{study.flow.name}: {', '.join(left)} unchanged")
        texts += plans[study.index].remarks
    return list(dict.fromkeys((*texts, *_without_effect(studies, evidence, changes))))


def _without_effect(
    studies: Sequence[FlowStudy], evidence: Evidence, changes: Sequence[Change]
) -> Iterator[str]:
    """Links that no measured flow crosses."""
    for change in changes:
        of_link = change.kind in (Changed.LINK, Changed.LATENCY)
        if of_link and not any(crossing_stages(study, evidence, change.subject) for study in studies):
            yield f"no measured flow crosses link:{change.subject}"
