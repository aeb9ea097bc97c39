"""Speaks with one OpenAI-compatible server: models, streamed chat, embeddings, and each way it can fail.

Every fault is an ``OperationError`` in words for a person. What is asked and what the answers are for
is left to ``inference``. The key goes into the Authorization header and nowhere else.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass
from typing import NamedTuple

import httpx

from pathtrace.errors import OperationError
from pathtrace.model.work import Clock
from pathtrace.places.answer import Answer
from pathtrace.places.sse import Chunk, StreamError, message_in, parsed, read_line, shortened
from pathtrace.redaction import Scrubber

_IDLE_S = 2.0
"""Idle connections are given up before servers do (5 s is usual), who would cut off a request."""
_TAIL_S = 0.25
_LINE_BYTES = 16 * 1024 * 1024


class Begun(NamedTuple):
    """A streamed answer whose first token has arrived."""

    start_ns: int
    elapsed_ns: int
    setup_ns: int
    first_byte_ns: int
    answer: Answer


class Embedded(NamedTuple):
    """One vector for each text."""

    start_ns: int
    elapsed_ns: int
    setup_ns: int
    first_byte_ns: int
    vectors: tuple[tuple[float, ...], ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Models:
    """What the server says that it is and has. ``ids`` is empty where it gives no list."""

    ids: tuple[str, ...]
    owner: str | None
    server: str | None


class OpenAi:
    """One client with its connections. ``name`` is the place's, for messages."""

    def __init__(self, name: str, url: str, api_key: str | None, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._scrub = Scrubber((api_key,) if api_key else ())
        root = url.rstrip("/")
        self._shown = self._scrub(root)
        self._base = root if root.endswith("/v1") else f"{root}/v1"
        self._counts_asked = True
        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {api_key}"} if api_key else None,
            timeout=None,  # the engine limits every operation
            limits=httpx.Limits(keepalive_expiry=_IDLE_S),
            trust_env=False,
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def models(self, limit_s: float) -> Models:
        """The models on offer; the cheapest question that shows that the server is there."""
        response = await self._get(f"{self._base}/models", limit_s)
        if response.status_code not in (404, 405, 501):
            self._refuse_status(response)
        payload = parsed(response.content) if response.is_success else {}
        if not isinstance(payload, dict):
            raise self._fault(f"answers with something that is no JSON: {shortened(response.text)}")
        data = payload.get("data")
        cards = [card for card in data if isinstance(card, dict)] if isinstance(data, list) else []
        ids = tuple(str(card["id"]) for card in cards if "id" in card)
        owner = next((str(card["owned_by"]) for card in cards if card.get("owned_by")), None)
        return Models(ids, owner, response.headers.get("server"))

    async def properties(self, limit_s: float) -> Mapping[str, object]:
        """llama.cpp's own description of itself; empty for every other server."""
        try:
            response = await self._get(f"{self._base.removesuffix('/v1')}/props", limit_s)
        except OperationError:
            return {}
        payload = parsed(response.content) if response.is_success else None
        return payload if isinstance(payload, dict) else {}

    async def chat(self, payload: Mapping[str, object]) -> Begun:
        """Ask and wait for the first token; the rest arrives in ``answer``."""
        if not self._counts_asked:
            return await self._chat({**payload, "stream": True})
        counted = {**payload, "stream": True, "stream_options": {"include_usage": True}}
        try:
            return await self._chat(counted)
        except _BadRequestError:
            # Some servers know no stream_options. If it was something else, this says so again.
            begun = await self._chat({**payload, "stream": True})
            self._counts_asked = False
            return begun

    async def embed(self, payload: Mapping[str, object], count: int) -> Embedded:
        """The vectors of ``payload``'s ``input``, which holds ``count`` texts."""
        trace = _Trace(self._clock)
        start = self._clock()
        response = await self._post("embeddings", payload, trace)
        try:
            body = await self._read(response)
        finally:
            await response.aclose()
        elapsed = self._clock() - start
        self._refuse_status(response)
        vectors, tokens = self._vectors(parsed(body), count)
        return Embedded(start, elapsed, trace.setup_ns, trace.first_byte_ns(start), vectors, tokens)

    async def _chat(self, payload: Mapping[str, object]) -> Begun:
        trace = _Trace(self._clock)
        start = self._clock()
        response = await self._post("chat/completions", payload, trace)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(response.aclose)
            if response.is_error:
                await self._read(response)
            self._refuse_status(response)
            chunks = self._chunks(response)
            stack.push_async_callback(chunks.aclose)
            first = await _first_token(chunks)
            elapsed = self._clock() - start
            answer = Answer(first, chunks, stack.pop_all().aclose)
        return Begun(start, elapsed, trace.setup_ns, trace.first_byte_ns(start), answer)

    async def _chunks(self, response: httpx.Response) -> AsyncGenerator[Chunk, None]:
        finished = False
        try:
            async with aclosing(_lines(response)) as lines:
                async for line in lines:
                    chunk = read_line(line)
                    if chunk is None:
                        continue
                    finished = finished or chunk.finished
                    yield chunk
                    if chunk.last:
                        await _read_tail(lines)
                        return
        except StreamError as fault:
            raise self._fault(f"fails within its answer: {fault}") from fault
        except httpx.HTTPError as error:
            raise self._fault(_told(error)) from error
        if not finished:
            raise self._fault("ended its answer in the middle")

    async def _get(self, url: str, limit_s: float) -> httpx.Response:
        try:
            return await self._client.get(url, timeout=limit_s)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._fault(_told(error)) from error

    async def _post(self, path: str, payload: Mapping[str, object], trace: _Trace) -> httpx.Response:
        try:
            request = self._client.build_request(
                "POST", f"{self._base}/{path}", json=payload, extensions={"trace": trace.event}
            )
            return await self._send(request, trace)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._fault(_told(error)) from error

    async def _send(self, request: httpx.Request, trace: _Trace) -> httpx.Response:
        """Send; again if a connection kept from before turns out to have been closed by the server.

        Servers may close one at any time (llama.cpp does after each stream); each try uses one up.
        """
        while True:
            try:
                return await self._client.send(request, stream=True)
            except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                if trace.connected or trace.answered:
                    raise

    async def _read(self, response: httpx.Response) -> bytes:
        try:
            return await response.aread()
        except httpx.HTTPError as error:
            raise self._fault(_told(error)) from error

    def _refuse_status(self, response: httpx.Response) -> None:
        if response.is_success:
            return
        said = message_in(parsed(response.content)) or shortened(response.text) or "no reason given"
        kind = _BadRequestError if response.status_code == 400 else OperationError
        raise kind(self._scrub(f"{self._name}: {self._shown} answers {response.status_code}: {said}"))

    def _vectors(self, payload: object, count: int) -> tuple[tuple[tuple[float, ...], ...], int]:
        if not isinstance(payload, dict) or not isinstance(payload.get("data"), list):
            said = message_in(payload)
            raise self._fault(f"fails to embed: {said}" if said else "gave no list of vectors")
        try:
            cards = sorted(payload["data"], key=lambda card: int(card.get("index", 0)))
            vectors = tuple(tuple(map(float, card["embedding"])) for card in cards)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise self._fault("gave vectors in a form that is not known") from error
        if len(vectors) != count:
            raise self._fault(f"gave {len(vectors)} vectors for {count} texts")
        usage = payload.get("usage")
        tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        return vectors, tokens if isinstance(tokens, int) else -1

    def _fault(self, what: str) -> OperationError:
        return OperationError(self._scrub(f"{self._name}: {self._shown} {what}"))


class _BadRequestError(OperationError):
    """Status 400."""


class _Trace:
    """Notes when the connection was made and when the answer's head arrived."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._connecting = -1
        self._headers = -1
        self.setup_ns = 0

    @property
    def connected(self) -> bool:
        """True if a connection was made for this request."""
        return self._connecting >= 0

    @property
    def answered(self) -> bool:
        return self._headers >= 0

    async def event(self, name: str, info: Mapping[str, object]) -> None:
        """Called by the transport."""
        if name == "connection.connect_tcp.started":
            self._connecting = self._clock()
        elif name in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self.setup_ns = self._clock() - self._connecting
        elif name == "http11.receive_response_headers.complete":
            self._headers = self._clock()

    def first_byte_ns(self, start_ns: int) -> int:
        """From the operation's start; -1 if nothing came."""
        return self._headers - start_ns if self._headers >= 0 else -1


async def _first_token(chunks: AsyncGenerator[Chunk, None]) -> Chunk | None:
    async for chunk in chunks:
        if chunk.text:
            return chunk
    return None


async def _lines(response: httpx.Response) -> AsyncGenerator[str, None]:
    """Lines by line feed only: httpx's own also break at separators that JSON allows within a string."""
    held = b""
    async for piece in response.aiter_bytes():
        *whole, held = (held + piece).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace")
        if len(held) > _LINE_BYTES:
            raise StreamError("a line without end")
    if held:
        yield held.decode("utf-8", "replace")


async def _read_tail(lines: AsyncGenerator[str, None]) -> None:
    """Read to the end of the body, so that the connection can be used again."""
    with suppress(TimeoutError, httpx.HTTPError, StreamError):
        async with asyncio.timeout(_TAIL_S):
            async for _ in lines:
                pass


def _told(error: httpx.HTTPError | httpx.InvalidURL) -> str:
    match error:
        case httpx.ConnectError():
            return f"cannot be reached: {_root(error)}"
        case httpx.TimeoutException():
            return "does not answer in time"
        case httpx.RemoteProtocolError() | httpx.ReadError() | httpx.WriteError():
            return f"broke off the connection: {error or type(error).__name__}"
        case _:
            return f"cannot be used: {error or type(error).__name__}"


def _root(error: BaseException) -> str:
    """What the system said at the bottom of a chain of errors."""
    seen: BaseException | None = error
    said = str(error)
    while seen is not None:
        if isinstance(seen, BaseExceptionGroup):
            seen = seen.exceptions[0]
            continue
        if isinstance(seen, socket.gaierror):
            said = "its name is not known"
        elif isinstance(seen, OSError) and seen.errno:
            said = os.strerror(seen.errno).lower()
        seen = seen.__cause__ or seen.__context__
    return said


def texts_payload(
    model: str | None, texts: Sequence[str], options: Mapping[str, object]
) -> dict[str, object]:
    """The request that embeds ``texts``."""
    return {**({"model": model} if model else {}), "input": list(texts), **options}


def chat_payload(
    model: str | None, prompt: str, tokens: int, options: Mapping[str, object]
) -> dict[str, object]:
    """The request that asks ``prompt``; ``options`` go before what is said here."""
    messages = [{"role": "user", "content": prompt}]
    return {**({"model": model} if model else {}), "messages": messages, "max_tokens": tokens, **options}
