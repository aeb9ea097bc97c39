"""An ``inference`` place: a model server that generates or embeds, or the stand-in that takes weights.

Knows what goes to the model and what comes back; the protocol is ``openai``'s. pathtrace never asks a
server to load or unload a model: weights that arrive here are taken into pathtrace's own memory.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.run import Mount
from pathtrace.model.scenario import Action, InferenceSpec, Place, Start
from pathtrace.model.work import Clock, Done, Item, LayerState, PlaceFacts
from pathtrace.places.answer import Answer
from pathtrace.places.openai import Models, OpenAi, chat_payload, texts_payload
from pathtrace.places.server_process import server_pid
from pathtrace.places.threads import in_thread
from pathtrace.places.weights_memory import WeightsMemory

EMBED_TEXTS = 32
"""Texts in one request."""
OUTPUT_TOKENS = 256
"""Answer tokens at most where the scenario does not say: a model may go on for ever."""
_CHECK_S = 5.0
_COMPONENT_BYTES = 4
_OWNERS = {"llamacpp": "llama.cpp server", "vllm": "vLLM", "library": "Ollama", "sglang": "SGLang"}


class Inference:
    """One model server, or none (``url`` absent)."""

    def __init__(self, place: Place, clock: Clock, seed: int, output_tokens: int | None = None) -> None:
        assert isinstance(place.spec, InferenceSpec)
        self._place = place
        self._spec = place.spec
        self._clock = clock
        self._output_tokens = output_tokens or OUTPUT_TOKENS
        self._options = dict(place.spec.options)
        self._server: OpenAi | None = None
        self._model = place.spec.model
        self._identity: str | None = None
        self._pid: int | None = None
        self._answers: set[Answer] = set()
        self._last: Answer | None = None
        self._memory = WeightsMemory()
        self._pool = ThreadPoolExecutor(1, f"pathtrace-{place.name}")

    @property
    def mount(self) -> Mount | None:
        return None

    @property
    def scratch_folder(self) -> Path | None:
        return None

    @property
    def server_pid(self) -> int | None:
        return self._pid

    @property
    def identity(self) -> str | None:
        return self._identity

    @property
    def last_timings(self) -> dict[str, float]:
        """The server's own times of the latest answer, once it has ended, where it gives them (llama.cpp)."""
        return self._last.timings if self._last is not None else {}

    def concurrency(self, action: Action) -> int:
        return 1 if action is Action.LOAD else self._place.workers

    def batch(self, action: Action) -> int:
        return EMBED_TEXTS if action is Action.EMBED else 0

    async def check(self) -> PlaceFacts:
        if self._spec.url is None:
            return PlaceFacts(summary="stand-in: takes weights into memory and answers nothing")
        server = self._connected(self._spec.url)
        try:
            found = await self._reach(server)
        finally:
            await server.close()
        return PlaceFacts(summary=f"{self._named(found)}, answers")

    async def open(self, scratch: Path) -> PlaceFacts:
        if self._spec.url is None:
            return await self.check()
        self._server = self._connected(self._spec.url)
        found = await self._reach(self._server)
        self._model = self._model or next(iter(found.ids), None)
        self._identity = self._named(found)
        self._pid = await asyncio.to_thread(server_pid, self._spec.url)
        return PlaceFacts(summary=f"{self._identity}, answers")

    async def begin(self, start: Start, actions: frozenset[Action]) -> tuple[LayerState, ...]:
        if self._server is None:
            return ()
        sleeps = (await self._server.properties(_CHECK_S)).get("is_sleeping")
        if not isinstance(sleeps, bool):
            state, evidence = "unknown", "the server does not say whether its model is in memory"
        elif sleeps:
            state, evidence = "cold", "the server says that its model sleeps (/props)"
        else:
            state, evidence = "warm", "the server says that its model is loaded (/props)"
        return (LayerState("model", self._place.name, state, evidence),)

    async def supply(self, action: Action) -> Sequence[Item]:
        raise PlaceError(f"{self._place.name}: a model has no work of its own; it cannot begin a path")

    async def draw(self, items: Sequence[Item]) -> Sequence[Done]:
        raise OperationError(f"{self._place.name}: a model holds nothing to read")

    async def perform(self, action: Action, items: Sequence[Item]) -> Done:
        if action is Action.LOAD:
            return await in_thread(self._pool, partial(self._load, items))
        if self._server is None:
            return self._nothing(items)
        if action is Action.EMBED:
            return await self._embed(self._server, items)
        return await self._generate(self._server, items)

    async def finish(self, action: Action) -> Done | None:
        return None

    async def fingerprint(self) -> str | None:
        return None

    async def close(self) -> None:
        for answer in tuple(self._answers):
            await answer.aclose()  # asked for and never delivered
        self._answers.clear()
        if self._server is not None:
            await self._server.close()
            self._server = None
        await asyncio.to_thread(self._pool.shutdown, wait=True, cancel_futures=True)
        self._memory.release()

    def _connected(self, url: str) -> OpenAi:
        if self._spec.api != "openai":
            raise PlaceError(
                f"{self._place.name}: api {self._spec.api} is not available in this version",
                hint="api: openai works with every server that has /v1, Ollama too",
            )
        return OpenAi(self._place.name, url, self._spec.api_key, self._clock)

    async def _reach(self, server: OpenAi) -> Models:
        try:
            return await server.models(min(_CHECK_S, self._place.timeout_s))
        except OperationError as error:
            raise PlaceError(error.message, hint="is the server running, and is `url` right?") from error

    def _named(self, found: Models) -> str:
        owner = _OWNERS.get(found.owner or "")
        name = owner or found.server or found.owner or "OpenAI-compatible server"
        model = self._model or next(iter(found.ids), None)
        return f"{name}, model {model}" if model else name

    def _load(self, items: Sequence[Item]) -> Done:
        cpu = time.thread_time_ns()
        start = self._clock()
        size = sum(self._memory.take(item.data) for item in items if item.data is not None)
        elapsed = self._clock() - start
        return Done(start, elapsed, size, cpu_ns=time.thread_time_ns() - cpu)

    def _nothing(self, items: Sequence[Item]) -> Done:
        """The stand-in's answer: none."""
        start = self._clock()
        passed = tuple(items)
        if self._spec.task == "generate":
            passed = tuple(item._replace(texts=item.texts[:1]) for item in items)
        return Done(start, self._clock() - start, 0, passed, first_byte_ns=0)

    def _keep(self, answer: Answer) -> None:
        """Remember it for closing, and for its times."""
        self._answers = {kept for kept in self._answers if not kept.ended}
        self._answers.add(answer)
        self._last = answer

    async def _embed(self, server: OpenAi, items: Sequence[Item]) -> Done:
        texts = [text for item in items for text in item.texts]
        if not texts:
            return Done(self._clock(), 0, 0, tuple(items))
        done = await server.embed(texts_payload(self._model, texts, self._options), len(texts))
        return Done(
            start_ns=done.start_ns,
            elapsed_ns=done.elapsed_ns,
            bytes=sum(map(len, done.vectors)) * _COMPONENT_BYTES,
            items=_with_vectors(items, done.vectors),
            setup_ns=done.setup_ns,
            first_byte_ns=done.first_byte_ns,
            tokens=done.tokens,
        )

    async def _generate(self, server: OpenAi, items: Sequence[Item]) -> Done:
        (item,) = items
        prompt = "\n\n".join(item.texts) or item.name
        begun = await server.chat(chat_payload(self._model, prompt, self._output_tokens, self._options))
        self._keep(begun.answer)
        handed = Item(name=item.name, size_bytes=0, texts=item.texts[:1], answer=begun.answer)
        return Done(
            start_ns=begun.start_ns,
            elapsed_ns=begun.elapsed_ns,
            bytes=0,
            items=(handed,),
            setup_ns=begun.setup_ns,
            first_byte_ns=begun.first_byte_ns,
        )


def _with_vectors(items: Sequence[Item], vectors: tuple[tuple[float, ...], ...]) -> tuple[Item, ...]:
    filled, at = [], 0
    for item in items:
        filled.append(item._replace(vectors=vectors[at : at + len(item.texts)]))
        at += len(item.texts)
    return tuple(filled)
