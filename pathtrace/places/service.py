"""A ``process`` place behind a URL: a service that is sent each document and answers with its pieces.

The document goes as the body of a POST, ``application/octet-stream``, its name percent-encoded in the header
``X-Document-Name``; the answer is one JSON array of strings. What goes wrong on the way is ``http_client``'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.run import Mount
from pathtrace.model.scenario import Action, Place, ProcessSpec, Start
from pathtrace.model.work import Clock, Done, Item, LayerState, PlaceFacts
from pathtrace.places.documents import document_bytes, in_pieces, size_of, storable
from pathtrace.places.http_client import HttpClient, Trace
from pathtrace.places.server_process import server_pid
from pathtrace.places.sse import message_in, parsed, shortened

NAME_HEADER = "X-Document-Name"
_CHECK_S = 5.0


class Service:
    """Turns documents into pieces of text, one document a request."""

    def __init__(self, place: Place, clock: Clock, seed: int) -> None:
        assert isinstance(place.spec, ProcessSpec)
        assert place.spec.url is not None
        self._place = place
        self._url = place.spec.url
        self._clock = clock
        self._http = HttpClient(place.name, self._url)
        self._identity: str | None = None
        self._pid: int | None = None

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

    def concurrency(self, action: Action) -> int:
        return self._place.workers

    def batch(self, action: Action) -> int:
        return 0

    async def check(self) -> PlaceFacts:
        server, warnings = await self._reach()
        return PlaceFacts(summary=f"{server}, answers (no document was sent)", warnings=warnings)

    async def open(self, scratch: Path) -> PlaceFacts:
        facts = await self.check()
        self._identity = facts.summary.partition(",")[0]
        self._pid = await asyncio.to_thread(server_pid, self._url)
        return facts

    async def begin(self, start: Start, actions: frozenset[Action]) -> tuple[LayerState, ...]:
        return ()

    async def supply(self, action: Action) -> Sequence[Item]:
        raise PlaceError(f"{self._place.name}: a process cannot be the first place of a path")

    async def draw(self, items: Sequence[Item]) -> Sequence[Done]:
        raise OperationError(f"{self._place.name}: a process holds nothing to read")

    async def perform(self, action: Action, items: Sequence[Item]) -> Done:
        (item,) = items
        headers = {"Content-Type": "application/octet-stream", NAME_HEADER: _as_header(item.name)}
        trace = Trace(self._clock)
        start = self._clock()
        response = await self._http.post_bytes(self._url, bytes(document_bytes(item)), headers, trace)
        try:
            body = await self._http.read(response)
        finally:
            await response.aclose()
        elapsed = self._clock() - start
        self._http.refuse_status(response, body)
        texts = self._texts(body)
        return Done(
            start_ns=start,
            elapsed_ns=elapsed,
            bytes=size_of(texts),
            items=(in_pieces(item, texts),),
            setup_ns=trace.setup_ns,
            first_byte_ns=trace.first_byte_ns(start),
        )

    async def finish(self, action: Action) -> Done | None:
        return None

    async def fingerprint(self) -> str | None:
        return None

    async def close(self) -> None:
        await self._http.close()

    async def _reach(self) -> tuple[str, tuple[str, ...]]:
        """Who answers, and what is odd about it. Any answer to HEAD shows that a server is there."""
        probe = HttpClient(self._place.name, self._url)
        try:
            response = await probe.ask("HEAD", self._url, min(_CHECK_S, self._place.timeout_s))
        except OperationError as error:
            raise PlaceError(error.message, hint="is the service running, and is `url` right?") from error
        finally:
            await probe.close()
        said = response.headers.get("server") or "HTTP service"
        if response.status_code in (401, 403, 404):
            return said, (
                f"answers {response.status_code} to a question without a document: is `url` right?",
            )
        return said, ()

    def _texts(self, body: bytes) -> tuple[str, ...]:
        found = parsed(body)
        if isinstance(found, list) and all(isinstance(text, str) for text in found):
            return tuple(storable(text) for text in found)
        if isinstance(found, dict) and "error" in found and (said := message_in(found)):
            raise self._http.fault(f"fails: {said}")
        shown = shortened(body[:1000].decode("utf-8", "replace")) or "nothing"
        raise self._http.fault(f"answers with something that is not a JSON array of strings: {shown}")


def _as_header(name: str) -> str:
    return quote(name, safe="/ ", errors="surrogateescape").strip()
