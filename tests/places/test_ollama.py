"""Ollama's own API against a real server that answers in the shapes of its documentation."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.scenario import Action, InferenceSpec, Place, PlaceKind, Start, UserSpec
from pathtrace.model.work import Done, Item, LayerState
from pathtrace.places.inference import Inference
from pathtrace.places.ollama import load_ns, read_chunk
from pathtrace.places.sse import StreamError
from pathtrace.places.user import User
from tests.places.contract import Case, PlaceContract
from tests.places.ollama_server import OllamaServer, ollama_server
from tests.places.servers import model_server, refusing_url

Result = TypeVar("Result")
SECRET = "sk-very/secret+1"
MODEL, EMBEDDER, CLOUD = "hauswart:3b-q4_K_M", "sammler-embed:latest", "fern:120b-cloud"
LOADED = {MODEL: 4096}
QUESTION = Item("q", 0, texts=("Was kostet das Dach?", "Das Dach kostet 3 €."))
ALLOWED = ("load-model",)


def described(url: str, task: str = "generate", model: str | None = MODEL, **options: object) -> Place:
    spec = InferenceSpec(url, "ollama", task, model, tuple(options.items()), SECRET)
    return Place("model", PlaceKind.INFERENCE, "workstation", 2, 16, 5.0, None, spec)


def inference(place: Place, **given: Any) -> Inference:
    return Inference(place, time.perf_counter_ns, 1, **given)


def within(
    place: Place, scratch: Path, life: Callable[[Inference], Awaitable[Result]], **given: Any
) -> Result:
    async def run() -> Result:
        opened = inference(place, **given)
        await opened.open(scratch)
        try:
            return await life(opened)
        finally:
            await opened.close()

    return asyncio.run(run())


async def ask(place: Inference) -> Done:
    """Generate, then deliver: what the delivery gave."""
    people = User(Place("people", PlaceKind.USER, "w", 1, 1, 5.0, None, UserSpec()), time.perf_counter_ns, 1)
    generated = await place.perform(Action.GENERATE, (QUESTION,))
    return await people.perform(Action.DELIVER, generated.items)


async def embed(place: Inference) -> Done:
    items = (Item("a", 0, texts=("one", "three")), Item("b", 0, texts=("x",)))
    return await place.perform(Action.EMBED, items)


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with ollama_server(loaded=dict(LOADED)) as made:
        yield made


class TestGenerating(PlaceContract):
    @pytest.fixture
    def case(self, server: OllamaServer) -> Case:
        return Case(
            make=lambda: inference(described(server.url)),
            action=Action.GENERATE,
            items=(QUESTION,),
            bytes=0,
            broken=lambda: inference(described(refusing_url())),
            secret=SECRET,
        )


class TestEmbedding(PlaceContract):
    @pytest.fixture
    def case(self, server: OllamaServer) -> Case:
        server.loaded[EMBEDDER], server.slots = 4096, 2
        return Case(
            make=lambda: inference(described(server.url, "embed", EMBEDDER)),
            action=Action.EMBED,
            items=(Item("a", 0, texts=("one", "three")), Item("b", 0, texts=("x",))),
            bytes=3 * 2 * 4,
        )


class TestFailing(PlaceContract):
    @pytest.fixture
    def case(self, server: OllamaServer) -> Case:
        server.fault = "unauthorized"
        return Case(
            make=lambda: inference(described(server.url)),
            action=Action.GENERATE,
            items=(),
            failing=QUESTION,
            secret="c2VjcmV0",
        )


def test_the_question_goes_to_generate_with_its_options_where_ollama_wants_them(
    tmp_path: Path, server: OllamaServer
) -> None:
    options = {"temperature": 0.5, "num_ctx": 4096, "keep_alive": "10m", "think": False}
    within(described(server.url, **options), tmp_path, ask, output_tokens=3)
    assert server.asked[-1] == (
        "/api/generate",
        {
            "model": MODEL,
            "prompt": "\n\n".join(QUESTION.texts),
            "stream": True,
            "keep_alive": "10m",
            "think": False,
            "options": {"num_predict": 3, "temperature": 0.5, "num_ctx": 4096},
        },
    )
    assert server.key == f"Bearer {SECRET}"


def test_an_answer_is_counted_in_the_servers_tokens_and_its_own_times_are_kept(
    tmp_path: Path, server: OllamaServer
) -> None:
    async def life(place: Inference) -> tuple[Done, dict[str, float]]:
        return await ask(place), place.last_timings

    delivered, timings = within(described(server.url), tmp_path, life)
    assert (delivered.bytes, delivered.tokens) == (len("".join(server.tokens).encode()), 4)
    assert timings == {
        "total_duration": 1706818083.0,
        "load_duration": 41219291.0,
        "prompt_eval_duration": 130079000.0,
        "eval_duration": 1532710000.0,
    }


def test_what_a_model_thinks_is_part_of_its_answer(tmp_path: Path, server: OllamaServer) -> None:
    server.thinking = ("Hm, ", "das ")
    assert within(described(server.url), tmp_path, ask).bytes == len("Hm, das Das Dach hält dicht".encode())


def test_memory_is_asked_before_each_call(tmp_path: Path, server: OllamaServer) -> None:
    async def life(place: Inference) -> None:
        await ask(place)
        await ask(place)

    within(described(server.url), tmp_path, life)
    assert server.pages == ["/api/version", "/api/tags", *("/api/ps", "/api/generate") * 2]


def test_a_model_in_memory_was_not_loaded_although_the_server_gives_a_duration(
    tmp_path: Path, server: OllamaServer
) -> None:
    assert within(described(server.url), tmp_path, ask).load_ns == 0


def test_each_load_is_told_with_its_seconds_where_embedder_and_model_evict_each_other(
    tmp_path: Path, server: OllamaServer
) -> None:
    server.load_duration_ns = 300_000_000

    async def life(embedder: Inference) -> list[int]:
        model = inference(described(server.url), allow=ALLOWED)
        await model.open(tmp_path)
        try:
            return [
                (await work).load_ns for work in (embed(embedder), ask(model), embed(embedder), ask(model))
            ]
        finally:
            await model.close()

    place = described(server.url, "embed", EMBEDDER)
    assert within(place, tmp_path, life, allow=ALLOWED) == [300_000_000] * 4


def test_another_context_at_each_call_loads_the_model_each_time(tmp_path: Path, server: OllamaServer) -> None:
    server.load_duration_ns = 300_000_000

    async def life(short: Inference) -> list[int]:
        long = inference(described(server.url, num_ctx=8192), allow=ALLOWED)
        await long.open(tmp_path)
        try:
            return [(await ask(place)).load_ns for place in (short, long, short, long, long)]
        finally:
            await long.close()

    loads = within(described(server.url, num_ctx=3000), tmp_path, life, allow=ALLOWED)
    assert loads == [300_000_000] * 4 + [0]


def test_a_model_given_up_after_each_answer_is_loaded_for_the_next(
    tmp_path: Path, server: OllamaServer
) -> None:
    server.load_duration_ns = 700_000_000

    async def life(place: Inference) -> list[int]:
        return [(await ask(place)).load_ns for _ in range(3)]

    place = described(server.url, keep_alive=0)
    assert within(place, tmp_path, life, allow=ALLOWED) == [0, 700_000_000, 700_000_000]


def test_a_model_that_is_not_loaded_is_not_asked_unless_that_is_allowed(
    tmp_path: Path, server: OllamaServer
) -> None:
    server.loaded.clear()

    async def life(place: Inference) -> tuple[PlaceError, str]:
        with pytest.raises(PlaceError) as refused:
            await place.ready(Action.GENERATE)
        with pytest.raises(OperationError) as failed:
            await ask(place)
        return refused.value, failed.value.message

    refused, failed = within(described(server.url), tmp_path, life)
    said = f"model {MODEL} is not loaded: not among the models in memory (/api/ps)"
    assert (refused.message, refused.hint) == (f"model: {said}", "load it first, or allow: [load-model]")
    assert failed == (
        f"model: {server.url} would have to load model {MODEL}: not among the models in memory (/api/ps); "
        "load it first, or allow: [load-model]"
    )
    assert "/api/generate" not in server.pages


def test_weights_may_be_taken_whatever_the_server_holds(tmp_path: Path, server: OllamaServer) -> None:
    server.loaded.clear()
    within(described(server.url), tmp_path, lambda place: place.ready(Action.LOAD))


def test_a_model_that_is_not_loaded_is_loaded_where_that_is_allowed(
    tmp_path: Path, server: OllamaServer
) -> None:
    server.loaded.clear()
    server.load_s = 0.2

    async def life(place: Inference) -> Done:
        await place.ready(Action.GENERATE)
        return await ask(place)

    assert within(described(server.url), tmp_path, life, allow=ALLOWED).load_ns == 200_000_000


def test_another_context_would_load_the_model_anew(tmp_path: Path, server: OllamaServer) -> None:
    async def life(place: Inference) -> None:
        await place.ready(Action.GENERATE)

    with pytest.raises(PlaceError, match="in memory with a context of 4096, and requests ask for 8192"):
        within(described(server.url, num_ctx=8192), tmp_path, life)


@pytest.mark.parametrize(
    ("loaded", "state", "evidence"),
    [
        (
            LOADED,
            "warm",
            "in memory (/api/ps); 3 GiB, 75 % of it on the GPU; context 4096; until 2026-11-30T09:19:12",
        ),
        ({}, "cold", "not among the models in memory (/api/ps)"),
    ],
)
def test_the_start_condition_is_what_the_server_has_in_memory(
    tmp_path: Path, server: OllamaServer, loaded: dict[str, int], state: str, evidence: str
) -> None:
    server.loaded = loaded

    async def life(place: Inference) -> tuple[LayerState, ...]:
        return await place.begin(Start.AS_IS, frozenset({Action.GENERATE}))

    states = within(described(server.url), tmp_path, life)
    assert states == (LayerState("model", "model", state, evidence),)


def test_a_server_without_a_list_of_what_is_loaded_leaves_it_open(
    tmp_path: Path, server: OllamaServer
) -> None:
    server.fault = "no ps"
    server.loaded.clear()
    server.load_duration_ns = 2_100_000_000

    async def life(place: Inference) -> tuple[str, int, int]:
        [state] = await place.begin(Start.AS_IS, frozenset({Action.GENERATE}))
        return state.state, (await ask(place)).load_ns, (await ask(place)).load_ns

    assert within(described(server.url), tmp_path, life) == ("unknown", 2_100_000_000, -1)


def test_a_model_elsewhere_is_in_no_memory_here(tmp_path: Path, server: OllamaServer) -> None:
    async def life(place: Inference) -> LayerState:
        await place.ready(Action.GENERATE)
        [state] = await place.begin(Start.AS_IS, frozenset({Action.GENERATE}))
        return state

    state = within(described(server.url, model=CLOUD), tmp_path, life)
    told = "runs at https://models.example:443, not in this server's memory"
    assert (state.state, state.evidence) == ("unknown", told)


def test_vectors_and_tokens_of_many_texts_come_in_one_answer(tmp_path: Path, server: OllamaServer) -> None:
    server.loaded, server.slots = {EMBEDDER: 4096}, 1
    done = within(described(server.url, "embed", EMBEDDER), tmp_path, embed)
    assert [item.vectors for item in done.items] == [((3.0, 0.5), (5.0, 0.5)), ((1.0, 0.5),)]
    assert (done.tokens, done.load_ns) == (11, 0)
    asked = {"model": EMBEDDER, "input": ["one", "three", "x"], "options": {}}
    assert server.asked[-1] == ("/api/embed", asked)


def test_an_embedding_without_durations_says_nothing_of_loads(tmp_path: Path, server: OllamaServer) -> None:
    server.loaded, server.fault = {EMBEDDER: 4096}, "no durations"
    assert within(described(server.url, "embed", EMBEDDER), tmp_path, embed).load_ns == -1


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("busy", "answers 503: server busy, please try again. maximum pending requests exceeded"),
        ("unauthorized", "answers 401: unauthorized"),
        (
            "error within",
            "fails within its answer: the server says: an error was encountered while running the model: "
            "out of memory",
        ),
        ("short", "ended its answer in the middle"),
    ],
)
def test_a_fault_is_told_in_the_servers_words_and_the_next_request_works(
    tmp_path: Path, server: OllamaServer, fault: str, said: str
) -> None:
    async def life(place: Inference) -> tuple[str, int]:
        server.fault = fault
        with pytest.raises(OperationError) as caught:
            await ask(place)
        server.fault = ""
        return caught.value.message, (await ask(place)).tokens

    assert within(described(server.url), tmp_path, life) == (f"model: {server.url} {said}", 4)


def test_too_few_vectors_are_told(tmp_path: Path, server: OllamaServer) -> None:
    server.loaded, server.fault = {EMBEDDER: 4096}, "few vectors"
    with pytest.raises(OperationError, match="gave 2 vectors for 3 texts"):
        within(described(server.url, "embed", EMBEDDER), tmp_path, embed)


@pytest.mark.parametrize(
    ("model", "named", "loaded", "chosen"),
    [
        ("sammler-embed", None, {}, "sammler-embed"),
        (None, "Hauswart:3b-q4_k_m", {}, MODEL),
        (None, "llama-3.1-8b-instruct", {EMBEDDER: 2048}, EMBEDDER),
    ],
)
def test_a_model_is_found_by_what_is_said_of_it_or_loaded(
    server: OllamaServer, model: str | None, named: str | None, loaded: dict[str, int], chosen: str
) -> None:
    server.loaded = loaded
    place = inference(described(server.url, model=model), model_name=named)
    assert asyncio.run(place.check()).summary == f"Ollama 0.12.6, model {chosen}, answers"


@pytest.mark.parametrize(
    ("model", "said", "hint"),
    [
        (
            None,
            "has 3 models, and none is named",
            f"give the place a model: {MODEL}, {EMBEDDER}, {CLOUD}",
        ),
        ("hauswart:3b-q4", "has no model hauswart:3b-q4", f"did you mean {MODEL}?"),
    ],
)
def test_a_model_that_cannot_be_told_is_asked_for(
    server: OllamaServer, model: str | None, said: str, hint: str
) -> None:
    server.loaded.clear()
    with pytest.raises(PlaceError) as caught:
        asyncio.run(inference(described(server.url, model=model)).check())
    assert (caught.value.message, caught.value.hint) == (f"model: {server.url} {said}", hint)


def test_check_says_that_a_run_would_have_to_load_and_loads_nothing(server: OllamaServer) -> None:
    server.loaded.clear()
    facts = asyncio.run(inference(described(server.url)).check())
    assert facts.warnings == (f"model {MODEL} is not loaded: not among the models in memory (/api/ps)",)
    assert set(server.pages) == {"/api/version", "/api/tags", "/api/ps"}


def test_a_url_may_end_as_other_programs_want_it(server: OllamaServer) -> None:
    for ending in ("/", "/v1", "/api", "/api/"):
        facts = asyncio.run(inference(described(server.url + ending)).check())
        assert facts.summary == f"Ollama 0.12.6, model {MODEL}, answers"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("other server", "is no Ollama: /api/version says no version"),
        ("no json", "answers with something that is no JSON: Ollama is running"),
    ],
)
def test_a_server_that_is_no_ollama_is_told(server: OllamaServer, fault: str, said: str) -> None:
    server.fault = fault
    with pytest.raises(PlaceError, match=said):
        asyncio.run(inference(described(server.url)).check())


def test_an_openai_server_is_pointed_to_its_own_api() -> None:
    with model_server() as other, pytest.raises(PlaceError) as caught:
        asyncio.run(inference(described(other.url)).check())
    assert caught.value.hint == "api: openai works with every other server"


@pytest.mark.parametrize(
    ("before", "duration", "load"),
    [
        (True, 41_219_291, 0),
        (True, 700_000_000, 0),
        (True, 2_100_000_000, 2_100_000_000),
        (False, 300_000_000, 300_000_000),
        (False, 0, 1),
        (None, 41_219_291, -1),
        (None, 2_100_000_000, 2_100_000_000),
        (False, None, -1),
        (True, -5, -1),
        (True, "soon", -1),
    ],
)
def test_a_load_is_what_the_server_had_not_in_memory_or_took_too_long_for_finding(
    before: bool | None, duration: object, load: int
) -> None:
    assert load_ns(before, duration) == load


@pytest.mark.parametrize("line", ["[]", "[" * 100_000, "<html>", '{"error": {}}', '{"error": "full"}'])
def test_a_line_that_is_no_part_of_an_answer_is_told(line: str) -> None:
    with pytest.raises(StreamError):
        read_chunk(line, None)
