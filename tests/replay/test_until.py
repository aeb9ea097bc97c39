"""Repeating until the durations tell enough: in virtual time, with planted noise, by the real rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from pathtrace.app.until import enough, judged
from pathtrace.errors import PlaceError
from pathtrace.model.run import FlowWidth, Reached, Until
from pathtrace.model.scenario import Action
from pathtrace.model.work import Item
from pathtrace.replay.budget import Budget
from pathtrace.replay.executing import Executor
from pathtrace.replay.metering import Meter
from pathtrace.replay.operations import Recording
from pathtrace.replay.repeats import MOST, Replay
from pathtrace.replay.stop import StopRequest
from pathtrace.scenario import parse
from tests.replay.test_repeats import NothingSeen
from tests.replay.virtual import FakePlace, ListSink, Quiet, play

TEXT = """
pathtrace: 1
name: until
places:
  weights: {kind: files, path: /weights.gguf}
  documents: {kind: files, path: /documents}
  model: {kind: inference}
  chunker: {kind: process, run: chunk}
flows:
  load: {path: [weights, model], frequency: per-load}
  index: {path: [documents, chunker], frequency: every 24 h}
"""
LONG = 10_000
LEVEL_MS = 100.0


def noise(spread: float, seed: int = 1) -> list[float]:
    """Milliseconds of each repeat, which differ by chance alone."""
    return [float(each) for each in np.random.default_rng(seed).normal(LEVEL_MS, spread * LEVEL_MS, LONG)]


class Vanishing(FakePlace):
    """Is gone after so many passes."""

    passes = LONG

    async def supply(self, action: Action) -> Sequence[Item]:
        self.passes -= 1
        if self.passes < 0:
            raise PlaceError("gone")
        return await super().supply(action)


class Told(Quiet):
    def __init__(self) -> None:
        self.repeats: set[int | None] = set()

    def execution(self, repeat: int, repeats: int | None, flow: str, total_operations: int | None) -> None:
        self.repeats.add(repeats)


class Repeated:
    """``load`` takes the planted milliseconds, one for each pass; ``index`` always the same."""

    def __init__(
        self,
        took_ms: Sequence[float],
        asked: float | None = 0.03,
        extra: str = "repeats: 2",
        budget_s: float = 1e6,
        budget_bytes: int = 10**12,
        stop_after: int | None = None,
        vanishes_after: int = LONG,
    ) -> None:
        self.told, self.checkpoints, self._stop_after = Told(), 0, stop_after
        play(lambda clock: self._story(clock, took_ms, asked, extra, budget_s, budget_bytes, vanishes_after))

    async def _story(
        self,
        clock: Callable[[], int],
        took_ms: Sequence[float],
        asked: float | None,
        extra: str,
        budget_s: float,
        budget_bytes: int,
        vanishes_after: int,
    ) -> None:
        scenario = parse(TEXT + extra, "until.yaml", {})
        places = {place.name: FakePlace(clock, supply=[Item("d", 1000)]) for place in scenario.places}
        places["weights"] = FakePlace(clock, lambda n: took_ms[n] - 1, supply=[Item("w", 1000)])
        places["documents"] = documents = Vanishing(clock, supply=[Item("d", 1000)])
        documents.passes = vanishes_after
        reached = {name: Reached(name, None, None, None, None) for name in places}
        self.stop, sink = StopRequest(), ListSink()
        budget = Budget(budget_bytes, budget_s, clock, self.stop)
        executor = Executor(
            scenario, places, Recording(sink, clock, 0, self.told), Meter((), sink, clock, 0), budget
        )
        self.replay = Replay(
            scenario,
            places,
            reached,
            executor,
            clock,
            budget,
            self.stop,
            NothingSeen(),
            enough(scenario, asked),
        )
        await self.replay.run(self._checkpoint)
        self.until = judged(scenario, asked, self.replay)

    async def _checkpoint(self) -> None:
        self.checkpoints += 1
        if self.checkpoints == self._stop_after:
            self.stop.request(2)

    @property
    def judged(self) -> Until:
        assert self.until is not None
        return self.until

    @property
    def load(self) -> FlowWidth:
        return next(flow for flow in self.judged.flows if flow.flow == "load")


def test_repeats_that_are_alike_are_five_whatever_the_scenario_says() -> None:
    played = Repeated([LEVEL_MS] * LONG)
    same = (0.0, False, False)
    flows = (FlowWidth("load", 5, *same), FlowWidth("index", 5, *same))
    assert played.judged == Until(0.03, True, 5, flows)
    assert played.told.repeats == {None}


def test_more_repeats_than_five_are_the_scenarios_to_ask_for() -> None:
    assert Repeated([LEVEL_MS] * LONG, extra="repeats: 7").judged.repeats == 7


def test_without_it_the_scenarios_number_holds() -> None:
    played = Repeated(noise(0.2), asked=None, extra="repeats: 3")
    assert (played.until, played.replay.repeats_done, played.told.repeats) == (None, 3, {3})


@pytest.mark.parametrize("seed", range(5))
def test_it_ends_at_the_first_repeat_at_which_the_interval_is_narrow(seed: int) -> None:
    took = noise(0.05, seed)
    played = Repeated(took)
    assert (played.judged.reached, played.judged.ended_by) == (True, None)
    assert played.load.half_width is not None
    assert played.load.half_width <= 0.03
    count = played.judged.repeats
    assert count == played.replay.repeats_done > 5
    before = Repeated(took, extra=f"repeats: {count - 1}", stop_after=count - 1)
    assert not before.judged.reached
    assert before.load.repeats == count - 1


def test_more_noise_takes_more_repeats() -> None:
    counts = [Repeated(noise(spread)).judged.repeats for spread in (0.01, 0.04, 0.15)]
    assert counts == sorted(set(counts))


def test_warm_ups_do_not_count() -> None:
    played = Repeated([500.0] * 3 + [LEVEL_MS] * LONG, extra="start: warm\nwarmup: 3\nrepeats: 1")
    assert played.judged.repeats == 5
    assert played.load.half_width == 0.0


def test_the_time_budget_ends_what_is_too_wide_and_is_named() -> None:
    played = Repeated(noise(0.2), budget_s=1.0)
    assert (played.judged.reached, played.judged.ended_by) == (False, "time")
    assert played.judged.repeats == played.replay.repeats_done < 12
    assert played.load.half_width is not None
    assert played.load.half_width > 0.03
    assert not played.replay.caveats


def test_the_byte_budget_ends_what_is_too_wide_and_is_named() -> None:
    played = Repeated(noise(0.2), budget_bytes=14_500)
    assert (played.judged.reached, played.judged.ended_by) == (False, "bytes")


def test_a_stop_ends_it_and_is_named() -> None:
    played = Repeated(noise(0.2), stop_after=6)
    assert (played.judged.reached, played.judged.ended_by, played.judged.repeats) == (False, "stop", 6)


def test_fewer_than_five_repeats_are_never_enough() -> None:
    played = Repeated([LEVEL_MS] * LONG, budget_s=0.45)
    assert (played.judged.reached, played.judged.ended_by, played.judged.repeats) == (False, "time", 4)


def test_what_does_not_settle_ends_at_last() -> None:
    played = Repeated([LEVEL_MS, 2 * LEVEL_MS] * LONG)
    assert (played.judged.reached, played.judged.ended_by, played.judged.repeats) == (False, "repeats", MOST)
    assert played.load.two_kinds


def test_a_drifting_series_never_counts_as_reached() -> None:
    steps = [LEVEL_MS * 1.004**n for n in range(LONG)]
    played = Repeated(steps, budget_s=1.0)
    assert played.load.half_width is not None
    assert played.load.half_width < 0.03
    assert played.load.drifts
    assert (played.judged.reached, played.judged.ended_by) == (False, "time")


def test_a_drift_below_the_noise_of_single_repeats_does_not_count_either() -> None:
    steps = [(1 + 0.003 * n) * each for n, each in enumerate(noise(0.01))]
    played = Repeated(steps, asked=0.06, extra="repeats: 20", budget_s=6.0)
    assert played.load.half_width is not None
    assert played.load.half_width <= 0.06
    assert (played.load.drifts, played.judged.reached) == (True, False)


def test_one_stray_repeat_is_outlived_and_kept() -> None:
    took = [LEVEL_MS] * LONG
    took[2] = 3 * LEVEL_MS
    played = Repeated(took)
    assert played.judged.reached
    assert played.judged.repeats == 9  # the first number whose interval leaves an end out


def test_a_flow_that_is_given_up_is_not_waited_for() -> None:
    played = Repeated([LEVEL_MS] * LONG, vanishes_after=2)
    assert played.replay.skipped == {"index": "gone"}
    assert [flow.flow for flow in played.judged.flows] == ["load"]
    assert played.judged.reached
