"""What another way to read files would give: ``access: mmap``, ``read`` or ``direct``.

It asks for other requests than were recorded, so that no operation can be played again. Where mapped pages
come one round trip after the other, the time is known to lie between today's and what the link, and a disk
that was measured, take for the bytes; else only a run tells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pathtrace.analysis.assembly import measured_flows
from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.executions import execution
from pathtrace.analysis.limiting.limit import UNKNOWN
from pathtrace.analysis.limiting.limits import Judged
from pathtrace.analysis.limiting.links import link_name
from pathtrace.analysis.limiting.network_evidence import efficiency, route_of
from pathtrace.analysis.limiting.round_trips import is_mapped
from pathtrace.analysis.predicting.altering import Hold, Rescale, Step, altered, operations_in
from pathtrace.analysis.predicting.next_measurements import setting_told
from pathtrace.analysis.predicting.rescaling import Use, use_of_link
from pathtrace.analysis.predicting.resimulation import replay_stream, with_rest
from pathtrace.analysis.study import FlowStudy
from pathtrace.errors import UsageError
from pathtrace.model.prediction import Change, Changed, FlowPrediction, Prediction, Range, Unknown
from pathtrace.model.report import FlowReport, Report
from pathtrace.model.run import Run
from pathtrace.model.scenario import Action, FrequencyKind
from pathtrace.units import seconds


def with_access(run: Run, report: Report, prediction: Prediction, changes: Sequence[Change]) -> Prediction:
    """``prediction``: of the other changes. UsageError if these do more to a flow that reads the files than
    change the speed of a link."""
    evidence, studies = measured_flows(run)
    reports = {flow.name: flow for flow in report.flows}
    for change in changes:
        for study in studies:
            prediction = _in_flow(prediction, change, study, evidence, reports[study.flow.name])
    saved = sum(flow.seconds_per_day_saved for flow in prediction.flows)
    return replace(prediction, seconds_per_day_saved=saved)


def _in_flow(
    prediction: Prediction, change: Change, study: FlowStudy, evidence: Evidence, report: FlowReport
) -> Prediction:
    """The same with one flow as it would be; as it is where the flow reads nothing of the place."""
    stage = next((each for each in study.stages.values() if _reads(each, change)), None)
    flow = next((each for each in prediction.flows if each.name == study.flow.name), None)
    if stage is None or flow is None or change.words is None:
        return prediction
    before, word = change.words
    mixed = next((each for each in prediction.changes if each.kind is not Changed.LINK), None)
    if mixed is not None and flow.after_s != Range(flow.before_s, flow.before_s, flow.before_s):
        raise UsageError(
            f"{change.resource} cannot be predicted together with {mixed.resource}", hint="ask one by one"
        )
    if before == word:
        remark = f"{study.flow.name}: {change.subject} is read by {word} already"
        return replace(prediction, unchanged=(*prediction.unchanged, remark))
    unknown = Unknown(
        f"how fast {change.subject} is with `access: {word}`: its requests were not recorded",
        setting_told(change.subject, f"access: {word}"),
    )
    shortest = _shortest(stage, study, evidence, prediction.changes)
    changed = _unknown(flow) if shortest is None else _between(flow, shortest, report)
    flows = tuple(changed if each.name == flow.name else each for each in prediction.flows)
    return replace(prediction, flows=flows, unknowns=(*prediction.unknowns, unknown))


def _reads(judged: Judged, change: Change) -> bool:
    stage = judged.figures.stage
    return stage.place == change.subject and stage.action is Action.READ


def _unknown(flow: FlowPrediction) -> FlowPrediction:
    return replace(flow, after_s=None, bottleneck_after=UNKNOWN, seconds_per_day_saved=0.0)


def _between(flow: FlowPrediction, shortest_s: float, report: FlowReport) -> FlowPrediction:
    """From the shortest that there can be to what it takes without the change, in the middle of both."""
    longest = flow.after_s.high if flow.after_s else flow.before_s
    low = min(shortest_s * (1 - abs(flow.self_check.error)), longest)
    expected = math.sqrt(low * longest)
    ratio = expected / flow.before_s if flow.before_s else 1.0
    return replace(
        flow,
        after_s=Range(expected, low, longest),
        bottleneck_after=UNKNOWN,
        seconds_per_day_saved=(report.seconds_per_execution or 0.0) * report.executions_per_day * (1 - ratio),
    )


def _shortest(judged: Judged, study: FlowStudy, evidence: Evidence, links: Sequence[Change]) -> float | None:
    """Seconds of the flow if its reads took no longer than link and disk do for their bytes.

    None where round trips one after the other do not explain today's time, or nobody knows what the link
    carries.
    """
    figures, place = judged.figures, judged.figures.stage.place
    asks = study.flow.frequency.kind is FrequencyKind.PER_REQUEST
    trips = judged.limit.resource.partition(":")[0] == "round-trips"
    use = use_of_link(judged, study, evidence) if evidence.is_far(place) else None
    if asks or not trips or use is None or not is_mapped(evidence.place(place).spec):
        return None
    disk = evidence.ceiling(f"disk:{place}")
    held = [use.bytes / _carries(use, place, evidence, links)]
    if disk is not None and disk.bytes_per_s:
        held.append(figures.bytes / max(disk.bytes_per_s, figures.rate))
    at = figures.stage.index
    return _played(study, evidence, [Rescale(at, 1.0, 1.0, 0.0), Hold(at, max(held), judged.limit.resource)])


def _carries(use: Use, place: str, evidence: Evidence, links: Sequence[Change]) -> float:
    changed = next((each for each in links if each.resource == link_name(evidence, place)), None)
    if changed is None:
        return use.ceiling_bytes_per_s * max(1.0, use.raw_share)
    route = route_of(evidence, place)
    return changed.after * efficiency(route.mtu_bytes if route else None)


def _played(study: FlowStudy, evidence: Evidence, steps: list[Step]) -> float:
    """The median repeat with the steps, and with what playing it again leaves unexplained."""
    chosen = study.chosen
    part = execution(evidence.run, chosen.repeat, study.index, chosen.number)
    workers = part.window.workers if part.window is not None else ()
    queues = [evidence.place(stage.place).queue for stage in study.flow.stages]

    def duration(taken: list[Step]) -> float:
        course = altered(part, workers, taken).better
        return replay_stream(operations_in(course, part), course.workers, queues).duration_s

    return with_rest(seconds(part.wall_ns), duration([]), duration(steps))
