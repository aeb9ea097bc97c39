"""Room that an index will take on its disk, as a range, from the documents that fill it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pathtrace.model.scenario import Action, Flow, Place, PlaceKind, ProcessSpec, Scenario
from pathtrace.model.work import PlaceFacts
from pathtrace.units import format_bytes

TEXT_RATIO = (1.2, 2.5)
"""A table of pieces with SQLite's full-text index takes 1.7 times the text that it holds."""
VECTOR_RATIO = (1.5, 16.0)
"""Vectors of 384 to 4,096 numbers of 4 bytes, one for each 1,000 bytes of text."""


@dataclass(frozen=True, slots=True)
class IndexRoom:
    """``low_bytes`` None: there may be far less text than the documents have bytes (PDF, pictures)."""

    low_bytes: int | None
    high_bytes: int | None
    basis: str


def index_room(scenario: Scenario, facts: Mapping[str, PlaceFacts], database: str) -> IndexRoom | None:
    """Of all flows that fill ``database``; None if none does."""
    flows = [
        flow
        for flow in scenario.flows
        if flow.path[-1] == database and flow.stages[-1].action is Action.INSERT
    ]
    if not flows:
        return None
    rooms = [_of_flow(scenario, flow, facts) for flow in flows]
    lows = [room.low_bytes for room in rooms if room.low_bytes is not None]
    highs = [room.high_bytes for room in rooms if room.high_bytes is not None]
    return IndexRoom(
        sum(lows) if len(lows) == len(rooms) else None,
        sum(highs) if len(highs) == len(rooms) else None,
        "; ".join(dict.fromkeys(room.basis for room in rooms)),
    )


def _of_flow(scenario: Scenario, flow: Flow, facts: Mapping[str, PlaceFacts]) -> IndexRoom:
    source = facts.get(flow.path[0])
    if source is None or not source.read_bytes:
        return IndexRoom(None, None, f"how much {flow.path[0]} holds is not known")
    low, high = TEXT_RATIO
    vectors = any(stage.action is Action.EMBED for stage in flow.stages)
    if vectors:
        low, high = low + VECTOR_RATIO[0], high + VECTOR_RATIO[1]
    held = format_bytes(source.read_bytes)
    basis = f"an index of {held} of documents" + (" with vectors" if vectors else "")
    if any(_extracts(scenario.place(name)) for name in flow.path):
        return IndexRoom(None, round(source.read_bytes * high), f"{basis}, if all of it is text")
    return IndexRoom(round(source.read_bytes * low), round(source.read_bytes * high), basis)


def _extracts(place: Place) -> bool:
    """A command or a service may take little text out of much data; the stand-in takes all."""
    return place.kind is PlaceKind.PROCESS and isinstance(place.spec, ProcessSpec) and place.spec.run is None
