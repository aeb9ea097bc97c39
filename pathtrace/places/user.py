"""The ``user`` place: people who read the answer as it arrives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.run import Mount
from pathtrace.model.scenario import Action, Place, Start
from pathtrace.model.work import Clock, Done, Item, LayerState, PlaceFacts
from pathtrace.places.answer import Answer


class User:
    """Takes an answer to its last token; what came whole (rows found) is delivered at once."""

    def __init__(self, place: Place, clock: Clock, seed: int) -> None:
        self._place = place
        self._clock = clock

    @property
    def mount(self) -> Mount | None:
        return None

    @property
    def scratch_folder(self) -> Path | None:
        return None

    @property
    def server_pid(self) -> int | None:
        return None

    @property
    def identity(self) -> str | None:
        return None

    def concurrency(self, action: Action) -> int:
        return self._place.workers

    def batch(self, action: Action) -> int:
        return 0

    async def check(self) -> PlaceFacts:
        return PlaceFacts(summary="people; nothing to reach")

    async def open(self, scratch: Path) -> PlaceFacts:
        return await self.check()

    async def begin(self, start: Start, actions: frozenset[Action]) -> tuple[LayerState, ...]:
        return ()

    async def supply(self, action: Action) -> Sequence[Item]:
        raise PlaceError(f"{self._place.name}: people are the last place of a path, never the first")

    async def draw(self, items: Sequence[Item]) -> Sequence[Done]:
        raise OperationError(f"{self._place.name}: people hold nothing to read")

    async def perform(self, action: Action, items: Sequence[Item]) -> Done:
        (item,) = items
        if item.answer is not None:
            return await self._drain(item.answer)
        start = self._clock()
        size = sum(len(text.encode()) for text in item.texts[1:])
        return Done(start, self._clock() - start, size, first_byte_ns=0)

    async def finish(self, action: Action) -> Done | None:
        return None

    async def fingerprint(self) -> str | None:
        return None

    async def close(self) -> None:
        return None

    async def _drain(self, answer: AsyncIterator[str]) -> Done:
        """To the last token: nobody waits for what comes after it (counts, the end of the stream)."""
        pieces = []
        last = start = self._clock()
        try:
            async for piece in answer:
                last = self._clock()
                pieces.append(piece)
        finally:
            if isinstance(answer, Answer):
                await answer.aclose()
        counted = answer.tokens if isinstance(answer, Answer) else None
        size = sum(len(piece.encode()) for piece in pieces)
        tokens = len(pieces) if counted is None else counted
        load_ns = answer.load_ns if isinstance(answer, Answer) else -1
        return Done(start, last - start, size, first_byte_ns=0, tokens=tokens, load_ns=load_ns)
