"""An ``inference`` place: a model server that generates or embeds, or the stand-in that takes weights.

Knows what goes to the model and what comes back; the protocol is ``openai``'s or ``ollama``'s. Weights that
arrive here are taken into pathtrace's own memory. A server that says that its model is not loaded is asked
nothing unless the scenario allows that it loads.
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
from pathtrace.places.model_server import LOAD_MODEL, Memory, ModelServer
from pathtrace.places.ollama import Ollama
from pathtrace.places.openai import OpenAi
from pathtrace.places.server_process import server_pid
from pathtrace.places.threads import in_thread
from pathtrace.places.weights_memory import WeightsMemory

EMBED_TEXTS = 32
"""Texts in one request."""
OUTPUT_TOKENS = 256
"""Answer tokens at most where the scenario does not say: a model may go on for ever."""
_CHECK_S = 5.0
_COMPONENT_BYTES = 4


class Inference:
    """One model server, or none (``url`` absent)."""

    def __init__(
        self,
        place: Place,
        clock: Clock,
        seed: int,
        output_tokens: int | None = None,
        model_name: str | None = None,
        allow: Sequence[str] = (),
    ) -> None:
        assert isinstance(place.spec, InferenceSpec)
        self._place = place
        self._spec = place.spec
        self._clock = clock
        self._output_tokens = output_tokens or OUTPUT_TOKENS
        self._options = dict(place.spec.options)
        self._described = model_name if place.spec.task == "generate" else None
        self._allow = tuple(allow)
        self._server: ModelServer | None = None
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
        """The server's own times of the latest answer, once it has ended, where it gives them."""
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
            identity = await self._reach(server)
            memory = await self._held_by(server)
        finally:
            await server.close()
        warnings = (self._refusal(memory),) if self._would_load(memory) else ()
        return PlaceFacts(summary=f"{identity}, answers", warnings=warnings)

    async def open(self, scratch: Path) -> PlaceFacts:
        if self._spec.url is None:
            return await self.check()
        self._server = self._connected(self._spec.url)
        self._identity = await self._reach(self._server)
        self._pid = await asyncio.to_thread(server_pid, self._spec.url)
        return PlaceFacts(summary=f"{self._identity}, answers")

    async def begin(self, start: Start, actions: frozenset[Action]) -> tuple[LayerState, ...]:
        if self._server is None:
            return ()
        memory = await self._held_by(self._server)
        state = {True: "warm", False: "cold", None: "unknown"}[memory.loaded]
        return (LayerState("model", self._place.name, state, memory.evidence),)

    async def ready(self, action: Action) -> None:
        """PlaceError if the model would first have to be loaded for ``action``, and must not be."""
        if self._server is None or action is Action.LOAD:
            return
        memory = await self._held_by(self._server)
        if self._would_load(memory):
            hint = f"load it first, or allow: [{LOAD_MODEL}]"
            raise PlaceError(f"{self._place.name}: {self._refusal(memory)}", hint=hint)

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

    def _connected(self, url: str) -> ModelServer:
        name, key = self._place.name, self._spec.api_key
        if self._spec.api == "ollama":
            return Ollama(name, url, key, self._clock, self._options, self._allow)
        return OpenAi(name, url, key, self._clock)

    async def _reach(self, server: ModelServer) -> str:
        """Find out who answers and which model is to; what to call them."""
        try:
            found = await server.models(self._limit_s)
            self._model = await server.choose(found, self._spec.model, self._described)
        except OperationError as error:
            hint = error.hint or "is the server running, and is `url` right?"
            raise PlaceError(error.message, hint=hint) from error
        return f"{found.server}, model {self._model}" if self._model else found.server

    async def _held_by(self, server: ModelServer) -> Memory:
        try:
            return await server.memory(self._model, self._limit_s)
        except OperationError as error:
            raise PlaceError(error.message, hint="is the server still running?") from error

    @property
    def _limit_s(self) -> float:
        return min(_CHECK_S, self._place.timeout_s)

    def _would_load(self, memory: Memory) -> bool:
        return memory.loaded is False and LOAD_MODEL not in self._allow

    def _refusal(self, memory: Memory) -> str:
        return f"model {self._model} is not loaded: {memory.evidence}"

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

    async def _embed(self, server: ModelServer, items: Sequence[Item]) -> Done:
        texts = [text for item in items for text in item.texts]
        if not texts:
            return Done(self._clock(), 0, 0, tuple(items))
        done = await server.embed(self._model, texts, self._options)
        return Done(
            start_ns=done.start_ns,
            elapsed_ns=done.elapsed_ns,
            bytes=sum(map(len, done.vectors)) * _COMPONENT_BYTES,
            items=_with_vectors(items, done.vectors),
            setup_ns=done.setup_ns,
            first_byte_ns=done.first_byte_ns,
            tokens=done.tokens,
            load_ns=done.load_ns,
        )

    async def _generate(self, server: ModelServer, items: Sequence[Item]) -> Done:
        (item,) = items
        prompt = "\n\n".join(item.texts) or item.name
        begun = await server.generate(self._model, prompt, self._output_tokens, self._options)
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
