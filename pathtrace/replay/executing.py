"""One execution of a flow against its places: what it works on, who works, the timed part, its counters."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from pathtrace.model.sample import Window
from pathtrace.model.scenario import Action, Flow, Scenario
from pathtrace.model.work import Item
from pathtrace.ports import Place, Questions, ReadsItself, Ready
from pathtrace.replay.asking import Asking
from pathtrace.replay.budget import Budget
from pathtrace.replay.metering import Meter
from pathtrace.replay.operations import Execution, Recording, StageSetup, hand_over
from pathtrace.replay.stream import Stream

DEFAULT_QUESTIONS = (
    "Which documents mention the warranty of the washing machine?",
    "When was the last invoice from the electricity company?",
    "Summarise the minutes of the most recent meeting.",
    "What does the lease say about the notice period?",
    "How do I reset the heating controller?",
)
"""Asked where the scenario gives no prompts and what is stored suggests none."""


class Executor:
    """Executes flows of one run; ``windows``, ``bytes_read`` and ``gave_up`` grow as it goes on."""

    def __init__(
        self,
        scenario: Scenario,
        places: Mapping[str, Place],
        recording: Recording,
        meter: Meter,
        budget: Budget,
    ) -> None:
        self._scenario = scenario
        self._places = places
        self._recording = recording
        self._meter = meter
        self._budget = budget
        self._told = False
        self.repeats: int | None = scenario.control.repeats
        """How many there will be, for whoever watches; None: that depends on what they show."""
        self.windows: list[Window] = []
        self.bytes_read = 0
        self.gave_up: dict[str, str] = {}
        """Flow name -> why an execution of it was given up."""

    async def stream(self, execution: Execution, flow: Flow) -> None:
        """Move everything that the flow's first place supplies through its stages. PlaceError."""
        await self._check_ready(flow)
        first = flow.stages[0]
        items = await self._places[first.place].supply(first.action)
        setups = self.setups(flow)
        if _reads_itself(setups) and all(item.path is not None for item in items[:1]):
            setups[0] = setups[0]._replace(draw=hand_over)
        with self._announced(execution, flow, len(items)) as recording:
            stream = Stream(execution, flow, setups, recording, self._budget)
            await self._timed(flow, stream, stream.run(items))

    async def ask(self, execution: Execution, flow: Flow, users: int) -> None:
        """Let people ask all of the workload's requests, in turn or on schedule. PlaceError."""
        await self._check_ready(flow)
        workload = self._scenario.workload
        questions = await self.questions(flow)
        with self._announced(execution, flow, workload.requests) as recording:
            asking = Asking(execution, flow, self.setups(flow), recording, self._budget)
            if workload.rate_per_s is None:
                work = asking.ask_in_turn(questions, workload.requests, users)
            else:
                work = asking.ask_on_schedule(questions, workload.requests, workload.rate_per_s)
            await self._timed(flow, asking, work)

    async def ask_after_idle(self, execution: Execution, flow: Flow, idle_s: float) -> None:
        """One request, the first after nothing was asked for ``idle_s``. PlaceError."""
        await self._check_ready(flow)
        questions = await self.questions(flow)
        with self._announced(execution, flow, 1) as recording:
            asking = Asking(execution, flow, self.setups(flow), recording, self._budget, idle_s)
            await self._timed(flow, asking, asking.ask_in_turn(questions, 1, 1))

    def setups(self, flow: Flow) -> list[StageSetup]:
        """The flow's stages, each with its place and the room that it has."""
        setups: list[StageSetup] = []
        for stage in flow.stages:
            described = self._scenario.place(stage.place)
            place = self._places[stage.place]
            workers, timeout_s = place.concurrency(stage.action), described.timeout_s
            if stage.action is Action.DELIVER and setups:
                timeout_s = setups[-1].timeout_s  # it is the model before it that may stall, not a person
            setups.append(StageSetup(place, stage.action, workers, described.queue, timeout_s))
        return setups

    async def questions(self, flow: Flow) -> Sequence[Item]:
        """What is asked: the scenario's prompts, what the searched place suggests, or ours. PlaceError."""
        first = flow.stages[0]
        place = self._places[first.place]
        if first.action is Action.READ:
            return await place.supply(first.action)
        asked = self._scenario.workload.prompts
        if not asked and isinstance(place, Questions):
            asked = await place.questions(self._scenario.workload.requests, self._scenario.control.seed)
        return [question(text) for text in asked or DEFAULT_QUESTIONS]

    async def _check_ready(self, flow: Flow) -> None:
        """PlaceError where a place would now have to do what the scenario does not allow."""
        for stage in flow.stages:
            place = self._places[stage.place]
            if isinstance(place, Ready):
                await place.ready(stage.action)

    async def _timed(self, flow: Flow, engine: Stream | Asking, work: Awaitable[Window]) -> None:
        """The timed part, with every counter read at both of its borders."""
        self._meter.mark()
        try:
            await work
        finally:
            self._meter.mark()
            window = engine.window()
            self._recording.sink.window(window)
            self.windows.append(window)
            self.bytes_read += engine.bytes_read
        if engine.gave_up:
            self.gave_up[flow.name] = engine.gave_up

    @contextmanager
    def _announced(self, execution: Execution, flow: Flow, operations: int) -> Iterator[Recording]:
        """Tell the progress of this execution, unless that of another one is being told."""
        if self._told:
            yield self._recording._replace(progress=_Untold())
            return
        self._told = True
        self._recording.progress.execution(execution.repeat, self.repeats, flow.name, operations)
        try:
            yield self._recording
        finally:
            self._told = False


class _Untold:
    """The progress of a flow that runs beside the one that is told of."""

    def execution(self, repeat: int, repeats: int | None, flow: str, total_operations: int | None) -> None:
        return

    def advance(self, stage: int, operations: int, bytes: int) -> None:
        return

    def message(self, text: str) -> None:
        return


def question(text: str) -> Item:
    """A question on its way."""
    return Item(text, len(text.encode()), texts=(text,))


def _reads_itself(setups: Sequence[StageSetup]) -> bool:
    """True if the second place reads the first one's documents: to read them twice would warm them."""
    second = setups[1].place
    return setups[0].action is Action.READ and isinstance(second, ReadsItself) and second.reads_itself
