"""Doubts about this run's figures, each with its remedy: defaults, few repeats, stand-ins, the unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pathtrace.analysis.study import FlowStudy
from pathtrace.analysis.timeuse import identity_error
from pathtrace.model.report import Caveat
from pathtrace.model.run import Reached, Run
from pathtrace.model.scenario import Flow, FrequencyKind, Scenario
from pathtrace.units import format_bytes, format_count_rate, format_duration, format_ratio

TOO_COSTLY = 0.01
"""Of the timed wall time: pathtrace's own cost above which it is said."""
LATE = 0.05
"""Of a request's time: pathtrace's own lateness above which it blurs what it waits for."""
IDENTITY = 0.01


def caveats(run: Run, studies: Sequence[FlowStudy]) -> tuple[Caveat, ...]:
    """The run's own first, then what analysis adds; each code and subject once."""
    found = [
        *run.caveats,
        *_assumed(run.scenario),
        *_repeats(run, studies),
        *_until(run),
        *_closed_loop(run.scenario, studies),
        *_open_loop(run.scenario, studies),
        *_read_elsewhere(studies),
        *_stand_ins(run.scenario, studies),
        *_starts(run),
        *_places(run),
        *_cut_short(run),
        *_unmeasured(run, studies),
        *_own_cost(run),
        *_identity(studies),
    ]
    return tuple({(caveat.code, caveat.subject): caveat for caveat in reversed(found)}.values())[::-1]


def about(found: Iterable[Caveat], subjects: Iterable[str]) -> tuple[Caveat, ...]:
    """Those of ``found`` that are about one of ``subjects``."""
    names = set(subjects)
    return tuple(caveat for caveat in found if caveat.subject in names)


def _assumed(scenario: Scenario) -> Iterator[Caveat]:
    counts = {
        FrequencyKind.PER_REQUEST: ("requests_per_day", scenario.workload.requests_per_day),
        FrequencyKind.PER_DOCUMENT: ("documents_per_day", scenario.workload.documents_per_day),
        FrequencyKind.PER_LOAD: ("loads_per_day", scenario.workload.loads_per_day),
    }
    for flow in scenario.flows:
        key, value = counts.get(flow.frequency.kind, ("", 0.0))
        if key and key not in scenario.workload.stated:
            text = f"`{key}: {value:g}` is a default, not what you said"
            yield Caveat("assumed", text, f"state `{key}` under `workload`", key)
        if flow.frequency.assumed:
            text = f"how often {flow.name} happens ({flow.frequency.text}) was derived from its shape"
            yield Caveat("assumed", text, f"state `frequency` of {flow.name}", flow.name)


def _repeats(run: Run, studies: Sequence[FlowStudy]) -> Iterator[Caveat]:
    if studies and max(len(study.repeats) for study in studies) == 1:
        yield Caveat("one-repeat", "one repeat: no spread is known", "set `repeats: 5`", None)


def _until(run: Run) -> Iterator[Caveat]:
    until = run.until
    if until is None or until.reached:
        return
    widths = [flow.half_width for flow in until.flows if flow.half_width is not None]
    known = (
        f"a difference below {format_ratio(max(widths))} may be chance" if widths else "no spread is known"
    )
    text = f"the ±{format_ratio(until.asked)} asked for was not reached: {known}"
    steady = not any(flow.drifts for flow in until.flows)
    remedy = "raise `budget`, or end what else goes on" if steady else "find out what drifts, then run again"
    yield Caveat("until", text, remedy, None)


def _places(run: Run) -> Iterator[Caveat]:
    """What a place itself told when it was opened, such as folders that could not be read."""
    for each in run.reached:
        if each.facts is not None and each.facts.warnings:
            yield Caveat("place", f"{each.place}: {'; '.join(each.facts.warnings)}", None, each.place)


def _closed_loop(scenario: Scenario, studies: Sequence[FlowStudy]) -> Iterator[Caveat]:
    for study in studies:
        if study.flow.frequency.kind is FrequencyKind.PER_REQUEST and scenario.workload.rate_per_s is None:
            text = "closed loop: a user asks again only after the answer, so slowness also slows the asking"
            yield Caveat("closed-loop", text, "state `rate` for arrivals that do not wait", study.flow.name)


def _open_loop(scenario: Scenario, studies: Sequence[FlowStudy]) -> Iterator[Caveat]:
    """What its waits count from, and pathtrace's own part in them."""
    rate = scenario.workload.rate_per_s
    for study in studies:
        if rate is None or study.requests is None:
            continue
        late_s, whole_s = study.requests.late_s, study.requests.total_s
        text = (
            f"open loop: requests come at {format_count_rate(rate)} whatever the answers do, and waits count "
            f"from when each was due; pathtrace itself began them at most {format_duration(late_s)} late"
        )
        remedy = "ask from a machine that has less to do" if late_s >= LATE * whole_s else None
        yield Caveat("open-loop", text, remedy, study.flow.name)


def _read_elsewhere(studies: Sequence[FlowStudy]) -> Iterator[Caveat]:
    """Documents that a command opens by their path: what it really read is known from its counters only."""
    for study in studies:
        first, second = study.stages.get(0), study.stages.get(1)
        if first is None or second is None or first.figures.elapsed_s or second.figures.io_bytes is None:
            continue
        name, hop = second.figures.stage.place, study.flow.hops[0].name
        given, read = format_bytes(first.figures.bytes), format_bytes(second.figures.io_bytes)
        text = (
            f"{name} opens the documents itself: {given} is what it was given; by its own counters it read "
            f"{read}, its program's files included"
        )
        remedy = "let the command read standard input to have reading measured apart"
        yield Caveat("reads-itself", text, remedy, f"{study.flow.name}/{hop}")


def _stand_ins(scenario: Scenario, studies: Sequence[FlowStudy]) -> Iterator[Caveat]:
    used = {name for study in studies for name in study.flow.path}
    for place in scenario.places:
        if place.stand_in and place.name in used:
            text = "made or done by pathtrace itself, in place of what is yours"
            yield Caveat("stand-in", text, "name your own files, command or server", place.name)


def _starts(run: Run) -> Iterator[Caveat]:
    seen = set()
    for start in run.starts:
        for layer in start.layers:
            if start.repeat >= 0 and layer.state == "unknown" and (layer.layer, layer.place) not in seen:
                seen.add((layer.layer, layer.place))
                what = layer.layer.replace("_", " ")
                text = f"whether the {what} at {layer.place} was cold or warm is unknown: {layer.evidence}"
                yield Caveat("start-unknown", text, None, layer.place)


def _cut_short(run: Run) -> Iterator[Caveat]:
    for flow in dict.fromkeys(
        window.flow for window in run.windows if window.repeat >= 0 and not window.complete
    ):
        if 0 <= flow < len(run.scenario.flows):
            name = run.scenario.flows[flow].name
            text = f"{name} did not come to its end in every repeat: a budget, a fault or an interrupt"
            yield Caveat("incomplete", text, "raise `budget`, or mend what failed", name)


def _unmeasured(run: Run, studies: Sequence[FlowStudy]) -> Iterator[Caveat]:
    measured = {study.flow.name for study in studies}
    for flow in run.scenario.flows:
        if flow.name not in measured:
            text = f"{flow.name} was not measured: {why_not_measured(run, flow)}"
            yield Caveat("not-measured", text, None, flow.name)


def why_not_measured(run: Run, flow: Flow) -> str:
    """The fault of a place on its path, else what the run's status says."""
    for reached in run.reached:
        if reached.place in flow.path and reached.fault:
            return fault_text(reached)
    if run.status == "interrupted":
        return "the run was interrupted before its turn"
    if any(caveat.code == "budget" for caveat in run.caveats):
        return "the budget ended the run before its turn"
    return "no operation of it was recorded"


def fault_text(reached: Reached) -> str:
    """A place's fault, with its name before it once."""
    fault = reached.fault or ""
    return fault if fault.startswith(f"{reached.place}: ") else f"{reached.place}: {fault}"


def _own_cost(run: Run) -> Iterator[Caveat]:
    cost = run.cost
    if cost is not None and cost.recording_ratio + cost.observing_ratio > TOO_COSTLY:
        total = cost.recording_ratio + cost.observing_ratio
        text = f"recording and observing took {format_ratio(total)} of the timed time in CPU"
        yield Caveat("tracer-cost", text, "fewer, larger operations cost less to record", None)


def _identity(studies: Sequence[FlowStudy]) -> Iterator[Caveat]:
    for study in studies:
        for judged in study.stages.values():
            figures = judged.figures
            if abs(identity_error(figures.time, figures.wall_s, figures.workers)) > IDENTITY:
                text = f"busy and blocked time of {figures.stage.action} exceed wall × workers"
                yield Caveat("time-identity", text, "please report this", study.flow.name)
