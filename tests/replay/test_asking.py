"""People who ask: a closed loop, one request after another for each of them."""

from __future__ import annotations

from collections.abc import Callable

from pathtrace.model.sample import Outcome, Window
from pathtrace.model.scenario import Action, Flow, Frequency, FrequencyKind, Hop, Phase, Stage
from pathtrace.model.work import Item
from pathtrace.replay.asking import Asking
from pathtrace.replay.budget import Budget
from pathtrace.replay.operations import Execution, Recording, StageSetup
from pathtrace.replay.stop import StopRequest
from tests.replay.virtual import MS, FakePlace, ListSink, Quiet, play

FLOW = Flow(
    "answer",
    ("library", "model", "people"),
    Frequency(FrequencyKind.PER_REQUEST, None, False, "per-request"),
    "people",
    (
        Stage(0, "library", Action.LOOKUP, 0),
        Stage(1, "model", Action.GENERATE, 1),
        Stage(2, "people", Action.DELIVER, 1),
    ),
    (
        Hop("library->model", "library", "model", Phase.PROCESS, (0,), 0),
        Hop("model->people", "model", "people", Phase.DELIVER, (1, 2), 2),
    ),
)


def ask(
    services: tuple[Callable[[int], float | None], ...], requests: int, users: int
) -> tuple[ListSink, Window]:
    async def story(clock: Callable[[], int]) -> tuple[ListSink, Window]:
        sink = ListSink()
        setups = [
            StageSetup(FakePlace(clock, service), stage.action, 1, 16, 60.0)
            for stage, service in zip(FLOW.stages, services, strict=True)
        ]
        asking = Asking(
            Execution(0, 0, 0),
            FLOW,
            setups,
            Recording(sink, clock, 0, Quiet()),
            Budget(10**12, 1e9, clock, StopRequest()),
        )
        return sink, await asking.ask_in_turn([Item("q", 1, texts=("what?",))], requests, users)

    return play(story)


def test_two_people_share_the_requests_and_ask_side_by_side() -> None:
    sink, window = ask((lambda n: 1, lambda n: 8, lambda n: 1), requests=10, users=2)
    assert window.end_ns - window.start_ns == 50 * MS
    assert sorted(s.request for s in sink.samples if s.stage == 0) == list(range(10))
    assert window.workers == (2, 2, 2)


def test_the_stages_of_a_request_follow_one_another() -> None:
    sink, _ = ask((lambda n: 1, lambda n: 2, lambda n: 3), requests=1, users=1)
    assert [(s.stage, s.start_ns, s.elapsed_ns, s.cause) for s in sink.samples] == [
        (0, 0, 1 * MS, -1),
        (1, 1 * MS, 2 * MS, 0),
        (2, 3 * MS, 3 * MS, 1),
    ]


def test_a_request_that_fails_is_a_sample_and_ends_there() -> None:
    sink, window = ask((lambda n: 1, lambda n: None if n == 0 else 2, lambda n: 3), requests=2, users=1)
    assert [(s.request, s.stage, s.outcome) for s in sink.samples] == [
        (0, 0, Outcome.OK),
        (0, 1, Outcome.FAILED),
        (1, 0, Outcome.OK),
        (1, 1, Outcome.OK),
        (1, 2, Outcome.OK),
    ]
    assert window.complete


def test_an_open_loop_asks_on_time_whatever_the_answers_do() -> None:
    async def story(clock: Callable[[], int]) -> tuple[ListSink, Window]:
        sink = ListSink()
        setups = [
            StageSetup(FakePlace(clock, lambda n: 35), stage.action, 1, 16, 60.0) for stage in FLOW.stages[:1]
        ]
        recording = Recording(sink, clock, 0, Quiet())
        budget = Budget(10**12, 1e9, clock, StopRequest())
        asking = Asking(Execution(0, 0, 0), FLOW, setups, recording, budget)
        questions = [Item("q", 1, texts=("what?",))]
        return sink, await asking.ask_on_schedule(questions, requests=10, rate_per_s=100.0)

    sink, window = play(story)
    assert sorted(s.intended_ns for s in sink.samples) == [n * 10 * MS for n in range(10)]
    assert all(s.start_ns == s.intended_ns for s in sink.samples)
    assert window.users == 4
    assert {s.worker for s in sink.samples} == {0, 1, 2, 3}
    assert window.end_ns == (90 + 35) * MS
