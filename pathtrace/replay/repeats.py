"""Puts executions in order: repeats, start conditions, flows in the scenario's order, idle gaps, budgets."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence

from pathtrace.errors import PlaceError
from pathtrace.model.report import Caveat
from pathtrace.model.run import Reached, StartCondition
from pathtrace.model.sample import Window
from pathtrace.model.scenario import Action, FilesSpec, Flow, FrequencyKind, Scenario, Start
from pathtrace.model.work import Clock, LayerState
from pathtrace.ports import Place, ServerCaches
from pathtrace.replay.budget import Budget
from pathtrace.replay.executing import Executor
from pathtrace.replay.opening import describe
from pathtrace.replay.operations import Execution
from pathtrace.replay.stop import StopRequest
from pathtrace.units import seconds

Indexed = tuple[int, Flow]
"""A flow with its position in the scenario."""

Enough = Callable[[Sequence[Window]], bool]
"""Asked after each repeat with the executions so far: do they tell what is wanted?"""

MOST = 200
"""Repeats of a run that goes on until they are enough: what has not settled by then will not."""


class Replay:
    """One run's repeats. Use once; ``starts``, ``caveats`` and ``done`` grow as it goes on.

    With ``enough`` the scenario's number of repeats is the least one: more follow until that says yes, the
    budget ends or there are ``MOST``.
    """

    def __init__(
        self,
        scenario: Scenario,
        places: Mapping[str, Place],
        reached: Mapping[str, Reached],
        executor: Executor,
        clock: Clock,
        budget: Budget,
        stop: StopRequest,
        server_caches: ServerCaches,
        enough: Enough | None = None,
    ) -> None:
        self._scenario = scenario
        self._server_caches = server_caches
        self._places = places
        self._faults = {name: each.fault for name, each in reached.items() if each.fault}
        self._executor = executor
        self._clock = clock
        self._budget = budget
        self._stop = stop
        self._enough = enough
        if enough is not None:
            executor.repeats = None
        self.starts: list[StartCondition] = []
        self.caveats: dict[tuple[str, str | None], Caveat] = {}
        self.skipped: dict[str, str] = {}
        """Flow name -> why it, or the rest of it, was not measured."""
        self.repeats_done = 0

    async def run(self, checkpoint: Callable[[], Awaitable[None]]) -> None:
        """Execute warm-ups and repeats; ``checkpoint`` is awaited after each."""
        for repeat in itertools.count(-self._scenario.control.warmup):
            if self._budget.ends() or not self._usable():
                break
            started_ns, bytes_before = self._clock(), self._executor.bytes_read
            await self._repeat(repeat)
            self.repeats_done += repeat >= 0 and not self._budget.ends()
            await checkpoint()
            if self._stop.asked or self._suffices(repeat + 1):
                break
            again = (self._executor.bytes_read - bytes_before, seconds(self._clock() - started_ns))
            if not self._budget.allows(*again):
                break
        self._note_budget()

    def _suffices(self, repeats: int) -> bool:
        """True if no further repeat is wanted after so many, whatever the budget has left."""
        if repeats < self._scenario.control.repeats:
            return False
        return self._enough is None or repeats >= MOST or self._enough(self.windows)

    @property
    def windows(self) -> list[Window]:
        """The executions so far of flows that still take part."""
        given_up = {index for index, flow in enumerate(self._scenario.flows) if flow.name in self.skipped}
        return [window for window in self._executor.windows if window.flow not in given_up]

    @property
    def ended_by(self) -> str | None:
        """What ended the repeats before they were enough: bytes, time, store, stop or repeats."""
        if self._stop.asked:
            return "stop"
        return self._budget.ended_by or ("repeats" if self.repeats_done >= MOST else None)

    def _usable(self) -> list[Indexed]:
        """Flows all of whose places can be used, with their index."""
        usable = []
        for index, flow in enumerate(self._scenario.flows):
            broken = next((name for name in flow.path if name in self._faults), None)
            if broken is not None:
                self.skipped.setdefault(flow.name, _named(broken, self._faults[broken]))
            elif flow.name not in self.skipped:
                usable.append((index, flow))
        return usable

    async def _repeat(self, repeat: int) -> None:
        await self._begin(repeat)
        read: list[str] = []
        for group in self._groups():
            await self._cool_again(group, read)
            async with asyncio.TaskGroup() as tasks:
                for index, flow in group:
                    tasks.create_task(self._in_every_way(repeat, index, flow), name=flow.name)
        for number, gap_s in enumerate(self._scenario.control.idle_gaps_s):
            await self._after_idle(repeat, number, gap_s)

    async def _cool_again(self, group: Sequence[Indexed], read: list[str]) -> None:
        """Before flows read what an earlier one of this repeat read, also by another place's name: a cold
        start is theirs too. ``read`` grows by their paths."""
        paths = self._paths_read(group)
        for name, path in paths.items():
            if self._scenario.control.start is Start.COLD and any(_overlap(path, other) for other in read):
                await self._begin_again(name)
        read += paths.values()

    def _paths_read(self, group: Sequence[Indexed]) -> dict[str, str]:
        """What the flows' first places read, by the places' names."""
        specs = {flow.path[0]: self._scenario.place(flow.path[0]).spec for _, flow in group}
        return {
            name: os.path.realpath(spec.path) if spec.path is not None else str(spec.url)
            for name, spec in specs.items()
            if isinstance(spec, FilesSpec) and spec.make is None
        }

    async def _begin_again(self, place: str) -> None:
        """Bring one place into the start condition once more; its evidence is the newer one's."""
        condition = self.starts.pop()
        try:
            layers = await self._begun(place, frozenset({Action.READ}))
        except PlaceError as error:
            self._faults[place] = describe(error)
            layers = ()
        kept = [layer for layer in condition.layers if layer.place != place] if layers else condition.layers
        both = (*kept, *layers)
        self.starts.append(StartCondition(condition.repeat, self._start_label(both), both))

    def _groups(self) -> list[list[Indexed]]:
        """Flows in the scenario's order, those that run together at the place of their first."""
        together = {name: names for names in self._scenario.control.together for name in names}
        groups: dict[tuple[str, ...], list[Indexed]] = {}
        for index, flow in self._usable():
            groups.setdefault(together.get(flow.name, (flow.name,)), []).append((index, flow))
        return list(groups.values())

    async def _in_every_way(self, repeat: int, index: int, flow: Flow) -> None:
        """A flow once, or for requests once with each number of users."""
        levels = self._scenario.workload.users if self._asks_in_turn(flow) else (1,)
        for number, users in enumerate(levels):
            await self._execute(Execution(repeat, index, number), flow, users)

    def _asks_in_turn(self, flow: Flow) -> bool:
        return _asks(flow) and self._scenario.workload.rate_per_s is None

    async def _execute(self, execution: Execution, flow: Flow, users: int) -> None:
        work = self._executor.ask(execution, flow, users) if _asks(flow) else None
        await self._guarded(flow, work or self._executor.stream(execution, flow))

    async def _after_idle(self, repeat: int, number: int, gap_s: float) -> None:
        """Wait, ask once, and load again: in this order, so that our reading warms nothing for a server."""
        if not await self._budget.pause(gap_s):
            return
        levels = len(self._scenario.workload.users)
        for index, flow in self._usable():
            if _asks(flow):
                execution = Execution(repeat, index, levels + number)
                await self._guarded(flow, self._executor.ask_after_idle(execution, flow, gap_s))
        for index, flow in self._usable():
            if flow.frequency.kind is FrequencyKind.PER_LOAD:
                await self._execute(Execution(repeat, index, 1 + number), flow, 1)

    async def _guarded(self, flow: Flow, work: Coroutine[None, None, None]) -> None:
        """Do the work unless the run ends; a place that fails costs its flow, not the others."""
        if self._budget.ends() or flow.name in self.skipped:
            work.close()
            return
        try:
            await work
        except PlaceError as error:
            self.skipped[flow.name] = describe(error)
        self.skipped |= self._executor.gave_up

    async def _begin(self, repeat: int) -> None:
        """Bring every place that takes part into the start condition, and keep the evidence."""
        actions: dict[str, set[Action]] = {}
        for _, flow in self._usable():
            for stage in flow.stages:
                actions.setdefault(stage.place, set()).add(stage.action)
        layers: list[LayerState] = []
        for name, wanted in actions.items():
            try:
                layers += await self._begun(name, frozenset(wanted))
            except PlaceError as error:
                self._faults[name] = describe(error)
        self.starts.append(StartCondition(repeat, self._start_label(layers), tuple(layers)))

    async def _begun(self, place: str, actions: frozenset[Action]) -> tuple[LayerState, ...]:
        """The place's own layers; what is known of its server's cache stands in place of its own guess.

        The server's comes first: bringing the client into the condition must not fill it again.
        """
        start = self._scenario.control.start
        seen = await self._server_caches.begin(place, start)
        layers = await self._places[place].begin(start, actions)
        if seen is None:
            return layers
        return (*(layer for layer in layers if layer.layer != seen.layer), seen)

    def _start_label(self, layers: Sequence[LayerState]) -> str:
        """The start asked for if every client cache shows it, else as-is."""
        wanted = self._scenario.control.start
        unproved = [
            layer for layer in layers if layer.layer == "client_cache" and layer.state != wanted.value
        ]
        if wanted is Start.AS_IS or not unproved:
            return wanted.value
        for layer in unproved:
            self.caveats["start-unproved", layer.place] = Caveat(
                "start-unproved",
                f"the client's cache could not be shown to be {wanted.value} for {layer.place}: "
                f"{layer.evidence}",
                "read the figures as 'as-is'; a larger data set or a local file system can be proved",
                layer.place,
            )
        return Start.AS_IS.value

    def _note_budget(self) -> None:
        """Say so if the budget, not the scenario, ended the run."""
        control, ended_by = self._scenario.control, self._budget.ended_by
        if ended_by not in ("bytes", "time") or self.repeats_done >= control.repeats:
            return
        self.caveats["budget", None] = Caveat(
            "budget",
            f"the budget of {ended_by} ended the run after {self.repeats_done} of {control.repeats} repeats",
            f"raise budget: {{{ended_by}: …}}, or take a sample of the files",
        )


def _named(place: str, fault: str) -> str:
    """A fault with its place's name before it, once."""
    return fault if fault.startswith(f"{place}: ") else f"{place}: {fault}"


def _overlap(path: str, other: str) -> bool:
    """True if they are the same, or one lies within the other."""
    a, b = path.rstrip(os.sep) + os.sep, other.rstrip(os.sep) + os.sep
    return a.startswith(b) or b.startswith(a)


def _asks(flow: Flow) -> bool:
    return flow.frequency.kind is FrequencyKind.PER_REQUEST
