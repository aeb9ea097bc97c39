"""Why a model is loaded again: another model at the same server, or other options in between.

Only where it coincides: loads that come when the server last worked for the other place, and not else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.frequency.rereading import Ending, Rereading, loads
from pathtrace.model.scenario import InferenceSpec

_MOST = 0.8
"""Share of the changes at which it was loaded, from which on the change is taken for the reason."""


@dataclass(frozen=True, slots=True)
class Reason:
    """``text`` says what coincides; ``remedy`` what would end it."""

    text: str
    remedy: str


@dataclass(frozen=True, slots=True)
class _Turns:
    changes: int
    loads_at_changes: int
    others: int
    """Times that the same place asked again."""
    loads_at_others: int


def reason(
    evidence: Evidence, model: str, reading: Rereading, asked: Sequence[Ending], weights: int
) -> Reason | None:
    """What the loads of ``model`` coincide with; None if with nothing that is known."""
    for other in evidence.sharing(model):
        ours, theirs = evidence.place(model).spec, evidence.place(other).spec
        if not isinstance(ours, InferenceSpec) or not isinstance(theirs, InferenceSpec):
            continue
        turns = _turns(evidence, model, other, reading, asked, weights)
        if not _coincides(turns):
            continue
        when = _when(turns, other)
        if ours.model != theirs.model:
            return Reason(
                f"{other} ({theirs.model}) and {model} ({ours.model}) evict each other: {when}",
                f"let the server hold both models of {other} and {model} at once",
            )
        if options := list(_pairs(dict(ours.options), dict(theirs.options))):
            texts = ", ".join(f"{key} is {a} at {model} and {b} at {other}" for key, a, b in options)
            keys = ", ".join(f"`{key}`" for key, _, _ in options)
            return Reason(
                f"it coincides with a changed option ({texts}): {when}",
                f"use the same {keys} at {other} and {model}",
            )
    return None


def _turns(
    evidence: Evidence, model: str, other: str, reading: Rereading, asked: Sequence[Ending], weights: int
) -> _Turns:
    events: list[tuple[int, str, bool]] = []
    for ending in asked:
        events += [
            (start, model, took is not None)
            for start, took in loads(evidence, reading.counter, ending, weights)
        ]
        if other in ending.at_work:
            events += [(start, other, False) for start in ending.at_work[other][0].tolist()]
    events.sort()
    changed = [
        (before[1] != place, loaded) for before, (_, place, loaded) in pairwise(events) if place == model
    ]
    at_changes = [loaded for change, loaded in changed if change]
    else_ = [loaded for change, loaded in changed if not change]
    return _Turns(len(at_changes), sum(at_changes), len(else_), sum(else_))


def _coincides(turns: _Turns) -> bool:
    often = turns.changes > 1 and turns.loads_at_changes >= _MOST * turns.changes
    return often and turns.loads_at_others <= (1 - _MOST) * turns.others


def _when(turns: _Turns, other: str) -> str:
    text = f"loaded at {turns.loads_at_changes} of {turns.changes} requests that came after one of {other}"
    if not turns.others:
        return text
    return f"{text}, and at {turns.loads_at_others} of {turns.others} that did not"


def _pairs(ours: Mapping[str, object], theirs: Mapping[str, object]) -> Iterator[tuple[str, object, object]]:
    """Options that are not the same, one level of nesting deep."""
    for key in sorted({*ours, *theirs}):
        a, b = ours.get(key), theirs.get(key)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            yield from _pairs(a, b)
        elif a != b:
            yield key, "not set" if a is None else a, "not set" if b is None else b
