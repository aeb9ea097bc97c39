"""Puts executions in order: repeats, start conditions, flows in the scenario's order, budgets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from pathtrace.errors import PlaceError
from pathtrace.model.report import Caveat
from pathtrace.model.run import Reached, StartCondition
from pathtrace.model.sample import Window
from pathtrace.model.scenario import Action, Flow, FrequencyKind, Scenario, Start
from pathtrace.model.work import Item, LayerState
from pathtrace.ports import Place, Questions, ReadsItself
from pathtrace.replay.asking import Asking
from pathtrace.replay.budget import Budget
from pathtrace.replay.metering import Meter
from pathtrace.replay.opening import describe
from pathtrace.replay.stop import StopRequest
from pathtrace.replay.stream import Execution, Recording, StageSetup, Stream, hand_over

DEFAULT_QUESTIONS = (
    "Which documents mention the warranty of the washing machine?",
    "When was the last invoice from the electricity company?",
    "Summarise the minutes of the most recent meeting.",
    "What does the lease say about the notice period?",
    "How do I reset the heating controller?",
)
"""Asked where the scenario gives no prompts and what is stored suggests none."""


class Replay:
    """One run's repeats. Use once; ``starts``, ``caveats`` and ``done`` grow as it goes on."""

    def __init__(
        self,
        scenario: Scenario,
        places: Mapping[str, Place],
        reached: Mapping[str, Reached],
        recording: Recording,
        meter: Meter,
        budget: Budget,
        stop: StopRequest,
    ) -> None:
        self._scenario = scenario
        self._places = places
        self._faults = {name: each.fault for name, each in reached.items() if each.fault}
        self._recording = recording
        self._meter = meter
        self._budget = budget
        self._stop = stop
        self._bytes = 0
        self.starts: list[StartCondition] = []
        self.caveats: dict[tuple[str, str | None], Caveat] = {}
        self.skipped: dict[str, str] = {}
        """Flow name -> why it, or the rest of it, was not measured."""
        self.repeats_done = 0

    async def run(self, checkpoint: Callable[[], Awaitable[None]]) -> None:
        """Execute warm-ups and repeats; ``checkpoint`` is awaited after each."""
        control = self._scenario.control
        clock = self._recording.clock
        for repeat in range(-control.warmup, control.repeats):
            if self._budget.ends() or not self._usable():
                break
            started, bytes_before = clock(), self._bytes
            await self._repeat(repeat)
            self.repeats_done += repeat >= 0 and not self._budget.ends()
            await checkpoint()
            if self._stop.asked:
                break
            again = (self._bytes - bytes_before, (clock() - started) / 1e9)
            if repeat + 1 < control.repeats and not self._budget.allows(*again):
                break
        self._note_budget()

    def _usable(self) -> list[tuple[int, Flow]]:
        """Flows all of whose places can be used, with their index."""
        usable = []
        for index, flow in enumerate(self._scenario.flows):
            broken = next((name for name in flow.path if name in self._faults), None)
            if broken is not None:
                self.skipped.setdefault(flow.name, f"{broken}: {self._faults[broken]}")
            elif flow.name not in self.skipped:
                usable.append((index, flow))
        return usable

    async def _repeat(self, repeat: int) -> None:
        await self._begin(repeat)
        for index, flow in self._usable():
            if self._budget.ends():
                return
            try:
                await self._execute_levels(repeat, index, flow)
            except PlaceError as error:
                self.skipped[flow.name] = describe(error)

    async def _begin(self, repeat: int) -> None:
        """Bring every place that takes part into the start condition, and keep the evidence."""
        control = self._scenario.control
        actions: dict[str, set[Action]] = {}
        for _, flow in self._usable():
            for stage in flow.stages:
                actions.setdefault(stage.place, set()).add(stage.action)
        layers: list[LayerState] = []
        for name, wanted in actions.items():
            try:
                layers += await self._places[name].begin(control.start, frozenset(wanted))
            except PlaceError as error:
                self._faults[name] = describe(error)
        self.starts.append(StartCondition(repeat, self._start_label(layers), tuple(layers)))

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

    async def _execute_levels(self, repeat: int, index: int, flow: Flow) -> None:
        if flow.frequency.kind is not FrequencyKind.PER_REQUEST:
            await self._stream(Execution(repeat, index, 0), flow)
            return
        for number, users in enumerate(self._scenario.workload.users):
            await self._ask(Execution(repeat, index, number), flow, users)

    async def _stream(self, execution: Execution, flow: Flow) -> None:
        first = flow.stages[0]
        items = await self._places[first.place].supply(first.action)
        self._announce(execution, flow, len(items))
        setups = self._setups(flow)
        if _reads_itself(setups) and all(item.path is not None for item in items[:1]):
            setups[0] = setups[0]._replace(draw=hand_over)
        stream = Stream(execution, flow, setups, self._recording, self._budget)
        await self._timed(flow, stream, stream.run(items))

    async def _ask(self, execution: Execution, flow: Flow, users: int) -> None:
        requests = self._scenario.workload.requests
        questions = await self._questions(flow)
        self._announce(execution, flow, requests)
        asking = Asking(execution, flow, self._setups(flow), self._recording, self._budget)
        await self._timed(flow, asking, asking.run(questions, requests, users))

    async def _timed(self, flow: Flow, engine: Stream | Asking, work: Awaitable[Window]) -> None:
        """The timed part, with every counter read at both of its borders."""
        self._meter.mark()
        try:
            await work
        finally:
            self._meter.mark()
            self._recording.sink.window(engine.window())
            self._bytes += engine.bytes_read
        if engine.gave_up:
            self.skipped[flow.name] = engine.gave_up

    def _announce(self, execution: Execution, flow: Flow, operations: int) -> None:
        repeats = self._scenario.control.repeats
        self._recording.progress.execution(execution.repeat, repeats, flow.name, operations)

    def _setups(self, flow: Flow) -> list[StageSetup]:
        setups = []
        for stage in flow.stages:
            described = self._scenario.place(stage.place)
            place = self._places[stage.place]
            workers = place.concurrency(stage.action)
            setups.append(StageSetup(place, stage.action, workers, described.queue, described.timeout_s))
        return setups

    async def _questions(self, flow: Flow) -> Sequence[Item]:
        first = flow.stages[0]
        place = self._places[first.place]
        if first.action is Action.READ:
            return await place.supply(first.action)
        asked = self._scenario.workload.prompts
        if not asked and isinstance(place, Questions):
            asked = await place.questions(self._scenario.workload.requests, self._scenario.control.seed)
        return [Item(text, len(text.encode()), texts=(text,)) for text in asked or DEFAULT_QUESTIONS]

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


def _reads_itself(setups: Sequence[StageSetup]) -> bool:
    """True if the second place reads the first one's documents: to read them twice would warm them."""
    second = setups[1].place
    return setups[0].action is Action.READ and isinstance(second, ReadsItself) and second.reads_itself
