"""What an ``inference`` place asks of any model server, whatever protocol it speaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from pathtrace.places.answer import Answer

LOAD_MODEL = "load-model"
"""What a scenario allows so that a request may make a server load its model."""


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
    load_ns: int = -1


@dataclass(frozen=True, slots=True)
class Models:
    """What the server has and what it is. ``ids`` is empty where it gives no list."""

    ids: tuple[str, ...]
    server: str


class Memory(NamedTuple):
    """Whether a model can answer without being loaded first; None: the server does not say."""

    loaded: bool | None
    evidence: str


class ModelServer(Protocol):
    """One server. Every fault of a method is an ``OperationError`` in words for a person."""

    async def close(self) -> None:
        """Close all connections."""
        ...

    async def models(self, limit_s: float) -> Models:
        """The models on offer; the cheapest question that shows that the server is there."""
        ...

    async def choose(self, found: Models, stated: str | None, described: str | None) -> str | None:
        """The model to ask, by its name here: ``stated`` for the place, or ``described`` by the workload."""
        ...

    async def memory(self, model: str | None, limit_s: float) -> Memory:
        """Whether ``model`` is in memory as requests want it. Loads nothing."""
        ...

    async def generate(
        self, model: str | None, prompt: str, tokens: int, options: Mapping[str, object]
    ) -> Begun:
        """Ask and wait for the first token; at most ``tokens`` are to come."""
        ...

    async def embed(self, model: str | None, texts: Sequence[str], options: Mapping[str, object]) -> Embedded:
        """One vector for each of ``texts``."""
        ...
