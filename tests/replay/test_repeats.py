"""The order of a run: warm-ups, repeats, flows, start conditions, budgets, and what a fault costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pathtrace.errors import PlaceError
from pathtrace.model.run import Reached
from pathtrace.model.scenario import Action, Scenario, Start
from pathtrace.model.work import Item, LayerState
from pathtrace.replay.budget import Budget
from pathtrace.replay.executing import Executor
from pathtrace.replay.metering import Meter
from pathtrace.replay.opening import open_places
from pathtrace.replay.operations import Recording
from pathtrace.replay.repeats import Replay
from pathtrace.replay.stop import StopRequest
from pathtrace.scenario import parse
from tests.replay.virtual import FakePlace, ListSink, Quiet, play

TEXT = """
pathtrace: 1
name: order
workload: {requests: 4, users: 2}
places:
  documents: {kind: files, path: /documents}
  chunker: {kind: process, run: chunk}
  library: {kind: database, url: "sqlite://"}
  weights: {kind: files, path: /weights.gguf}
  model: {kind: inference}
  people: {kind: user}
flows:
  answer: {path: [library, people], frequency: per-request}
  index: {path: [documents, chunker, library], frequency: every 24 h}
  load: {path: [weights, model], frequency: per-load}
"""


class Played:
    """A replay of ``TEXT`` with fake places, and what came of it."""

    def __init__(
        self,
        extra: str = "repeats: 2",
        budget_s: float = 1e6,
        budget_bytes: int = 10**12,
        broken: str | None = None,
        unproved: str | None = None,
    ) -> None:
        scenario = parse(TEXT + extra, "order.yaml", {})
        self.sink = ListSink()
        self.checkpoints = 0
        self.flows = [flow.name for flow in scenario.flows]
        play(lambda clock: self._story(scenario, clock, budget_s, budget_bytes, broken, unproved))

    async def _story(
        self,
        scenario: Scenario,
        clock: Callable[[], int],
        budget_s: float,
        budget_bytes: int,
        broken: str | None,
        unproved: str | None,
    ) -> None:
        places = {place.name: FakePlace(clock, supply=[Item("d", 1000)] * 3) for place in scenario.places}
        if unproved:
            places[unproved] = Unproved(clock, supply=[Item("d", 1000)] * 3)
        reached = {
            name: Reached(name, None, "nothing there" if name == broken else None, None, None)
            for name in places
        }
        stop = StopRequest()
        recording = Recording(self.sink, clock, 0, Quiet())
        meter = Meter((), self.sink, clock, 0)
        budget = Budget(budget_bytes, budget_s, clock, stop)
        executor = Executor(scenario, places, recording, meter, budget)
        self.replay = Replay(scenario, places, reached, executor, clock, budget, stop, NothingSeen())
        await self.replay.run(self._checkpoint)

    async def _checkpoint(self) -> None:
        self.checkpoints += 1

    @property
    def executions(self) -> list[tuple[int, str]]:
        return [(window.repeat, self.flows[window.flow]) for window in self.sink.windows]


class NothingSeen:
    """Servers on other hosts, none of which can be looked at."""

    async def begin(self, place: str, start: Start) -> LayerState | None:
        return None


class Unproved(FakePlace):
    async def begin(self, start: Start, actions: frozenset[Action]) -> tuple[LayerState, ...]:
        return (LayerState("client_cache", "weights", "unknown", "cannot be looked at"),)


def test_a_repeat_loads_then_indexes_then_answers() -> None:
    played = Played()
    assert played.executions == [
        (0, "load"),
        (0, "index"),
        (0, "answer"),
        (1, "load"),
        (1, "index"),
        (1, "answer"),
    ]
    assert played.checkpoints == 2
    assert played.replay.repeats_done == 2


def test_warm_ups_come_first_and_are_negative() -> None:
    played = Played("start: warm\nrepeats: 1\nwarmup: 2")
    assert [repeat for repeat, flow in played.executions if flow == "load"] == [-2, -1, 0]
    assert [start.start for start in played.replay.starts] == ["warm", "warm", "warm"]


def test_a_broken_place_costs_only_the_flows_that_go_through_it() -> None:
    played = Played("repeats: 1", broken="model")
    assert played.executions == [(0, "index"), (0, "answer")]
    assert played.replay.skipped == {"load": "model: nothing there"}


def test_a_repeat_that_would_not_fit_the_time_budget_is_not_begun() -> None:
    played = Played("repeats: 5", budget_s=0.03)
    assert 1 <= played.replay.repeats_done < 5
    caveat = played.replay.caveats["budget", None]
    assert caveat.text == (
        f"the budget of time ended the run after {played.replay.repeats_done} of 5 repeats"
    )


def test_a_repeat_that_would_not_fit_the_byte_budget_is_not_begun() -> None:
    played = Played("repeats: 5", budget_bytes=13_000)
    assert played.replay.repeats_done == 2
    assert ("budget", None) in played.replay.caveats


def test_a_cold_start_that_cannot_be_proved_is_called_as_is() -> None:
    played = Played("repeats: 1", unproved="weights")
    assert [start.start for start in played.replay.starts] == ["as-is"]
    assert played.replay.caveats["start-unproved", "weights"].subject == "weights"


def test_a_place_that_cannot_be_opened_is_noted_and_the_others_are_opened(tmp_path: Path) -> None:
    class Shut(FakePlace):
        async def open(self, scratch: Path) -> None:  # type: ignore[override]
            raise PlaceError("connection refused", hint="start it")

    async def story(clock: Callable[[], int]) -> dict[str, Reached]:
        places = {"a": Shut(clock), "b": FakePlace(clock)}
        return await open_places(places, tmp_path, StopRequest())

    reached = play(story)
    assert reached["a"].fault == "connection refused (start it)"
    assert reached["b"].fault is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


TWICE = """
pathtrace: 1
name: twice
start: cold
repeats: 1
places:
  mapped: {kind: files, path: /models/x.gguf}
  whole: {kind: files, path: /models}
  other: {kind: files, path: /models-of-another}
  model: {kind: inference}
flows:
  first: {path: [mapped, model], frequency: per-load}
  second: {path: [whole, model], frequency: per-load}
  third: {path: [other, model], frequency: per-load}
"""


def test_files_that_an_earlier_flow_read_are_made_cold_again_before_the_next_reads_them() -> None:
    async def story(clock: Callable[[], int]) -> dict[str, int]:
        scenario = parse(TWICE, "twice.yaml", {})
        places = {place.name: FakePlace(clock, supply=[Item("d", 1000)]) for place in scenario.places}
        reached = {name: Reached(name, None, None, None, None) for name in places}
        stop, sink = StopRequest(), ListSink()
        budget = Budget(10**12, 1e6, clock, stop)
        executor = Executor(
            scenario, places, Recording(sink, clock, 0, Quiet()), Meter((), sink, clock, 0), budget
        )
        replay = Replay(scenario, places, reached, executor, clock, budget, stop, NothingSeen())
        await replay.run(_nothing)
        return {name: place.begun for name, place in places.items()}

    assert play(story) == {"mapped": 1, "whole": 2, "other": 1, "model": 1}


async def _nothing() -> None:
    return


class Emptied:
    """A server whose cache can be emptied: tells in which order that and the place's own start come."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Start]] = []

    async def begin(self, place: str, start: Start) -> LayerState | None:
        self.asked.append((place, start))
        return LayerState("server_cache", place, "cold", "emptied") if place == "weights" else None


class Guessing(FakePlace):
    async def begin(self, start: Start, actions: frozenset[Action]) -> tuple[LayerState, ...]:
        return (
            LayerState("client_cache", "weights", "cold", "keeps none"),
            LayerState("server_cache", "weights", "unknown", "not visible from here"),
        )


def test_what_is_known_of_a_server_s_cache_stands_in_place_of_the_guess() -> None:
    async def story(clock: Callable[[], int]) -> tuple[Replay, Emptied]:
        text = TEXT.replace("  index: {path: [documents, chunker, library], frequency: every 24 h}\n", "")
        text = text.replace("  answer: {path: [library, people], frequency: per-request}\n", "")
        scenario = parse(text + "repeats: 1", "emptied.yaml", {})
        places = {place.name: FakePlace(clock, supply=[Item("d", 1000)]) for place in scenario.places}
        places["weights"] = Guessing(clock, supply=[Item("d", 1000)])
        reached = {name: Reached(name, None, None, None, None) for name in places}
        stop, sink, emptied = StopRequest(), ListSink(), Emptied()
        budget = Budget(10**12, 1e6, clock, stop)
        recording = Recording(sink, clock, 0, Quiet())
        executor = Executor(scenario, places, recording, Meter((), sink, clock, 0), budget)
        replay = Replay(scenario, places, reached, executor, clock, budget, stop, emptied)
        await replay.run(_nothing)
        return replay, emptied

    replay, emptied = play(story)
    assert emptied.asked == [("weights", Start.COLD), ("model", Start.COLD)]
    assert [layer for layer in replay.starts[0].layers if layer.place == "weights"] == [
        LayerState("client_cache", "weights", "cold", "keeps none"),
        LayerState("server_cache", "weights", "cold", "emptied"),
    ]


class Told(Quiet):
    """Progress that knows how many stages the flow has that it was told of."""

    def __init__(self) -> None:
        self.flows: list[str] = []
        self.advanced: list[tuple[str, int]] = []

    def execution(self, repeat: int, repeats: int | None, flow: str, total_operations: int | None) -> None:
        self.flows.append(flow)

    def advance(self, stage: int, operations: int, bytes: int) -> None:
        self.advanced.append((self.flows[-1], stage))


def test_of_flows_that_run_together_the_progress_of_one_is_told() -> None:
    async def story(clock: Callable[[], int]) -> Told:
        text = TEXT + "repeats: 1\nwarmup: 0\ntogether: [[index, load]]"
        scenario = parse(text, "together.yaml", {})
        places = {place.name: FakePlace(clock, supply=[Item("d", 1000)] * 3) for place in scenario.places}
        reached = {name: Reached(name, None, None, None, None) for name in places}
        stop, sink, told = StopRequest(), ListSink(), Told()
        budget = Budget(10**12, 1e6, clock, stop)
        recording = Recording(sink, clock, 0, told)
        executor = Executor(scenario, places, recording, Meter((), sink, clock, 0), budget)
        await Replay(scenario, places, reached, executor, clock, budget, stop, NothingSeen()).run(_nothing)
        return told

    told = play(story)
    assert told.flows in (["load", "answer"], ["index", "answer"])
    assert max(stage for flow, stage in told.advanced if flow == "load") <= 1
    assert {flow for flow, _ in told.advanced} == set(told.flows)
