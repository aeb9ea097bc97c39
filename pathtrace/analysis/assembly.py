"""Puts the report together: goes through the run repeat by repeat, then looks closely at each flow.

Holds no rule of its own; those are in the modules that it calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pathtrace.analysis.caveats import about, caveats, why_not_measured
from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.executions import executions
from pathtrace.analysis.findings import findings
from pathtrace.analysis.frequency.frequency import DRIVEN, Observed, observe
from pathtrace.analysis.frequency.known_documents import documents_again
from pathtrace.analysis.frequency.reloads import Calls, calls_of
from pathtrace.analysis.frequency.rereading import Ending, endings
from pathtrace.analysis.hops import hop_reports, unmeasured_hops
from pathtrace.analysis.limiting.far_databases import far_databases
from pathtrace.analysis.limiting.links import link_findings
from pathtrace.analysis.limiting.slow_link import link_faults
from pathtrace.analysis.limiting.unobserved import not_observed
from pathtrace.analysis.loads import load_findings
from pathtrace.analysis.memory_use import capacity_reports
from pathtrace.analysis.ranking import Counted, ranking
from pathtrace.analysis.repeats import outliers
from pathtrace.analysis.requests import requests_report
from pathtrace.analysis.resources import dataset_reports, resource_reports
from pathtrace.analysis.spread import estimate, middle
from pathtrace.analysis.study import FlowStudy, daily, study
from pathtrace.analysis.summary import ExecutionFigures, execution_figures
from pathtrace.analysis.verdict import verdict
from pathtrace.model.report import (
    Caveat,
    FlowReport,
    FrequencyReport,
    HopReport,
    RepeatHop,
    RepeatReport,
    Report,
    RequestsReport,
)
from pathtrace.model.run import Run
from pathtrace.model.scenario import Flow, FrequencyKind, Hop
from pathtrace.units import seconds


class _Gathered:
    """What one pass over the run leaves: short figures of every execution, never its samples."""

    def __init__(self, run: Run) -> None:
        self.figures: list[ExecutionFigures] = []
        self.endings: list[Ending] = []
        self.calls: list[Calls] = []
        self.requests: dict[tuple[int, int], list[tuple[float, RequestsReport]]] = {}
        for part in executions(run):
            if not len(part):
                continue
            flow = run.scenario.flows[part.flow]
            figures = execution_figures(part, flow)
            self.figures.append(figures)
            self.calls += calls_of(part, flow, run.scenario)
            if flow.frequency.kind is FrequencyKind.PER_REQUEST:
                self.endings.append(endings(part, flow))
                report = requests_report(part, flow, run.scenario.workload, _users(run, figures))
                self.requests.setdefault((part.flow, part.number), []).append((figures.duration_s, report))
            del part  # its memory, before the next one takes as much

    def of(self, flow: int) -> list[ExecutionFigures]:
        """The first execution of a flow in each repeat; idle-gap passes and load levels come apart."""
        mine = [figures for figures in self.figures if figures.flow == flow]
        first = min((figures.number for figures in mine), default=0)
        return [figures for figures in mine if figures.number == first]


Studies = Mapping[int, FlowStudy]
"""By the flow's index; only those that were measured."""
Sightings = Mapping[int, tuple[Observed, ...]]
"""Per measured flow and hop: how often its data really moves."""


def assemble(run: Run) -> Report:
    """The whole report."""
    evidence, gathered = Evidence(run), _Gathered(run)
    studies = _studies(evidence, gathered)
    observed = _observed(evidence, gathered, studies)
    doubts = (*caveats(run, tuple(studies.values())), *not_observed(evidence, studies.values()))
    asked = _requests(gathered)
    requests = tuple(report for report in asked if report.after_idle_s is None)
    counted = {index: _counted(run, each, observed[index], requests) for index, each in studies.items()}
    flows = tuple(_flow_report(run, flow, counted.get(at)) for at, flow in enumerate(run.scenario.flows))
    hops = _hops(evidence, studies, observed, doubts)
    ranked = ranking(tuple(counted.values()), evidence)
    everything = tuple(each for seen in observed.values() for each in seen)
    found = (
        *link_faults(evidence, tuple(studies.values())),
        *load_findings(evidence, asked),
        *far_databases(evidence),
        *link_findings(evidence, hops),
        *findings(evidence, tuple(studies.values()), everything),
    )
    resources = resource_reports(evidence, tuple(studies.values()))
    return Report(
        verdict=verdict(evidence, ranked, hops, flows, found, resources),
        dataset=dataset_reports(run),
        capacity=capacity_reports(evidence),
        hops=hops,
        flows=flows,
        requests=requests,
        resources=resources,
        ranking=ranked,
        findings=found,
        caveats=doubts,
        repeats=_repeats(run, gathered.figures, _far_from_others(studies)),
        after_idle=tuple(report for report in asked if report.after_idle_s is not None),
    )


def measured_flows(run: Run) -> tuple[Evidence, tuple[FlowStudy, ...]]:
    """The studies that a report is made of, for who asks more of them."""
    evidence = Evidence(run)
    return evidence, tuple(_studies(evidence, _Gathered(run)).values())


def _studies(evidence: Evidence, gathered: _Gathered) -> Studies:
    return {
        index: study(evidence, flow, index, repeats)
        for index, flow in enumerate(evidence.run.scenario.flows)
        if (repeats := gathered.of(index))
    }


def _observed(evidence: Evidence, gathered: _Gathered, studies: Studies) -> Sightings:
    return {
        index: tuple(
            _of_documents(evidence, each, hop) or _of_model(evidence, gathered, each, hop)
            for hop in each.flow.hops
        )
        for index, each in studies.items()
    }


def _of_documents(evidence: Evidence, each: FlowStudy, hop: Hop) -> Observed | None:
    return documents_again(evidence, each) if hop is each.flow.hops[0] else None


def _of_model(evidence: Evidence, gathered: _Gathered, each: FlowStudy, hop: Hop) -> Observed:
    asked = _asked(evidence.run, gathered, hop.destination)
    return observe(each.flow, hop, evidence, asked, _read(evidence, each), gathered.calls)


def _hops(
    evidence: Evidence, studies: Studies, observed: Sightings, doubts: tuple[Caveat, ...]
) -> tuple[HopReport, ...]:
    run = evidence.run
    hops: list[HopReport] = []
    for index, flow in enumerate(run.scenario.flows):
        if index in studies:
            frequencies = tuple(each.report for each in observed[index])
            hops += hop_reports(evidence, studies[index], frequencies, doubts)
        else:
            unobserved = FrequencyReport(flow.frequency.text, None, DRIVEN)
            about_it = about(doubts, (flow.name, *flow.path))
            hops += unmeasured_hops(run, flow, why_not_measured(run, flow), unobserved, about_it)
    return tuple(hops)


def _users(run: Run, figures: ExecutionFigures) -> int:
    levels = run.scenario.workload.users
    return figures.users or (levels[figures.number] if figures.number < len(levels) else 1)


def _asked(run: Run, gathered: _Gathered, model: str) -> list[Ending]:
    """The requests of all flows whose path leads through ``model``."""
    return [ending for ending in gathered.endings if model in run.scenario.flow(ending.flow).path]


def _read(evidence: Evidence, each: FlowStudy) -> int:
    """Bytes that one execution reads at its source: of a load, the weights."""
    if 0 in each.stages:
        return each.stages[0].figures.bytes
    reached = evidence.reached(each.flow.path[0])
    return (reached.facts.bytes or 0) if reached and reached.facts else 0


def _requests(gathered: _Gathered) -> tuple[RequestsReport, ...]:
    """Of each flow and load level, the median repeat's."""
    return tuple(
        reports[middle([duration for duration, _ in reports])][1]
        for _, reports in sorted(gathered.requests.items())
    )


def _counted(
    run: Run, each: FlowStudy, observed: tuple[Observed, ...], requests: Sequence[RequestsReport]
) -> Counted:
    return Counted(each, daily(run.scenario, each.flow, observed), observed, _content(run, each, requests))


def _content(run: Run, each: FlowStudy, requests: Sequence[RequestsReport]) -> bool | None:
    """Within ``acceptable_wait`` at every load level; None if that is not stated."""
    wait = run.scenario.workload.acceptable_wait_s
    if wait is None or each.flow.waits != "people":
        return None
    levels = [_in_time(report, wait) for report in requests if report.flow == each.flow.name]
    if not levels:
        return each.chosen.duration_s <= wait
    return None if None in levels else all(levels)


def _in_time(report: RequestsReport, wait_s: float) -> bool | None:
    """Nine requests in ten (of few: all) within ``wait_s``; None if none was answered."""
    took = report.latency.p90_s if report.latency.p90_s is not None else report.latency.max_s
    return None if took is None else took <= wait_s and not report.errors


def _flow_report(run: Run, flow: Flow, counted: Counted | None) -> FlowReport:
    if counted is None:
        per_day = daily(run.scenario, flow, ())
        return FlowReport(
            flow.name, flow.frequency.text, flow.waits, None, "unknown", (), per_day.executions, None, None
        )
    each = counted.study
    took = [figures.duration_s for figures in each.repeats]
    totals = each.totals
    return FlowReport(
        name=flow.name,
        frequency=flow.frequency.text,
        waits=counted.daily.waits,
        duration_s=estimate(each.chosen.duration_s, took, "s") if each.chosen.complete else None,
        bottleneck=next(iter(totals), "unknown"),
        critical_path=each.path,
        executions_per_day=counted.daily.executions,
        seconds_per_execution=sum(part.seconds for part in each.per_execution),
        within_acceptable_wait=counted.within_acceptable_wait,
    )


def _far_from_others(studies: Studies) -> frozenset[int]:
    """Repeats in which a flow's first execution took far longer or shorter than in the others."""
    return frozenset(
        each.repeat
        for study in studies.values()
        for each, far in zip(
            study.repeats, outliers([figures.duration_s for figures in study.repeats]), strict=True
        )
        if far
    )


def _repeats(run: Run, figures: Sequence[ExecutionFigures], far: frozenset[int]) -> tuple[RepeatReport, ...]:
    by_repeat: dict[int, list[ExecutionFigures]] = {}
    for each in figures:
        by_repeat.setdefault(each.repeat, []).append(each)
    starts = {start.repeat: start.start for start in run.starts}
    return tuple(
        replace(_repeat(run, index, parts, starts), outlier=index in far)
        for index, parts in sorted(by_repeat.items())
    )


def _repeat(
    run: Run, index: int, parts: Sequence[ExecutionFigures], starts: Mapping[int, str]
) -> RepeatReport:
    """A flow that ran several times in the repeat (load levels, idle gaps) shows its first time."""
    first = min(part.number for part in parts)
    hops = tuple(
        RepeatHop(flow.name, hop.name, figures.duration_s, figures.bytes, figures.operations)
        for part in parts
        if part.number == first
        for flow in (run.scenario.flows[part.flow],)
        for hop, figures in zip(flow.hops, part.hops, strict=True)
        if figures is not None
    )
    duration_s = seconds(max(part.end_ns for part in parts) - min(part.start_ns for part in parts))
    return RepeatReport(index, duration_s, starts.get(index, "unknown"), hops)
