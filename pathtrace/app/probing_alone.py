"""``probe``: opens the places of a scenario and measures each resource alone. Replays and stores nothing."""

from __future__ import annotations

import time
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from pathtrace import registry
from pathtrace.app import locating
from pathtrace.app.far_hosts import FarHosts
from pathtrace.app.probing import Probing, Surroundings
from pathtrace.app.scratch import claimed, remove_abandoned, scratch_folder
from pathtrace.model.probe import ProbeReport
from pathtrace.model.scenario import Scenario
from pathtrace.observers.environment import describe
from pathtrace.replay.opening import close_places, open_places
from pathtrace.replay.stop import StopRequest

clock = time.perf_counter_ns


async def probe_alone(scenario: Scenario, store: Path, probing: Probing) -> ProbeReport:
    """``scenario``: its places put on the hosts that they are really on. StoreError: no scratch folder."""
    stop, places = StopRequest(), registry.build_places(scenario, clock)
    far = FarHosts(scenario, clock)
    async with AsyncExitStack() as stack:
        name = f"probe-{time.time_ns()}"
        remove_abandoned(store)
        scratch = stack.enter_context(scratch_folder(stack.enter_context(claimed(store, name)), name))
        stack.push_async_callback(close_places, places)
        reached = await open_places(places, scratch, stop)
        stack.push_async_callback(far.close)
        endpoints = await locating.endpoints(scenario, places, reached.values())
        routes = await locating.routes(endpoints)
        await far.open(reached)
        usable = {name: place for name, place in places.items() if reached[name].fault is None}
        hosts = {host.name: host for host in describe(scenario.here.name).hosts}
        around = Surroundings(endpoints, routes, {**hosts, **far.facts}, far, scenario.control.budget_bytes)
        probed = await probing.measure(scenario, usable, around, clock, stop)
    probed = replace(probed, caveats=(*far.caveats(), *probed.caveats))
    return ProbeReport(scenario, tuple(reached.values()), routes, probed)
