"""An answer that is still arriving: what ``inference`` hands on and ``user`` drains.

Knows chunks and their end; where they come from and how faults are told is its maker's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from pathtrace.places.sse import Chunk


class Answer(AsyncIterator[str]):
    """Pieces of text, the first of which has arrived already. To be closed, drained or not."""

    def __init__(
        self, first: Chunk | None, rest: AsyncIterator[Chunk], end: Callable[[], Awaitable[None]]
    ) -> None:
        self._first = first
        self._rest = rest
        self._end = end
        self.ended = False
        self.tokens: int | None = None
        """Tokens generated, once the server has said so at the end."""
        self.timings: dict[str, float] = {}
        """The server's own times, once it has said so at the end (llama.cpp, Ollama)."""
        self.load_ns = -1
        """How long it loaded its model for this, once it has said so at the end; 0: it was in memory."""

    def __aiter__(self) -> Answer:
        return self

    async def __anext__(self) -> str:
        if self._first is not None:
            chunk, self._first = self._first, None
            if text := self._noted(chunk):
                return text
        async for chunk in self._rest:
            if text := self._noted(chunk):
                return text
        await self.aclose()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Give up what has not arrived; the connection is closed or free for the next request."""
        self.ended = True
        await self._end()

    def _noted(self, chunk: Chunk) -> str:
        if chunk.tokens is not None:
            self.tokens = chunk.tokens
        self.timings |= chunk.timings
        self.load_ns = max(self.load_ns, chunk.load_ns)
        return chunk.text
