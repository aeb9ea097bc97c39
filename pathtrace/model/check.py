"""What ``check`` found out without changing anything: what is there, what a run would need.

Bytes and seconds. Absent knowledge is ``None``, never 0. Nothing here has been measured: rates that
an estimate rests on are named in its ``basis``.
"""

from __future__ import annotations

from dataclasses import dataclass

from pathtrace.model.network import PathFacts, Route
from pathtrace.model.report import Caveat
from pathtrace.model.scenario import Scenario
from pathtrace.model.work import PlaceFacts


@dataclass(frozen=True, slots=True)
class PlaceCheck:
    """One place as it was reached; exactly one of ``facts`` and ``fault`` is set."""

    name: str
    kind: str
    host: str
    facts: PlaceFacts | None
    fault: str | None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """What one model on a host needs for one thing. ``high_bytes`` None: there is no saying how much."""

    name: str
    """``weights``, ``cache`` (of attention: keys and values) or ``runtime``."""
    place: str
    """The model's place."""
    low_bytes: int | None
    high_bytes: int | None
    basis: str
    """What the figure rests on."""


@dataclass(frozen=True, slots=True)
class MemoryCheck:
    """Memory that a host's models need against what it has. Never more than one host's memory."""

    host: str
    needed_bytes: int | None
    """At least: the sum of what is known; None if nothing is needed or known."""
    available_bytes: int | None
    total_bytes: int | None
    high_bytes: int | None = None
    """At most; None if a part is not known."""
    gpu_bytes: int | None = None
    """``gpu_memory`` as declared."""
    parts: tuple[MemoryPart, ...] = ()


@dataclass(frozen=True, slots=True)
class RoomCheck:
    """Room on a disk that scratch data and the stored run need against what is free."""

    subject: str
    """``scratch``, ``store`` or a place."""
    path: str
    needed_bytes: int | None
    free_bytes: int | None
    high_bytes: int | None = None
    """At most, where ``needed_bytes`` is the least."""
    basis: str | None = None
    """What the figure rests on, where it is not simply counted."""


@dataclass(frozen=True, slots=True)
class TimeEstimate:
    """How long a run may take. ``low_s``/``high_s`` are None together; ``basis`` says why, or from what."""

    low_s: float | None
    high_s: float | None
    basis: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """``read_bytes`` and ``write_bytes`` are per repeat, over all places; None if any is unknown."""

    scenario: Scenario
    places: tuple[PlaceCheck, ...]
    memory: tuple[MemoryCheck, ...]
    room: tuple[RoomCheck, ...]
    read_bytes: int | None
    write_bytes: int | None
    estimate: TimeEstimate
    caveats: tuple[Caveat, ...]
    routes: tuple[Route, ...] = ()
    paths: tuple[PathFacts, ...] = ()
    """The ways to other hosts that places are on."""

    @property
    def usable(self) -> bool:
        """True if every place was reached."""
        return all(place.fault is None for place in self.places)
