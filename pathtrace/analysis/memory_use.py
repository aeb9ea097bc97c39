"""Memory and room as they were during a run, beside the plan: of each host, each model and each disk.

A model server's resident set counts the pages of mapped weights, as the plan does. Whatever nobody
looked at stays unknown.
"""

from __future__ import annotations

from collections.abc import Iterator

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.memory_plan import Facts, ModelPlan, host_plans, model_plans, weights_place
from pathtrace.analysis.room_plan import index_room
from pathtrace.model.report import CapacityReport, Finding
from pathtrace.model.run import HostFacts, Reached
from pathtrace.model.scenario import Access, FilesSpec
from pathtrace.units import format_bytes

OFF = 0.15
"""Of the plan: beyond this, measured use is said to differ from it."""


def capacity_reports(evidence: Evidence) -> tuple[CapacityReport, ...]:
    """Memory of each host and of each model's server at their fullest, then room on disks."""
    run = evidence.run
    needed = {plan.host: plan.low_bytes for plan in host_plans(run.scenario, _facts(evidence))}
    hosts = (
        CapacityReport(host.name, host.memory_bytes, _most_used(evidence, host), needed.get(host.name))
        for host in run.environment.hosts
    )
    models = (
        CapacityReport(plan.place, host.memory_bytes, taken, plan.low_bytes)
        for plan in model_plans(run.scenario, _facts(evidence))
        if (host := evidence.host(plan.host)) and (taken := peak_bytes(evidence, plan.place)) is not None
    )
    rooms = (room for reached in run.reached if (room := _room(evidence, reached)) is not None)
    return (*hosts, *models, *rooms)


def memory_findings(evidence: Evidence) -> Iterator[Finding]:
    """Weights that do not fit where they are mapped; then what each server took, beside its plan."""
    for plan in model_plans(evidence.run.scenario, _facts(evidence)):
        yield from _mapped_into_too_little(evidence, plan)
        taken = peak_bytes(evidence, plan.place)
        if taken is not None and plan.low_bytes is not None and _alone(evidence, plan.place):
            yield _beside_the_plan(plan, taken)


def peak_bytes(evidence: Evidence, place: str) -> int | None:
    """The largest resident set of the processes behind a place's URL; None if nobody could look."""
    seen = evidence.run.readings.series("process", place, "rss_bytes")
    return int(max(value for _, value in seen)) if seen else None


def _alone(evidence: Evidence, place: str) -> bool:
    """False where one process serves several places: nobody can say which of its memory is whose."""
    pids = [each.server_pid for each in evidence.run.reached if each.server_pid is not None]
    reached = evidence.reached(place)
    return reached is None or reached.server_pid is None or pids.count(reached.server_pid) == 1


def _facts(evidence: Evidence) -> Facts:
    return {each.place: each.facts for each in evidence.run.reached if each.facts is not None}


def _most_used(evidence: Evidence, host: HostFacts) -> int | None:
    """When least was available; of this host over the whole run, of others as found at its start."""
    lowest = host.memory_available_bytes
    if evidence.here is not None and host.name == evidence.here.name:
        seen = [value for _, value in evidence.run.readings.series("memory", "host", "available_bytes")]
        lowest = min((int(value) for value in seen), default=lowest)
    return None if lowest is None else host.memory_bytes - lowest


def _room(evidence: Evidence, reached: Reached) -> CapacityReport | None:
    """Of a place that writes, or whose disk could be looked at; of a database what its index needs."""
    facts = reached.facts
    if facts is None or (not facts.write_bytes and facts.disk_total_bytes is None):
        return None
    index = index_room(evidence.run.scenario, _facts(evidence), reached.place)
    needed = facts.write_bytes or (index.low_bytes if index else None)
    return CapacityReport(reached.place, facts.disk_total_bytes, facts.disk_used_bytes, needed)


def _mapped_into_too_little(evidence: Evidence, plan: ModelPlan) -> Iterator[Finding]:
    """A server that runs already holds its cache: then only its weights have yet to find room.

    Pages of a mapped file count as available, whether they are in memory or not.
    """
    scenario = evidence.run.scenario
    source = weights_place(scenario.flows, scenario, plan.place)
    host = evidence.host(plan.host)
    weights = plan.parts[0].low_bytes
    if source is None or host is None or weights is None or not _mapped(evidence, source):
        return
    running = evidence.reached(plan.place)
    held = running is not None and running.server_pid is not None
    needed = weights if held else plan.low_bytes or weights
    room = host.memory_available_bytes or host.memory_bytes
    if needed > room:
        text = f"{source} is mapped into less memory than it needs: requests then read weights too"
        others = (
            "" if needed == weights else f", {format_bytes(needed)} with what {plan.place} needs beside them"
        )
        seen = f"{format_bytes(weights)} of weights{others}, {format_bytes(room)} available on {host.name}"
        yield Finding("memory", text, (seen,))


def _mapped(evidence: Evidence, source: str) -> bool:
    """As its loader would take them: weights are mapped unless the scenario says how they are read."""
    place = evidence.place(source)
    assert isinstance(place.spec, FilesSpec)
    known = evidence.reached(source)
    is_weights = place.data == "weights" or (known and known.facts and known.facts.weights is not None)
    return place.spec.access is Access.MMAP or (bool(is_weights) and not place.spec.access_stated)


def _beside_the_plan(plan: ModelPlan, taken: int) -> Finding:
    low, high = plan.low_bytes or 0, plan.high_bytes
    planned = f"{format_bytes(low)} to {format_bytes(high)}" if high else f"at least {format_bytes(low)}"
    text = f"{plan.place} took {format_bytes(taken)} of memory at most, planned were {planned}"
    if taken < low * (1 - OFF):
        text += ": its weights are not all in memory, or elsewhere (a GPU), or its context is shorter"
    elif high is not None and taken > high * (1 + OFF):
        text += ": its context or its number of slots is larger, or it keeps earlier prompts"
    parts = (
        f"{part.name}: {format_bytes(part.low_bytes)}, {part.basis}"
        for part in plan.parts
        if part.low_bytes is not None
    )
    return Finding("memory-use", text, ("resident set of its process, mapped weights included", *parts))
