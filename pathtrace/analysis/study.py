"""One flow looked at closely: its median repeat, what limits each stage, what it costs a day.

Joins figures, evidence and rules; the wording is left to ``ranking``, ``findings`` and ``verdict``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pathtrace.analysis.critical_path import Stretch, critical_path, stream_lanes
from pathtrace.analysis.evidence import Evidence, Span
from pathtrace.analysis.executions import Execution, execution
from pathtrace.analysis.frequency.frequency import Observed
from pathtrace.analysis.limiting.limit import TRACER
from pathtrace.analysis.limiting.limits import Judged, hop_limits, judge, totals
from pathtrace.analysis.requests import PerRequest, per_request
from pathtrace.analysis.series import series
from pathtrace.analysis.spread import middle
from pathtrace.analysis.summary import ExecutionFigures, stage_figures
from pathtrace.model.report import LimitedBy, Point, Segment
from pathtrace.model.scenario import Flow, FrequencyKind, Scenario
from pathtrace.units import SECONDS_PER_DAY, seconds


@dataclass(frozen=True, slots=True)
class FlowStudy:
    """A flow that was measured at least in part. ``repeats``: its first execution in each repeat."""

    flow: Flow
    index: int
    repeats: tuple[ExecutionFigures, ...]
    chosen: ExecutionFigures
    span: Span
    stages: Mapping[int, Judged]
    path: tuple[Segment, ...]
    limits: tuple[LimitedBy, ...]
    requests: PerRequest | None
    documents: int
    series: tuple[tuple[Point, ...], ...] = ()
    """Rates over time per hop, of the median repeat."""

    @property
    def failed(self) -> bool:
        """True if nothing came of one of its stages: then its times are those of failures."""
        return any(judged.figures.all_failed for judged in self.stages.values())

    @property
    def totals(self) -> dict[str, float]:
        """Critical-path seconds per resource."""
        return totals(self.path)

    @property
    def per_execution(self) -> tuple[Segment, ...]:
        """Seconds that one execution as counted per day takes: a request, a document, a whole pass."""
        kind = self.flow.frequency.kind
        if kind is FrequencyKind.PER_REQUEST and self.requests is not None:
            return _of_a_request(self, self.requests)
        if kind is FrequencyKind.PER_DOCUMENT and self.documents:
            return tuple(
                Segment(part.hop, part.stage, part.resource, part.seconds / self.documents)
                for part in self.path
            )
        return self.path


@dataclass(frozen=True, slots=True)
class Daily:
    """How often a flow happens a day, and for whom: as declared, or as observed where that is known."""

    executions: float
    frequency: str
    waits: str


def study(run_evidence: Evidence, flow: Flow, index: int, repeats: Sequence[ExecutionFigures]) -> FlowStudy:
    """``repeats`` holds at least one execution; complete ones count before those that were cut short."""
    counted = [figures for figures in repeats if figures.complete] or list(repeats)
    chosen = counted[middle([figures.duration_s for figures in counted])]
    part = execution(run_evidence.run, chosen.repeat, index, chosen.number)
    span = Span(chosen.start_ns, chosen.end_ns)
    stages = {
        stage.index: judge(figures, flow, run_evidence, span)
        for stage in flow.stages
        if (figures := stage_figures(part, flow, stage)) is not None
    }
    path = _segments(part, flow, stages, run_evidence.run.scenario)
    asks = flow.frequency.kind is FrequencyKind.PER_REQUEST
    return FlowStudy(
        flow=flow,
        index=index,
        repeats=tuple(counted),
        chosen=chosen,
        span=span,
        stages=stages,
        path=path,
        limits=tuple(hop_limits(flow, stages, path)),
        requests=per_request(part, len(flow.stages)) if asks else None,
        documents=_documents(run_evidence, flow, stages),
        series=tuple(series(part, hop) for hop in flow.hops),
    )


def daily(scenario: Scenario, flow: Flow, observed: Sequence[Observed]) -> Daily:
    """Executions a day by product.md's rule; weights read at requests count as often as requests come."""
    for each in observed:
        if each.loads_per_request is not None:
            count = scenario.workload.requests_per_day * each.loads_per_request
            return Daily(count, str(FrequencyKind.PER_REQUEST), "people")
    return Daily(_declared_per_day(scenario, flow), flow.frequency.text, flow.waits)


def _declared_per_day(scenario: Scenario, flow: Flow) -> float:
    workload = scenario.workload
    match flow.frequency.kind:
        case FrequencyKind.ONCE:
            return SECONDS_PER_DAY / scenario.control.lifetime_s if scenario.control.lifetime_s else 0.0
        case FrequencyKind.PER_LOAD:
            return workload.loads_per_day
        case FrequencyKind.PER_DOCUMENT:
            return workload.documents_per_day
        case FrequencyKind.PER_REQUEST:
            return workload.requests_per_day
        case FrequencyKind.EVERY:
            return SECONDS_PER_DAY / flow.frequency.period_s if flow.frequency.period_s else 0.0


def _segments(
    part: Execution, flow: Flow, stages: Mapping[int, Judged], scenario: Scenario
) -> tuple[Segment, ...]:
    asks = flow.frequency.kind is FrequencyKind.PER_REQUEST
    stretches = critical_path(part, part.worker if asks else stream_lanes(part))
    # Between requests of an open loop nobody asks; else hand-over is the tracer's own doing.
    between = f"wait:{flow.path[-1]}" if asks and scenario.workload.rate_per_s else TRACER
    segments: list[Segment] = []
    for stretch in stretches:
        segments += _of_stretch(stretch, flow, stages, between)
    return tuple(segments)


def _of_stretch(stretch: Stretch, flow: Flow, stages: Mapping[int, Judged], between: str) -> list[Segment]:
    hop, name = _names(flow, stretch.stage)
    spent = {stages[stretch.stage].limit.resource: stretch.working_ns}
    spent[between] = spent.get(between, 0) + stretch.handover_ns
    return [Segment(hop, name, resource, seconds(ns)) for resource, ns in spent.items() if ns]


def _of_a_request(study: FlowStudy, requests: PerRequest) -> tuple[Segment, ...]:
    """Mean seconds per stage; what lies between the stages is pathtrace's hand-over."""
    segments = []
    for index, judged in study.stages.items():
        hop, name = _names(study.flow, index)
        segments.append(Segment(hop, name, judged.limit.resource, requests.stages_s[index]))
    rest = requests.total_s - sum(part.seconds for part in segments)
    if rest > 0:
        hop, name = _names(study.flow, 0)
        segments.append(Segment(hop, name, TRACER, rest))
    return tuple(part for part in segments if part.seconds > 0)


def _names(flow: Flow, stage: int) -> tuple[str, str]:
    entry = flow.stages[stage]
    return flow.hops[entry.hop].name, f"{entry.action}@{entry.place}"


def _documents(evidence: Evidence, flow: Flow, stages: Mapping[int, Judged]) -> int:
    """Operations of the first stage; a single file is one document however many blocks it has."""
    reached = evidence.reached(flow.path[0])
    if reached is not None and reached.facts is not None and reached.facts.files == 1:
        return 1
    return stages[0].figures.operations if 0 in stages else 0
