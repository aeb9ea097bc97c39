"""Reports of hops and their stages, measured or not."""

from __future__ import annotations

from collections.abc import Sequence

from pathtrace.analysis.caveats import about
from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.limiting.limits import Judged, not_measured
from pathtrace.analysis.stand_ins import stand_ins
from pathtrace.analysis.study import FlowStudy
from pathtrace.analysis.summary import HopFigures, throughput
from pathtrace.analysis.timeuse import added
from pathtrace.analysis.wire import wire
from pathtrace.model.report import (
    Caveat,
    First,
    FrequencyReport,
    HopReport,
    Latency,
    LimitedBy,
    StageReport,
    Throughput,
)
from pathtrace.model.run import Run
from pathtrace.model.scenario import Flow, Hop, Start

_NO_LATENCY = Latency(None, None, None, None)
_NO_THROUGHPUT = Throughput(None, None, None, None, None)


def hop_reports(
    evidence: Evidence, study: FlowStudy, frequencies: Sequence[FrequencyReport], doubts: Sequence[Caveat]
) -> list[HopReport]:
    """Every hop of a flow that was measured, at least in part."""
    run = evidence.run
    return [
        _measured(evidence, study, index, frequencies[index], doubts)
        if study.chosen.hops[index] is not None
        else _unmeasured(
            run, study.flow, hop, frequencies[index], study.limits[index], _about_hop(doubts, study.flow, hop)
        )
        for index, hop in enumerate(study.flow.hops)
    ]


def unmeasured_hops(
    run: Run, flow: Flow, reason: str, frequency: FrequencyReport, doubts: tuple[Caveat, ...]
) -> list[HopReport]:
    """Every hop of a flow that never ran."""
    return [_unmeasured(run, flow, hop, frequency, not_measured(reason), doubts) for hop in flow.hops]


def _measured(
    evidence: Evidence, study: FlowStudy, index: int, frequency: FrequencyReport, doubts: Sequence[Caveat]
) -> HopReport:
    run, hop, figures = evidence.run, study.flow.hops[index], study.chosen.hops[index]
    assert figures is not None
    repeats = [each for repeat in study.repeats if (each := repeat.hops[index]) is not None]
    stages = tuple(_stage(study.stages[stage]) for stage in hop.stages if stage in study.stages)
    moving = tuple(study.stages[stage].figures for stage in hop.stages if stage in study.stages)
    main = study.stages.get(hop.main_stage)
    return HopReport(
        flow=study.flow.name,
        name=hop.name,
        source=hop.source,
        destination=hop.destination,
        phase=str(hop.phase),
        measured_from=run.scenario.here.name,
        stand_in=bool(stand_ins(run.scenario, study.flow.name, hop.name)),
        frequency=frequency,
        operations=figures.operations,
        errors=figures.errors,
        bytes=figures.bytes,
        duration_s=figures.duration_s,
        active_s=figures.active_s,
        throughput=throughput(figures, repeats),
        latency=main.figures.latency if main else _NO_LATENCY,
        time=added(tuple(stage.time for stage in stages)),
        stages=stages,
        first=_first(run, study, index),
        limited_by=study.limits[index],
        caveats=_about_hop(doubts, study.flow, hop),
        series=study.series[index] if study.series else (),
        wire=wire(moving, figures.bytes, evidence, study.span),
    )


def _unmeasured(
    run: Run,
    flow: Flow,
    hop: Hop,
    frequency: FrequencyReport,
    limited_by: LimitedBy,
    doubts: tuple[Caveat, ...],
) -> HopReport:
    return HopReport(
        flow=flow.name,
        name=hop.name,
        source=hop.source,
        destination=hop.destination,
        phase=str(hop.phase),
        measured_from=run.scenario.here.name,
        stand_in=bool(stand_ins(run.scenario, flow.name, hop.name)),
        frequency=frequency,
        operations=0,
        errors=0,
        bytes=0,
        duration_s=None,
        active_s=None,
        throughput=_NO_THROUGHPUT,
        latency=_NO_LATENCY,
        time=None,
        stages=(),
        first=None,
        limited_by=limited_by,
        caveats=doubts,
    )


def _stage(judged: Judged) -> StageReport:
    figures = judged.figures
    return StageReport(
        action=str(figures.stage.action),
        place=figures.stage.place,
        workers=figures.workers,
        operations=figures.operations,
        errors=figures.errors,
        bytes=figures.bytes,
        time=figures.time,
        latency=figures.latency,
        parts=figures.parts,
        cpu_s=figures.cpu_s,
        while_busy=judged.limit.resource,
    )


def _first(run: Run, study: FlowStudy, index: int) -> First | None:
    """Of a cold run with more repeats than one: the only one that surely met cold servers."""
    cold = {start.repeat for start in run.starts if start.start == Start.COLD}
    first = study.repeats[0]
    figures: HopFigures | None = first.hops[index]
    if first.repeat not in cold or figures is None:
        return None
    return First(figures.duration_s, figures.bytes_per_s)


def _about_hop(doubts: Sequence[Caveat], flow: Flow, hop: Hop) -> tuple[Caveat, ...]:
    return about(doubts, (flow.name, hop.name, f"{flow.name}/{hop.name}", hop.source, hop.destination))
