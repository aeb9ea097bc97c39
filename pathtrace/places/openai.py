"""Speaks the OpenAI-compatible protocol: models, streamed chat, embeddings, llama.cpp's own description.

What is asked and what the answers are for is left to ``inference``, how a server is spoken with to
``http_client``. The key goes into the Authorization header and nowhere else.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing

import httpx

from pathtrace.errors import OperationError
from pathtrace.model.work import Clock
from pathtrace.places.answer import Answer
from pathtrace.places.http_client import BadRequestError, HttpClient, Trace, lines, read_tail
from pathtrace.places.model_server import Begun, Embedded, Memory, Models
from pathtrace.places.sse import Chunk, StreamError, message_in, parsed, read_line, shortened

_OWNERS = {"llamacpp": "llama.cpp server", "vllm": "vLLM", "library": "Ollama", "sglang": "SGLang"}


class OpenAi:
    """One server with the connections to it. ``name`` is the place's, for messages."""

    def __init__(self, name: str, url: str, api_key: str | None, clock: Clock) -> None:
        self._clock = clock
        root = url.rstrip("/")
        self._base = root if root.endswith("/v1") else f"{root}/v1"
        self._counts_asked = True
        self._http = HttpClient(name, url, api_key)

    async def close(self) -> None:
        """Close all connections."""
        await self._http.close()

    async def models(self, limit_s: float) -> Models:
        """The models on offer; the cheapest question that shows that the server is there."""
        response = await self._http.ask("GET", f"{self._base}/models", limit_s)
        if response.status_code not in (404, 405, 501):
            self._http.refuse_status(response, response.content)
        payload = parsed(response.content) if response.is_success else {}
        if not isinstance(payload, dict):
            raise self._http.fault(f"answers with something that is no JSON: {shortened(response.text)}")
        data = payload.get("data")
        cards = [card for card in data if isinstance(card, dict)] if isinstance(data, list) else []
        ids = tuple(str(card["id"]) for card in cards if "id" in card)
        owner = next((str(card["owned_by"]) for card in cards if card.get("owned_by")), None)
        server = _OWNERS.get(owner or "") or response.headers.get("server") or owner
        return Models(ids, server or "OpenAI-compatible server")

    async def choose(self, found: Models, stated: str | None, described: str | None) -> str | None:
        """The model as stated, else the first; most servers have one and answer to any name."""
        return stated or next(iter(found.ids), None)

    async def memory(self, model: str | None, limit_s: float) -> Memory:
        """Whether the model is in memory, where the server says so: llama.cpp's own pages."""
        status = await self._status(model, limit_s)
        if status is not None:
            loaded = {"loaded": True, "unloaded": False, "sleeping": False}.get(status)
            return Memory(loaded, f"the server says that its model is {status} (/models)")
        page = await self._page(f"{self._base.removesuffix('/v1')}/props", limit_s)
        sleeps = page.get("is_sleeping")
        if not isinstance(sleeps, bool):
            return Memory(None, "the server does not say whether its model is in memory")
        if sleeps:
            return Memory(False, "the server says that its model sleeps (/props)")
        return Memory(True, "the server says that its model is loaded (/props)")

    async def _status(self, model: str | None, limit_s: float) -> str | None:
        """Of one of several models that a llama.cpp server loads in turn; None of any other server."""
        payload = await self._page(f"{self._base}/models", limit_s)
        data = payload.get("data")
        for card in data if isinstance(data, list) else ():
            if isinstance(card, dict) and card.get("id") == model and isinstance(card.get("status"), dict):
                return str(card["status"].get("value"))
        return None

    async def _page(self, url: str, limit_s: float) -> Mapping[str, object]:
        """What a page says; nothing where there is none, or where a busy server lets us wait."""
        try:
            response = await self._http.ask("GET", url, limit_s)
        except OperationError:
            return {}
        payload = parsed(response.content) if response.is_success else None
        return payload if isinstance(payload, dict) else {}

    async def generate(
        self, model: str | None, prompt: str, tokens: int, options: Mapping[str, object]
    ) -> Begun:
        """Ask and wait for the first token; the rest arrives in ``answer``."""
        payload = {**_chat_payload(model, prompt, tokens, options), "stream": True}
        if not self._counts_asked:
            return await self._chat(payload)
        try:
            return await self._chat({**payload, "stream_options": {"include_usage": True}})
        except BadRequestError:
            # Some servers know no stream_options. If it was something else, this says so again.
            begun = await self._chat(payload)
            self._counts_asked = False
            return begun

    async def embed(self, model: str | None, texts: Sequence[str], options: Mapping[str, object]) -> Embedded:
        """One vector for each of ``texts``."""
        payload = {**({"model": model} if model else {}), "input": list(texts), **options}
        trace = Trace(self._clock)
        start = self._clock()
        response = await self._http.post_json(f"{self._base}/embeddings", payload, trace)
        try:
            body = await self._http.read(response)
        finally:
            await response.aclose()
        elapsed = self._clock() - start
        self._http.refuse_status(response, body)
        vectors, used = self._vectors(parsed(body), len(texts))
        return Embedded(start, elapsed, trace.setup_ns, trace.first_byte_ns(start), vectors, used)

    async def _chat(self, payload: Mapping[str, object]) -> Begun:
        trace = Trace(self._clock)
        start = self._clock()
        response = await self._http.post_json(f"{self._base}/chat/completions", payload, trace)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(response.aclose)
            if not response.is_success:
                self._http.refuse_status(response, await self._http.read(response))
            chunks = self._chunks(response)
            stack.push_async_callback(chunks.aclose)
            first = await first_token(chunks)
            elapsed = self._clock() - start
            answer = Answer(first, chunks, stack.pop_all().aclose)
        return Begun(start, elapsed, trace.setup_ns, trace.first_byte_ns(start), answer)

    async def _chunks(self, response: httpx.Response) -> AsyncGenerator[Chunk, None]:
        finished = False
        try:
            async with aclosing(lines(response)) as arriving:
                async for line in arriving:
                    chunk = read_line(line)
                    if chunk is None:
                        continue
                    finished = finished or chunk.finished
                    yield chunk
                    if chunk.last:
                        await read_tail(arriving)
                        return
        except StreamError as fault:
            raise self._http.fault(f"fails within its answer: {fault}") from fault
        except httpx.HTTPError as error:
            raise self._http.lost(error) from error
        if not finished:
            raise self._http.fault("ended its answer in the middle")

    def _vectors(self, payload: object, count: int) -> tuple[tuple[tuple[float, ...], ...], int]:
        if not isinstance(payload, dict) or not isinstance(payload.get("data"), list):
            said = message_in(payload)
            raise self._http.fault(f"fails to embed: {said}" if said else "gave no list of vectors")
        try:
            cards = sorted(payload["data"], key=lambda card: int(card.get("index", 0)))
            vectors = tuple(tuple(map(float, card["embedding"])) for card in cards)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise self._http.fault("gave vectors in a form that is not known") from error
        if len(vectors) != count:
            raise self._http.fault(f"gave {len(vectors)} vectors for {count} texts")
        usage = payload.get("usage")
        tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        return vectors, tokens if isinstance(tokens, int) else -1


async def first_token(chunks: AsyncGenerator[Chunk, None]) -> Chunk | None:
    """The first chunk that carries text, or None if the answer ends without one."""
    async for chunk in chunks:
        if chunk.text:
            return chunk
    return None


def _chat_payload(
    model: str | None, prompt: str, tokens: int, options: Mapping[str, object]
) -> dict[str, object]:
    """The request that asks ``prompt``; ``options`` go before what is said here."""
    messages = [{"role": "user", "content": prompt}]
    return {**({"model": model} if model else {}), "messages": messages, "max_tokens": tokens, **options}
