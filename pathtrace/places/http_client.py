"""Speaks HTTP with one server of the user's: requests, their times, and each way they can fail.

Every fault is an ``OperationError`` in words for a person, without the key and without a password of the
URL. What is asked and what an answer means is left to ``openai``, ``ollama`` and ``service``.
"""

from __future__ import annotations

import asyncio
import base64
import os
import socket
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import suppress
from urllib.parse import unquote, urlsplit

import httpx

from pathtrace.errors import OperationError
from pathtrace.model.work import Clock
from pathtrace.places.sse import StreamError, message_in, parsed, shortened
from pathtrace.redaction import Scrubber

_IDLE_S = 2.0
"""Idle connections are given up before servers do (5 s is usual), who would cut off a request."""
_TAIL_S = 0.25
_LINE_BYTES = 16 * 1024 * 1024
BODY_BYTES = 64 * 1024 * 1024
"""A longer answer is taken for a server gone wild."""


class BadRequestError(OperationError):
    """Status 400."""


class Trace:
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


class HttpClient:
    """One server with the connections to it. ``name`` is the place's, for messages."""

    def __init__(self, name: str, url: str, key: str | None = None) -> None:
        self._name = name
        self._scrub = Scrubber(_secrets(url, key))
        self._shown = self._scrub(url.rstrip("/"))
        self._client = httpx.AsyncClient(
            auth=_Bearer(key) if key else None,  # goes before a password in the URL
            timeout=None,  # the engine limits every operation
            limits=httpx.Limits(keepalive_expiry=_IDLE_S),
            trust_env=False,
        )

    @property
    def open_connections(self) -> int:
        """How many there are, in use or kept for the next request."""
        pool = getattr(self._client._transport, "_pool", None)
        return len(getattr(pool, "connections", ()))

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def ask(self, method: str, url: str, limit_s: float) -> httpx.Response:
        """A short question with its whole answer, whatever its status."""
        try:
            async with asyncio.timeout(limit_s):  # httpx's own limit begins anew with every piece
                return await self._client.request(method, url)
        except TimeoutError as error:
            raise self.fault("does not answer in time") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self.fault(_told(error)) from error

    async def post_json(self, url: str, payload: Mapping[str, object], trace: Trace) -> httpx.Response:
        """The answer's head has arrived; its body is to be read, and the response closed."""
        try:
            request = self._client.build_request("POST", url, json=payload, extensions={"trace": trace.event})
            return await self._send(request, trace)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self.fault(_told(error)) from error

    async def post_bytes(
        self, url: str, body: bytes, headers: Mapping[str, str], trace: Trace
    ) -> httpx.Response:
        """The answer's head has arrived; its body is to be read, and the response closed."""
        try:
            request = self._client.build_request(
                "POST", url, content=body, headers=dict(headers), extensions={"trace": trace.event}
            )
            return await self._send(request, trace)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self.fault(_told(error)) from error

    async def read(self, response: httpx.Response) -> bytes:
        """The whole body, of a bounded length."""
        pieces, size = [], 0
        try:
            async for piece in response.aiter_bytes():
                pieces.append(piece)
                size += len(piece)
                if size > BODY_BYTES:
                    raise self.fault(f"answers with more than {BODY_BYTES:,} bytes")
        except httpx.HTTPError as error:
            raise self.fault(_told(error)) from error
        return b"".join(pieces)

    def lost(self, error: httpx.HTTPError) -> OperationError:
        """What went wrong while an answer was being read."""
        return self.fault(_told(error))

    def refuse_status(self, response: httpx.Response, body: bytes) -> None:
        """Raise unless the server did what was asked; ``body`` is its answer."""
        if response.is_success:
            return
        text = shortened(body.decode("utf-8", "replace"))
        said = message_in(parsed(body)) or text or "no reason given"
        if response.has_redirect_location:
            said = f"it points to {response.headers['location']}, which is not followed"
        kind = BadRequestError if response.status_code == 400 else OperationError
        raise kind(self._scrub(f"{self._name}: {self._shown} answers {response.status_code}: {said}"))

    def fault(self, what: str) -> OperationError:
        """An error that says which server did ``what``."""
        return OperationError(self._scrub(f"{self._name}: {self._shown} {what}"))

    async def _send(self, request: httpx.Request, trace: Trace) -> httpx.Response:
        """Send; again if a connection kept from before turns out to have been closed by the server.

        Servers may close one at any time (llama.cpp does after each stream); each try uses one up.
        """
        while True:
            try:
                return await self._client.send(request, stream=True)
            except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                if trace.connected or trace.answered:
                    raise


class _Bearer(httpx.Auth):
    """Shows the key with every request."""

    def __init__(self, key: str) -> None:
        self._key = key

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._key}"
        yield request


def _secrets(url: str, key: str | None) -> tuple[str, ...]:
    """The key, and a password of the URL also in the form in which the header carries it."""
    parts = urlsplit(url)
    secrets = [key] if key else []
    if parts.password is not None:
        password = unquote(parts.password)
        pair = f"{unquote(parts.username or '')}:{password}"
        secrets += [password, base64.b64encode(pair.encode()).decode()]
    return tuple(secrets)


async def lines(response: httpx.Response) -> AsyncGenerator[str, None]:
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


async def read_tail(rest: AsyncGenerator[str, None]) -> None:
    """Read to the end of the body, so that the connection can be used again."""
    with suppress(TimeoutError, httpx.HTTPError, StreamError):
        async with asyncio.timeout(_TAIL_S):
            async for _ in rest:
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
