"""What a run would read, write and need, held against what is there. Changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path

from pathtrace.analysis.memory_plan import HostPlan, host_plans, model_plans, weights_place
from pathtrace.analysis.room_plan import index_room
from pathtrace.app.room import data_caveats, free_bytes, index_folders
from pathtrace.errors import PlaceError
from pathtrace.model.check import CheckReport, MemoryCheck, PlaceCheck, RoomCheck, TimeEstimate
from pathtrace.model.report import Caveat
from pathtrace.model.run import HostFacts
from pathtrace.model.scenario import Action, FrequencyKind, Host, Scenario
from pathtrace.model.work import PlaceFacts
from pathtrace.ports import Place as PlacePort
from pathtrace.units import format_duration

SLOW_BYTES_PER_S = 50e6
FAST_BYTES_PER_S = 2e9
"""What storage in use moves: an old disk or a 1GbE link at worst, NVMe or memory at best."""


async def check_scenario(
    scenario: Scenario, places: Mapping[str, PlacePort], host: HostFacts, store: Path
) -> CheckReport:
    """Reach every place that a flow goes through, side by side."""
    checks = tuple(await asyncio.gather(*(_check(scenario, name, place) for name, place in places.items())))
    facts = {check.name: check.facts for check in checks if check.facts is not None}
    complete = len(facts) == len(checks)
    read_bytes = sum(each.read_bytes or 0 for each in facts.values()) if complete else None
    write_bytes = sum(each.write_bytes or 0 for each in facts.values()) if complete else None
    return CheckReport(
        scenario=scenario,
        places=checks,
        memory=_memory(scenario, facts, host),
        room=(_scratch_room(facts, store), *_index_rooms(scenario, facts, store)),
        read_bytes=read_bytes,
        write_bytes=write_bytes,
        estimate=_estimate(scenario, read_bytes),
        caveats=(
            *(
                Caveat("place", warning, None, name)
                for name, each in facts.items()
                for warning in each.warnings
            ),
            *await data_caveats(scenario, frozenset(facts)),
            *_assumed_context(scenario, facts),
        ),
    )


async def _check(scenario: Scenario, name: str, place: PlacePort) -> PlaceCheck:
    described = scenario.place(name)
    try:
        async with asyncio.timeout(described.timeout_s):
            facts = await place.check()
    except PlaceError as error:
        fault = str(error).removeprefix(f"{name}: ")
        return PlaceCheck(name, described.kind.value, described.host, None, fault, error.hint)
    except TimeoutError:
        fault = f"no answer within {format_duration(described.timeout_s)}"
        return PlaceCheck(name, described.kind.value, described.host, None, fault, "raise its timeout")
    return PlaceCheck(name, described.kind.value, described.host, facts, None)


def _memory(scenario: Scenario, facts: Mapping[str, PlaceFacts], here: HostFacts) -> tuple[MemoryCheck, ...]:
    """This host first, then every other that a model runs on: each against its own memory alone."""
    plans = {plan.host: plan for plan in host_plans(scenario, facts)}
    plans.setdefault(here.name, HostPlan(here.name, ()))
    described = {host.name: host for host in scenario.hosts}
    names = sorted(plans, key=lambda name: name != here.name)
    return tuple(_host_memory(plans[name], described.get(name), here) for name in names)


def _host_memory(plan: HostPlan, host: Host | None, here: HostFacts) -> MemoryCheck:
    is_here = plan.host == here.name
    declared = host.memory_bytes if host else None
    return MemoryCheck(
        host=plan.host,
        needed_bytes=plan.low_bytes,
        available_bytes=here.memory_available_bytes if is_here else None,
        total_bytes=here.memory_bytes if is_here else declared,
        high_bytes=plan.high_bytes,
        gpu_bytes=host.gpu_memory_bytes if host else None,
        parts=plan.parts,
    )


def _assumed_context(scenario: Scenario, facts: Mapping[str, PlaceFacts]) -> Iterator[Caveat]:
    """Models are often made for far longer contexts than their servers are told to hold."""
    if scenario.workload.model.context is not None:
        return
    for plan in model_plans(scenario, facts):
        source = weights_place(scenario.flows, scenario, plan.place)
        header = facts[source].weights if source is not None and source in facts else None
        if header is not None and header.context is not None and header.causal:
            text = (
                f"memory of {plan.place} is planned for {header.context:,} tokens, all that it was made for"
            )
            yield Caveat("assumed", text, "state `context` of the workload's model", plan.place)


def _scratch_room(facts: Mapping[str, PlaceFacts], store: Path) -> RoomCheck:
    needed = sum(each.write_bytes or 0 for each in facts.values())
    return RoomCheck("scratch", str(store), needed, free_bytes(store))


def _index_rooms(scenario: Scenario, facts: Mapping[str, PlaceFacts], store: Path) -> Iterator[RoomCheck]:
    for place, folder in index_folders(scenario, store):
        room = index_room(scenario, facts, place.name)
        if place.name in facts and room is not None:
            free = free_bytes(folder)
            yield RoomCheck(place.name, str(folder), room.low_bytes, free, room.high_bytes, room.basis)


def _estimate(scenario: Scenario, read_bytes: int | None) -> TimeEstimate:
    control = scenario.control
    limit = f"the budget ends a run after {format_duration(control.budget_s)}"
    if read_bytes is None:
        return TimeEstimate(None, None, f"not every place was reached; {limit}")
    unseen = {Action.PROCESS, Action.GENERATE, Action.EMBED}
    flows = [flow for flow in scenario.flows if unseen & {stage.action for stage in flow.stages}]
    if any(flow.frequency.kind is FrequencyKind.PER_REQUEST for flow in flows) or any(
        not scenario.place(stage.place).stand_in
        for flow in flows
        for stage in flow.stages
        if stage.action in unseen
    ):
        return TimeEstimate(
            None, None, f"how long commands and model servers take is not known before a run; {limit}"
        )
    moved = read_bytes * (control.repeats + control.warmup)
    low, high = moved / FAST_BYTES_PER_S, moved / SLOW_BYTES_PER_S
    basis = f"for reading at 50 MB/s to 2 GB/s; stand-ins and SQLite come on top; {limit}"
    return TimeEstimate(min(low, control.budget_s), min(high, control.budget_s), basis)
