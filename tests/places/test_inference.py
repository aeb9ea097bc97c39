"""Inference places against real servers: times as set, and each way in which a server can fail."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.scenario import Action, InferenceSpec, Place, PlaceKind, Start, UserSpec
from pathtrace.model.work import Done, Item, LayerState
from pathtrace.places.inference import Inference
from pathtrace.places.user import User
from tests.places.contract import Case, PlaceContract
from tests.places.servers import ModelServer, model_server, refusing_url

Result = TypeVar("Result")
SECRET = "sk-very/secret+1"
QUESTION = Item("q", 0, texts=("Was kostet das Dach?", "Das Dach kostet 3 €.", "Holz ist teuer."))


def described(
    url: str | None, task: str = "generate", model: str | None = None, api: str = "openai", **options: object
) -> Place:
    spec = InferenceSpec(url, api, task, model, tuple(options.items()), SECRET if url else None)
    return Place("model", PlaceKind.INFERENCE, "workstation", 2, 16, 5.0, None, spec)


def inference(place: Place, output_tokens: int | None = None) -> Inference:
    return Inference(place, time.perf_counter_ns, 1, output_tokens=output_tokens)


def within(
    place: Place,
    scratch: Path,
    life: Callable[[Inference], Awaitable[Result]],
    output_tokens: int | None = None,
) -> Result:
    async def run() -> Result:
        opened = inference(place, output_tokens)
        await opened.open(scratch)
        try:
            return await life(opened)
        finally:
            await opened.close()

    return asyncio.run(run())


async def ask(place: Inference) -> tuple[Done, Done]:
    """Generate, then deliver."""
    people = User(Place("people", PlaceKind.USER, "w", 1, 1, 5.0, None, UserSpec()), time.perf_counter_ns, 1)
    generated = await place.perform(Action.GENERATE, (QUESTION,))
    return generated, await people.perform(Action.DELIVER, generated.items)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as made:
        yield made


class TestEmbedding(PlaceContract):
    @pytest.fixture
    def case(self, server: ModelServer) -> Case:
        return Case(
            make=lambda: inference(described(server.url, "embed")),
            action=Action.EMBED,
            items=(Item("a", 0, texts=("one", "three")), Item("b", 0, texts=("x",))),
            bytes=3 * 2 * 4,
            broken=lambda: inference(described(refusing_url(), "embed")),
            secret=SECRET,
        )


class TestGenerating(PlaceContract):
    @pytest.fixture
    def case(self, server: ModelServer) -> Case:
        return Case(
            make=lambda: inference(described(server.url)), action=Action.GENERATE, items=(QUESTION,), bytes=0
        )


class TestFailing(PlaceContract):
    @pytest.fixture
    def case(self, server: ModelServer) -> Case:
        server.fault = "500"
        return Case(
            make=lambda: inference(described(server.url)),
            action=Action.GENERATE,
            items=(),
            failing=QUESTION,
            secret=SECRET,
        )


class TestTheStandIn(PlaceContract):
    @pytest.fixture
    def case(self) -> Case:
        items = (Item("w", 5, data=b"12345"), Item("w", 3, offset=5, data=memoryview(b"abc")))
        return Case(make=lambda: inference(described(None)), action=Action.LOAD, items=items, bytes=8)


def test_times_are_those_that_the_server_was_set_to(tmp_path: Path, server: ModelServer) -> None:
    server.first_token_s, server.between_tokens_s, server.tokens = 0.25, 0.05, ("wört",) * 9

    generated, delivered = within(described(server.url), tmp_path, ask)
    assert generated.elapsed_ns == pytest.approx(0.25e9, rel=0.1)
    assert delivered.elapsed_ns == pytest.approx(8 * 0.05e9, rel=0.1)
    assert delivered.bytes == 9 * len("wört".encode())
    assert delivered.tokens == 9
    assert 0 < generated.first_byte_ns < 0.1e9


def test_the_question_its_passages_and_the_options_reach_the_first_model(
    tmp_path: Path, server: ModelServer
) -> None:
    within(described(server.url, temperature=0.0), tmp_path, ask, output_tokens=3)
    assert server.requests == [
        (
            "/v1/chat/completions",
            {
                "model": "tiny",
                "messages": [{"role": "user", "content": "\n\n".join(QUESTION.texts)}],
                "max_tokens": 3,
                "temperature": 0.0,
                "stream": True,
                "stream_options": {"include_usage": True},
            },
        )
    ]
    assert server.key == f"Bearer {SECRET}"


def test_a_url_may_end_in_v1_and_the_model_may_be_named(tmp_path: Path, server: ModelServer) -> None:
    within(described(f"{server.url}/v1/", model="other"), tmp_path, ask)
    assert [(path, asked["model"]) for path, asked in server.requests] == [("/v1/chat/completions", "other")]


def test_the_first_request_may_set_up_a_connection_and_the_next_reuse_it(
    tmp_path: Path, server: ModelServer
) -> None:
    async def life(place: Inference) -> None:
        for _ in range(3):
            await ask(place)

    within(described(server.url), tmp_path, life)
    assert server.connections == 1


def test_a_server_that_closes_its_connections_costs_no_failures(tmp_path: Path, server: ModelServer) -> None:
    server.fault = "closes"

    async def life(place: Inference) -> list[int]:
        return [(await ask(place))[1].bytes for _ in range(20)]

    size = len("".join(server.tokens).encode())
    assert within(described(server.url), tmp_path, life) == [size] * 20


def test_a_server_that_knows_no_stream_options_is_asked_without(tmp_path: Path, server: ModelServer) -> None:
    server.fault = "400 stream_options"

    async def life(place: Inference) -> list[int]:
        return [(await ask(place))[1].tokens for _ in range(2)]

    assert within(described(server.url), tmp_path, life) == [4, 4]
    assert [("stream_options" in asked) for _, asked in server.requests] == [True, False, False]


def test_the_servers_own_timings_are_kept(tmp_path: Path, server: ModelServer) -> None:
    async def life(place: Inference) -> dict[str, float]:
        await ask(place)
        return place.last_timings

    assert within(described(server.url), tmp_path, life) == {"predicted_ms": 7.5}


def test_separators_within_a_token_do_not_break_lines(tmp_path: Path, server: ModelServer) -> None:
    server.tokens = ("a\u2028b", "\x85c\r\n")
    delivered = within(described(server.url), tmp_path, ask)[1]
    assert delivered.bytes == len("".join(server.tokens).encode())


def test_an_answer_without_tokens_is_an_empty_answer(tmp_path: Path, server: ModelServer) -> None:
    server.tokens = ()
    assert within(described(server.url), tmp_path, ask)[1].bytes == 0


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("500", "answers 500: out of memory, key was Bearer ***"),
        ("rubbish", "fails within its answer: this is no event stream: <html>proxy error</html>"),
        ("bad event", 'fails within its answer: an event is not a JSON object: {"choices": ['),
        ("error event", "fails within its answer: the server says: context is full"),
        ("cut", "broke off the connection: peer closed connection without sending complete message body"),
        ("short", "ended its answer in the middle"),
    ],
)
def test_a_fault_is_told_in_the_servers_words_and_the_next_request_works(
    tmp_path: Path, server: ModelServer, fault: str, said: str
) -> None:
    async def life(place: Inference) -> tuple[str, int]:
        server.fault = fault
        with pytest.raises(OperationError) as caught:
            await ask(place)
        server.fault = ""
        return caught.value.message, (await ask(place))[1].tokens

    message, tokens = within(described(server.url), tmp_path, life)
    assert message.startswith(f"model: {server.url} {said}")
    assert tokens == 4


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("few vectors", "gave 1 vectors for 2 texts"),
        ("not json", "gave no list of vectors"),
        ("500", "answers 500: out of memory, key was Bearer ***"),
    ],
)
def test_a_fault_in_embedding_is_told(tmp_path: Path, server: ModelServer, fault: str, said: str) -> None:
    async def life(place: Inference) -> str:
        server.fault = fault
        with pytest.raises(OperationError) as caught:
            await place.perform(Action.EMBED, (Item("a", 0, texts=("x", "y")),))
        return caught.value.message

    assert within(described(server.url, "embed"), tmp_path, life) == f"model: {server.url} {said}"


def test_vectors_come_back_in_the_order_of_their_texts(tmp_path: Path, server: ModelServer) -> None:
    async def life(place: Inference) -> Done:
        items = (Item("a", 0, texts=("1", "55555")), Item("b", 0, texts=("333",)))
        return await place.perform(Action.EMBED, items)

    done = within(described(server.url, "embed"), tmp_path, life)
    assert [item.vectors for item in done.items] == [((1.0, 0.5), (5.0, 0.5)), ((3.0, 0.5),)]
    assert done.tokens == 3


@pytest.mark.parametrize("fault", ["stall", "slow headers"])
def test_a_stalled_answer_ends_with_its_time_limit_and_the_connection_is_closed(
    tmp_path: Path, server: ModelServer, fault: str
) -> None:
    server.fault = fault

    async def life(place: Inference) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await ask(place)
        if fault == "stall":
            assert await asyncio.to_thread(server.broken.wait, 5)
        assert not place._server._http.open_connections  # type: ignore[union-attr]

    within(described(server.url), tmp_path, life)


def test_an_answer_that_nobody_drains_is_closed_with_the_place(tmp_path: Path, server: ModelServer) -> None:
    server.fault = "stall"

    async def life(place: Inference) -> None:
        await place.perform(Action.GENERATE, (QUESTION,))

    within(described(server.url), tmp_path, life)
    assert server.broken.wait(5)


def test_check_says_who_answers(server: ModelServer) -> None:
    facts = asyncio.run(inference(described(server.url)).check())
    assert facts.summary.endswith(", model tiny, answers")


def test_check_says_that_nobody_listens() -> None:
    url = refusing_url()
    with pytest.raises(PlaceError) as caught:
        asyncio.run(inference(described(url)).check())
    assert caught.value.message == f"model: {url} cannot be reached: connection refused"


def test_check_says_that_a_name_is_not_known() -> None:
    with pytest.raises(PlaceError, match="cannot be reached: its name is not known"):
        asyncio.run(inference(described("http://no-such-host.invalid:1234")).check())


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("401", r"answers 401: bad key Bearer \*\*\*$"),
        ("not json", "answers with something that is no JSON: <html>proxy error</html>"),
    ],
)
def test_check_tells_what_is_wrong_and_hides_the_key(server: ModelServer, fault: str, said: str) -> None:
    server.fault = fault
    with pytest.raises(PlaceError, match=said):
        asyncio.run(inference(described(server.url)).check())


@pytest.mark.skipif(os.name != "posix", reason="other systems may hide sockets")
def test_the_process_behind_a_local_url_is_found(tmp_path: Path, server: ModelServer) -> None:
    async def life(place: Inference) -> tuple[int | None, tuple[LayerState, ...]]:
        return place.server_pid, await place.begin(Start.AS_IS, frozenset({Action.GENERATE}))

    pid, states = within(described(server.url), tmp_path, life)
    assert pid in (os.getpid(), None)
    evidence = "the server does not say whether its model is in memory"
    assert states == (LayerState("model", "model", "unknown", evidence),)


def test_the_stand_in_answers_nothing(tmp_path: Path) -> None:
    generated, delivered = within(described(None), tmp_path, ask)
    assert (generated.bytes, delivered.bytes, generated.items[0].answer) == (0, 0, None)


@pytest.mark.parametrize(
    ("status", "sleeps", "state", "evidence"),
    [
        (None, None, "unknown", "the server does not say whether its model is in memory"),
        (None, False, "warm", "the server says that its model is loaded (/props)"),
        (None, True, "cold", "the server says that its model sleeps (/props)"),
        ("unloaded", False, "cold", "the server says that its model is unloaded (/models)"),
        ("sleeping", False, "cold", "the server says that its model is sleeping (/models)"),
        ("loaded", None, "warm", "the server says that its model is loaded (/models)"),
        ("loading", None, "unknown", "the server says that its model is loading (/models)"),
    ],
)
def test_the_start_condition_is_what_llama_cpp_says_of_its_model(
    tmp_path: Path,
    server: ModelServer,
    status: str | None,
    sleeps: bool | None,
    state: str,
    evidence: str,
) -> None:
    server.status, server.sleeps = {"tiny": status} if status else {}, sleeps

    async def life(place: Inference) -> tuple[LayerState, ...]:
        return await place.begin(Start.AS_IS, frozenset({Action.GENERATE}))

    assert within(described(server.url), tmp_path, life) == (LayerState("model", "model", state, evidence),)


@pytest.mark.parametrize("allow", [(), ("load-model",)])
def test_a_model_that_sleeps_may_answer_only_where_loading_is_allowed(
    tmp_path: Path, server: ModelServer, allow: tuple[str, ...]
) -> None:
    server.sleeps = True

    async def life() -> str | None:
        place = Inference(described(server.url), time.perf_counter_ns, 1, allow=allow)
        await place.open(tmp_path)
        try:
            await place.ready(Action.LOAD)
            await place.ready(Action.GENERATE)
        except PlaceError as error:
            return error.message
        finally:
            await place.close()
        return None

    said = "model: model tiny is not loaded: the server says that its model sleeps (/props)"
    assert asyncio.run(life()) == (None if allow else said)
