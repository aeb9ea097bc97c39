"""What each place of a flow does, and how its work is booked on hops (Semantics of the README).

Pure rules over kinds and positions; a flow that breaks them is told in ``checks``.
"""

from __future__ import annotations

from collections.abc import Sequence

from pathtrace.model.scenario import Action, Frequency, FrequencyKind, Hop, Phase, PlaceKind, Stage

_WAITING = (Action.EMBED, Action.GENERATE)
"""Work that holds data up without moving it on."""
ORDER = {
    FrequencyKind.ONCE: 0,
    FrequencyKind.PER_LOAD: 1,
    FrequencyKind.PER_DOCUMENT: 2,
    FrequencyKind.EVERY: 2,
    FrequencyKind.PER_REQUEST: 3,
}
"""Flows run in this order in a repeat, and in file order among equals."""


def action_of(kind: PlaceKind, task: str, position: int, length: int) -> Action:
    """The work of a place of ``kind`` at ``position`` (from 0) of a path of ``length`` places."""
    last = position == length - 1
    match kind:
        case PlaceKind.FILES:
            return Action.WRITE if last else Action.READ
        case PlaceKind.PROCESS:
            return Action.PROCESS
        case PlaceKind.DATABASE:
            return Action.INSERT if last else Action.LOOKUP
        case PlaceKind.INFERENCE:
            return Action.LOAD if last else Action(task)
        case PlaceKind.USER:
            return Action.DELIVER


def stages_of(places: Sequence[tuple[str, Action]]) -> tuple[Stage, ...]:
    """One stage for each place, booked on the hop that leaves it; the last on the one that enters it."""
    last_hop = len(places) - 2
    return tuple(
        Stage(index, place, action, min(index, last_hop)) for index, (place, action) in enumerate(places)
    )


def hops_of(stages: Sequence[Stage], kinds: Sequence[PlaceKind]) -> tuple[Hop, ...]:
    """The hops between neighbours; ``kinds`` are those of the stages' places."""
    return tuple(_hop(index, stages, kinds) for index in range(len(stages) - 1))


def _hop(index: int, stages: Sequence[Stage], kinds: Sequence[PlaceKind]) -> Hop:
    source, destination = stages[index].place, stages[index + 1].place
    booked = tuple(stage.index for stage in stages if stage.hop == index)
    moving = [number for number in booked if stages[number].action not in _WAITING]
    return Hop(
        name=f"{source}->{destination}",
        source=source,
        destination=destination,
        phase=phase_of(kinds[index], kinds[index + 1]),
        stages=booked,
        main_stage=(moving or list(booked))[0],
    )


def phase_of(source: PlaceKind, destination: PlaceKind) -> Phase:
    """What a hop between two kinds of place is for."""
    if destination is PlaceKind.USER:
        return Phase.DELIVER
    if source is PlaceKind.FILES:
        return Phase.LOAD if destination is PlaceKind.INFERENCE else Phase.INGEST
    return Phase.PROCESS


def derived_frequency(kinds: Sequence[PlaceKind]) -> Frequency:
    """How often a path is probably used, from its shape: what asks, what loads, what takes documents in."""
    if kinds[-1] is PlaceKind.USER:
        kind = FrequencyKind.PER_REQUEST
    elif kinds[0] is PlaceKind.FILES and kinds[-1] is PlaceKind.INFERENCE:
        kind = FrequencyKind.PER_LOAD
    else:
        kind = FrequencyKind.PER_DOCUMENT
    return Frequency(kind, None, True, kind.value)
