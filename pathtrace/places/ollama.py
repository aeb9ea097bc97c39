"""Speaks Ollama's own API, written against its documentation: generate, embed, and what is in memory.

All its durations are nanoseconds. Before each call it is asked whether the model is loaded as the call wants
it; a call that would load it is refused unless the scenario allows that. What is asked and what the answers
are for is left to ``inference``, how a server is spoken with to ``http_client``.
"""

from __future__ import annotations

import difflib
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing

import httpx

from pathtrace.errors import OperationError
from pathtrace.model.work import Clock
from pathtrace.places.answer import Answer
from pathtrace.places.documents import storable
from pathtrace.places.http_client import HttpClient, Trace, lines, read_tail
from pathtrace.places.model_server import LOAD_MODEL, Begun, Embedded, Memory, Models
from pathtrace.places.openai import first_token
from pathtrace.places.sse import Chunk, StreamError, message_in, numbers, parsed, shortened
from pathtrace.units import format_bytes, format_ratio

WARM_NS = 1_000_000_000
"""``load_duration`` also covers finding and checking a model that is in memory: 10 ms is usual, and up to
0.7 s has been reported. Where the server said that the model was there, only more than this is a load."""
_ASK_S = 5.0
_BESIDE_OPTIONS = frozenset(
    (
        *("keep_alive", "think", "format", "system", "template", "raw", "suffix", "truncate"),
        *("dimensions", "images", "context"),
    )
)
"""Keys of a request itself; all others belong into its ``options``."""
_SILENT = (404, 405, 501)


class Ollama:
    """One server with the connections to it. ``name`` is the place's, for messages."""

    def __init__(
        self,
        name: str,
        url: str,
        api_key: str | None,
        clock: Clock,
        options: Mapping[str, object],
        allow: Sequence[str],
    ) -> None:
        self._name = name
        self._clock = clock
        self._base = url.rstrip("/").removesuffix("/v1").removesuffix("/api").rstrip("/")
        self._http = HttpClient(name, url, api_key)
        self._request, self._options = _sorted_options(options)
        self._may_load = LOAD_MODEL in allow
        self._remote: dict[str, str] = {}

    async def close(self) -> None:
        """Close all connections."""
        await self._http.close()

    async def models(self, limit_s: float) -> Models:
        """The models that the server has, and its version."""
        said = await self._get("version", limit_s)
        version = said.get("version") if said else None
        if not isinstance(version, str):
            raise OperationError(
                self._http.fault("is no Ollama: /api/version says no version").message,
                hint="api: openai works with every other server",
            )
        cards = _cards(await self._get("tags", limit_s))
        self._remote = {
            _canonical(_name(card)): str(host) for card in cards if (host := card.get("remote_host"))
        }
        return Models(tuple(_name(card) for card in cards), f"Ollama {version}")

    async def choose(self, found: Models, stated: str | None, described: str | None) -> str | None:
        """The model by its name here: as stated, as the workload calls it, or the only one."""
        known = {_canonical(name): name for name in found.ids}
        if stated is not None:
            if known and _canonical(stated) not in known and not _in_cloud(stated):
                raise self._unknown(stated, found)
            return stated
        if described is not None and _canonical(described) in known:
            return known[_canonical(described)]
        loaded = [_name(card) for card in _cards(await self._get("ps", _ASK_S))]
        for names in (loaded, found.ids):
            if len(names) == 1:
                return names[0]
        if not found.ids:
            raise OperationError(self._http.fault("has no models").message, hint="ollama pull NAME")
        raise OperationError(
            self._http.fault(f"has {len(found.ids)} models, and none is named").message,
            hint=f"give the place a model: {', '.join(found.ids[:8])}",
        )

    async def memory(self, model: str | None, limit_s: float) -> Memory:
        """Whether the model is in memory with the context that requests ask for (``/api/ps``)."""
        wanted = _canonical(model or "")
        if wanted in self._remote or _in_cloud(wanted):
            return Memory(
                None, f"runs at {self._remote.get(wanted, 'its provider')}, not in this server's memory"
            )
        said = await self._get("ps", limit_s)
        if said is None:
            return Memory(None, "the server does not say whether its model is in memory")
        card = next((card for card in _cards(said) if _canonical(_name(card)) == wanted), None)
        if card is None:
            return Memory(False, "not among the models in memory (/api/ps)")
        loaded, asked = card.get("context_length"), self._options.get("num_ctx")
        # A server that answers several at a time may hold a context for each.
        if isinstance(loaded, int) and isinstance(asked, int) and loaded and loaded % asked:
            return Memory(
                False, f"in memory with a context of {loaded}, and requests ask for {asked} (/api/ps)"
            )
        return Memory(True, _told_of(card))

    async def generate(
        self, model: str | None, prompt: str, tokens: int, options: Mapping[str, object]
    ) -> Begun:
        """Ask and wait for the first token; the rest arrives in ``answer``."""
        loaded = await self._loaded_before(model)
        body = {"model": model, "prompt": prompt, "stream": True, **self._request}
        payload = {**body, "options": {"num_predict": tokens, **self._options}}
        trace = Trace(self._clock)
        start = self._clock()
        response = await self._http.post_json(f"{self._base}/api/generate", payload, trace)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(response.aclose)
            if not response.is_success:
                self._http.refuse_status(response, await self._http.read(response))
            chunks = self._chunks(response, loaded)
            stack.push_async_callback(chunks.aclose)
            first = await first_token(chunks)
            elapsed = self._clock() - start
            answer = Answer(first, chunks, stack.pop_all().aclose)
        return Begun(start, elapsed, trace.setup_ns, trace.first_byte_ns(start), answer)

    async def embed(self, model: str | None, texts: Sequence[str], options: Mapping[str, object]) -> Embedded:
        """One vector for each of ``texts``."""
        loaded = await self._loaded_before(model)
        payload = {"model": model, "input": list(texts), **self._request, "options": self._options}
        trace = Trace(self._clock)
        start = self._clock()
        response = await self._http.post_json(f"{self._base}/api/embed", payload, trace)
        try:
            body = await self._http.read(response)
        finally:
            await response.aclose()
        elapsed = self._clock() - start
        self._http.refuse_status(response, body)
        said = parsed(body)
        vectors = self._vectors(said, len(texts))
        assert isinstance(said, dict)
        return Embedded(
            start_ns=start,
            elapsed_ns=elapsed,
            setup_ns=trace.setup_ns,
            first_byte_ns=trace.first_byte_ns(start),
            vectors=vectors,
            tokens=_count(said.get("prompt_eval_count")),
            load_ns=load_ns(loaded, said.get("load_duration")),
        )

    async def _loaded_before(self, model: str | None) -> bool | None:
        """Whether the model is in memory. Raises if the call would load it and must not."""
        memory = await self.memory(model, _ASK_S)
        if memory.loaded is False and not self._may_load:
            raise self._http.fault(
                f"would have to load model {model}: {memory.evidence}; "
                f"load it first, or allow: [{LOAD_MODEL}]"
            )
        return memory.loaded

    async def _chunks(self, response: httpx.Response, loaded: bool | None) -> AsyncGenerator[Chunk, None]:
        try:
            async with aclosing(lines(response)) as arriving:
                async for line in arriving:
                    if not line.strip():
                        continue
                    chunk = read_chunk(line, loaded)
                    yield chunk
                    if chunk.last:
                        await read_tail(arriving)
                        return
        except StreamError as fault:
            raise self._http.fault(f"fails within its answer: {fault}") from fault
        except httpx.HTTPError as error:
            raise self._http.lost(error) from error
        raise self._http.fault("ended its answer in the middle")

    async def _get(self, page: str, limit_s: float) -> dict[str, object] | None:
        """What a page of the API says; None if the server has no such page."""
        response = await self._http.ask("GET", f"{self._base}/api/{page}", limit_s)
        if response.status_code in _SILENT:
            return None
        self._http.refuse_status(response, response.content)
        payload = parsed(response.content)
        if not isinstance(payload, dict):
            raise self._http.fault(f"answers with something that is no JSON: {shortened(response.text)}")
        return payload

    def _unknown(self, model: str, found: Models) -> OperationError:
        near = difflib.get_close_matches(model, found.ids, n=1)
        hint = (
            f"did you mean {near[0]}?"
            if near
            else f"ollama pull {model}, or one of: {', '.join(found.ids[:8])}"
        )
        return OperationError(self._http.fault(f"has no model {model}").message, hint=hint)

    def _vectors(self, payload: object, count: int) -> tuple[tuple[float, ...], ...]:
        found = payload.get("embeddings") if isinstance(payload, dict) else None
        if not isinstance(found, list):
            said = message_in(payload)
            raise self._http.fault(f"fails to embed: {said}" if said else "gave no list of vectors")
        try:
            vectors = tuple(tuple(map(float, vector)) for vector in found)
        except (TypeError, ValueError) as error:
            raise self._http.fault("gave vectors in a form that is not known") from error
        if len(vectors) != count:
            raise self._http.fault(f"gave {len(vectors)} vectors for {count} texts")
        return vectors


def load_ns(loaded_before: bool | None, load_duration: object) -> int:
    """What of ``load_duration`` was a load: 0 if the model was in memory, -1 if nobody knows."""
    if not isinstance(load_duration, int) or isinstance(load_duration, bool) or load_duration < 0:
        return -1
    if loaded_before is False or load_duration > WARM_NS:
        return max(1, load_duration)
    return 0 if loaded_before else -1


def read_chunk(line: str, loaded_before: bool | None) -> Chunk:
    """One line of a streamed answer. Raises ``StreamError``."""
    payload = parsed(line)
    if not isinstance(payload, dict):
        raise StreamError(f"this is no JSON object: {shortened(line)}")
    if "error" in payload:
        raise StreamError(f"the server says: {message_in(payload) or shortened(line)}")
    parts = (payload.get("thinking"), payload.get("response"))
    text = storable("".join(part for part in parts if isinstance(part, str)))
    if payload.get("done") is not True:
        return Chunk(text=text)
    tokens = _count(payload.get("eval_count"))
    return Chunk(
        text=text,
        finished=True,
        last=True,
        tokens=tokens if tokens >= 0 else None,
        timings={key: value for key, value in numbers(payload).items() if key.endswith("_duration")},
        load_ns=load_ns(loaded_before, payload.get("load_duration")),
    )


def _sorted_options(given: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """What stands beside the options in a request, and the options."""
    nested = given.get("options")
    request = {key: value for key, value in given.items() if key in _BESIDE_OPTIONS}
    options = {key: value for key, value in given.items() if key not in _BESIDE_OPTIONS and key != "options"}
    return request, options | (nested if isinstance(nested, dict) else {})


def _cards(said: Mapping[str, object] | None) -> list[dict[str, object]]:
    models = said.get("models") if said else None
    return [card for card in models if isinstance(card, dict)] if isinstance(models, list) else []


def _name(card: Mapping[str, object]) -> str:
    return str(card.get("model") or card.get("name") or "")


def _canonical(name: str) -> str:
    """The name in full, as two ways of writing it are one model: without a tag it is ``:latest``."""
    name = name.casefold().removeprefix("registry.ollama.ai/").removeprefix("library/")
    return name if ":" in name.rpartition("/")[2] or not name else f"{name}:latest"


def _in_cloud(name: str) -> bool:
    """True for names of models that Ollama passes on to its provider."""
    return name.casefold().endswith(("-cloud", ":cloud"))


def _told_of(card: Mapping[str, object]) -> str:
    """What ``/api/ps`` says of a model in memory."""
    size, on_gpu = _count(card.get("size")), _count(card.get("size_vram"))
    parts = ["in memory (/api/ps)"]
    if size > 0:
        share = f", {format_ratio(on_gpu / size)} of it on the GPU" if on_gpu >= 0 else ""
        parts.append(format_bytes(size) + share)
    if _count(card.get("context_length")) > 0:
        parts.append(f"context {card['context_length']}")
    if isinstance(until := card.get("expires_at"), str):
        parts.append(f"until {until[:19]}")
    return "; ".join(parts)


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else -1
