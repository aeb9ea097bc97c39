"""The main job: replay a scenario against real places, with observers, into a stored run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pathtrace import registry
from pathtrace.app import locating
from pathtrace.app.claims import Claim
from pathtrace.app.far_hosts import FarHosts
from pathtrace.app.probing import Probing, Surroundings
from pathtrace.app.room import data_caveats, with_room
from pathtrace.app.scratch import remove_abandoned, scratch_folder
from pathtrace.app.until import enough, judged
from pathtrace.errors import StoreError
from pathtrace.model.network import Endpoint, Route
from pathtrace.model.probe import Probed
from pathtrace.model.report import Caveat
from pathtrace.model.run import Activity, CheckResult, Environment, ObserverCost, OwnCost, Reached, Run
from pathtrace.model.sample import ReadingTable
from pathtrace.model.scenario import Scenario
from pathtrace.observers.activity import ActivityWatch
from pathtrace.observers.environment import describe
from pathtrace.observers.mount_helpers import HelperObserver
from pathtrace.ports import HasWorkers, MayLeave, Place, Progress
from pathtrace.redaction import Scrubber
from pathtrace.replay.budget import Budget
from pathtrace.replay.executing import Executor
from pathtrace.replay.metering import Meter
from pathtrace.replay.opening import close_places, open_places
from pathtrace.replay.operations import Recording
from pathtrace.replay.quality import ask_checks
from pathtrace.replay.repeats import Replay
from pathtrace.replay.stop import StopRequest
from pathtrace.store import facts, runs
from pathtrace.store.leftovers import tidy
from pathtrace.store.recorder import Recorder
from pathtrace.units import seconds

clock = time.perf_counter_ns


class Measurement:
    """One run of a scenario, from its folder to its facts. Use once: ``await measure()``, then ``close()``.

    ``scenario``: its places put on the hosts that they are really on (``locating``). ``until``: go on until
    the interval of every flow's median is as narrow, as a ratio of the median.
    """

    def __init__(
        self,
        scenario: Scenario,
        store: Path,
        label: str | None,
        progress: Progress,
        stop: StopRequest,
        probing: Probing,
        until: float | None = None,
    ) -> None:
        self._scenario = scenario
        self._store = store
        self._label = label
        self._progress = progress
        self._stop = stop
        self._probing = probing
        self._until = until
        self._scrub = Scrubber((*scenario.secrets, *probing.secrets))
        self._started_at = datetime.now(UTC)
        self._origin_ns = clock()
        self._environment: Environment = describe(scenario.here.name)
        self._places: Mapping[str, Place] = registry.build_places(scenario, clock)
        self._reached: dict[str, Reached] = {}
        self._probed = Probed()
        self._far = FarHosts(scenario, lambda: clock() - self._origin_ns)
        self._endpoints: Mapping[str, Endpoint] = {}
        self._routes: tuple[Route, ...] = ()
        self._replaying_ns = self._origin_ns
        self._replayed_ns: int | None = None
        self._activity: tuple[Activity, ...] = ()
        self._refusal: StoreError | None = None
        self._checks: tuple[CheckResult, ...] = ()
        self._data_caveats: tuple[Caveat, ...] = ()
        self._claim = Claim(store)
        try:
            self.folder = runs.create(store, scenario.text, self._scrub, self._started_at, self._claim.take)
        except StoreError:
            self._claim.release()
            raise

    async def measure(self) -> Path:
        """Replay, probe, fingerprint, close, write the facts; returns the run's folder.

        StoreError only where nothing could be stored; of a part ``unstored`` tells. A second stop request
        cuts the replay short and still leaves a readable run.
        """
        remove_abandoned(self._store)
        self._recorder = await Recorder.start(self.folder, self._scrub)
        try:
            await self._with_places()
        finally:
            await self._recorder.close()
        self._write("interrupted" if self._stop.asked else self._status())
        return self.folder

    def close(self) -> None:
        """Nothing more is written into the run's folder; where it has become no run, it goes."""
        tidy(self.folder)
        self._claim.release()

    async def _with_places(self) -> None:
        control = self._scenario.control
        budget = Budget(control.budget_bytes, control.budget_s, clock, self._stop)
        recording = Recording(self._recorder, clock, self._origin_ns, self._progress)
        async with AsyncExitStack() as stack:
            scratch = stack.enter_context(scratch_folder(self._claim, self.folder.name))
            stack.push_async_callback(close_places, self._places)
            self._reached = await open_places(self._places, scratch, self._stop)
            self._data_caveats = await data_caveats(self._scenario, frozenset(self._usable()))
            stack.push_async_callback(self._far.close)
            await self._unless_stopped(self._look_around())
            servers = {name: each.server_pid for name, each in self._reached.items() if each.server_pid}
            mounts = {name: each.mount for name, each in self._reached.items() if each.mount}
            workers = [place for place in self._usable().values() if isinstance(place, HasWorkers)]
            observers = registry.build_observers(servers, self._endpoints, mounts, workers)
            observers = (*observers, *self._far.watches.values())
            self._meter = Meter(observers, self._recorder, clock, self._origin_ns)
            self._executor = Executor(self._scenario, self._places, recording, self._meter, budget)
            self._replay = Replay(
                self._scenario,
                self._places,
                self._reached,
                self._executor,
                clock,
                budget,
                self._stop,
                self._far,
                enough(self._scenario, self._until),
            )
            await stack.enter_async_context(self._far.watched())
            serving = {*servers.values(), *HelperObserver(mounts).pids}
            await self._interruptible(self._observed(budget, serving))

    async def _look_around(self) -> None:
        """Where servers are and which way leads there; what may be asked of their hosts over ssh."""
        self._endpoints = await locating.endpoints(self._scenario, self._places, self._reached.values())
        self._routes = await locating.routes(self._endpoints)
        await self._far.open(self._reached)
        for name, each in self._reached.items():
            endpoint, mount = self._endpoints.get(name), self._far.mounts.get(name)
            self._reached[name] = replace(each, endpoint=endpoint, far_mount=mount)

    async def _unless_stopped(self, work: Coroutine[None, None, None]) -> None:
        """Nothing is measured yet that could be lost: the first request ends a host that does not answer."""
        tasks = (asyncio.create_task(work, name="look"), asyncio.create_task(self._stop.wait(), name="stop"))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        if not tasks[0].cancelled():
            tasks[0].result()

    @property
    def unstored(self) -> StoreError | None:
        """Why a part of what was measured is not in the store; None if all of it is."""
        return self._recorder.failure or self._refusal

    async def _interruptible(self, work: Coroutine[None, None, None]) -> None:
        """Run the work as a task that a second stop request may cancel; an outer cancel passes through."""
        task = asyncio.create_task(work, name="replay")
        self._stop.attach(task)
        try:
            await task
        except asyncio.CancelledError:
            if not self._stop.asked:
                raise
        finally:
            self._stop.attach(None)

    async def _observed(self, budget: Budget, serving: Collection[int]) -> None:
        watch = ActivityWatch(self._scenario.here.name, serving, clock)
        self._write(facts.RUNNING)
        watch.begin()
        self._replaying_ns = clock()
        attendants = [
            asyncio.create_task(self._meter.run(), name="meter"),
            asyncio.create_task(self._end_when_broken(budget), name="store watch"),
        ]
        try:
            await self._replay.run(self._checkpoint)
            self._activity = (watch.end(),)
        finally:
            self._replayed_ns = clock()
            for task in attendants:
                task.cancel()
            await asyncio.wait(attendants)
        if not self._stop.asked:
            self._reached = await with_room(self._reached, self._places)
            self._checks = await ask_checks(self._scenario, self._executor, [*self._replay.skipped], clock)
            self._progress.message("measuring each resource alone")
            hosts = {host.name: host for host in self._seen().hosts}
            around = Surroundings(
                self._endpoints, self._routes, hosts, self._far, self._scenario.control.budget_bytes
            )
            self._probed = await self._probing.measure(
                self._scenario, self._usable(), around, clock, self._stop
            )
            await self._fingerprint()

    async def _end_when_broken(self, budget: Budget) -> None:
        await self._recorder.broken.wait()
        budget.end("store")

    async def _checkpoint(self) -> None:
        self._write(facts.RUNNING)

    def _usable(self) -> dict[str, Place]:
        return {name: place for name, place in self._places.items() if not self._reached[name].fault}

    async def _fingerprint(self) -> None:
        """Only now: reading the data any earlier would warm what it describes."""
        for name, place in self._usable().items():
            known = self._reached[name].facts
            if known is not None:
                fingerprint = await place.fingerprint()
                self._reached[name] = replace(
                    self._reached[name], facts=replace(known, fingerprint=fingerprint)
                )

    def _status(self) -> str:
        whole = (
            not self._replay.skipped
            and self._replay.repeats_done > 0
            and not self._recorder.faults
            and self.unstored is None
        )
        return "complete" if whole else "partial"

    def _write(self, status: str) -> None:
        """The facts as known so far; a store that refuses is told of at the end, not here."""
        try:
            facts.write_facts(self.folder, self._run(status), self._scrub)
        except StoreError as error:
            self._refusal = error

    def _run(self, status: str) -> Run:
        return Run(
            id=self.folder.name,
            label=self._label,
            status=status,
            started_at=self._started_at.isoformat(timespec="seconds"),
            duration_s=seconds(clock() - self._origin_ns),
            scenario=self._scenario,
            environment=with_servers(self._seen(), self._scenario, self._reached.values()),
            reached=tuple(self._reached.values()),
            starts=tuple(self._replay.starts),
            windows=(),
            ceilings=self._probed.ceilings,
            activity=self._activity,
            cost=self._cost(),
            caveats=self._caveats(),
            faults=(),
            samples=runs.empty_samples(),
            readings=ReadingTable(()),
            checks=self._checks,
            routes=self._routes,
            paths=self._probed.paths,
            until=judged(self._scenario, self._until, self._replay),
        )

    def _seen(self) -> Environment:
        """This host, and those that were asked over ssh."""
        return replace(self._environment, hosts=(*self._environment.hosts, *self._far.facts.values()))

    def _cost(self) -> OwnCost:
        """Of the repeats: what came before and after them must not make it look small."""
        wall_ns = max(1, (self._replayed_ns or clock()) - self._replaying_ns)
        spent = self._meter.cost_ns
        return OwnCost(
            recording_ratio=self._recorder.recording_ns / wall_ns,
            observing_ratio=sum(spent.values()) / wall_ns,
            sample_ns=self._recorder.sample_ns,
            probes_s=self._probed.took_s or None,
            observers=tuple(ObserverCost(name, spent[name] / wall_ns) for name in sorted(spent)),
        )

    def _caveats(self) -> tuple[Caveat, ...]:
        skipped = (
            Caveat("not-measured", f"{name}: {reason}", "mend it and run again", name)
            for name, reason in self._replay.skipped.items()
        )
        far = (*self._far.caveats(), *self._probed.caveats)
        left = (
            Caveat("left-behind", f"scratch data of {name} lies in {where} still", "remove that folder", name)
            for name, place in self._places.items()
            if isinstance(place, MayLeave) and (where := place.left_behind)
        )
        return (*self._data_caveats, *self._replay.caveats.values(), *far, *skipped, *left)


def with_servers(environment: Environment, scenario: Scenario, reached: Iterable[Reached]) -> Environment:
    """The hosts with the servers and engines that were reached on them, by what these say of themselves."""
    said = [
        (scenario.place(each.place).host, f"{each.place}: {each.identity}")
        for each in reached
        if each.identity
    ]
    hosts = tuple(
        replace(host, servers=tuple(text for where, text in said if where == host.name))
        for host in environment.hosts
    )
    return replace(environment, hosts=hosts)
