"""What was not as before in a night's surroundings, and which of it a change most likely comes from.

Knows names and values as people read them (``link lan``, ``kernel of nas``), and that what is nearer to a
hop's resource is the likelier cause. That it *is* the cause nobody knows from this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pathtrace.model.history import EnvironmentMark, HistoryEntry

NEAR_STEP, NEAR_CREEP = 3, 7
"""Nights between a mark and the beginning of a change that it is named for."""

_KINDS: Mapping[str, tuple[str, ...]] = {
    "link": ("link", "interface", "way", "packet", "congestion", "address"),
    "loss": ("link", "interface", "way", "congestion"),
    "mtu": ("packet", "link", "interface"),
    "round-trips": ("way", "link", "options", "server"),
    "disk": ("mount", "whereabouts", "options"),
    "commit": ("mount", "server", "options"),
    "database": ("server", "version"),
    "server": ("server", "servers", "mount", "options"),
    "cpu": ("processor", "cores", "kernel"),
    "memory": ("memory",),
    "gpu": ("GPUs",),
    "model": ("GPUs", "server", "memory"),
    "tracer": ("pathtrace", "Python", "processor", "cores"),
}
"""Words of what changed that belong to a kind of resource."""


def marks(entries: Sequence[HistoryEntry]) -> tuple[EnvironmentMark, ...]:
    """Every value that another run had before, oldest first.

    A night that could not see something changes nothing: the last known value is held against the next.
    """
    known: dict[str, str] = {}
    found: list[EnvironmentMark] = []
    for entry in sorted(entries, key=lambda entry: entry.id):
        for what, value in entry.environment:
            before = known.get(what)
            if before is not None and before != value:
                found.append(EnvironmentMark(entry.id, what, before, value))
            known[what] = value
    return tuple(found)


def likeliest(
    nights: Sequence[HistoryEntry], at: int, near: int, name: str, resources: Sequence[str | None]
) -> tuple[EnvironmentMark, ...]:
    """Marks within ``near`` nights of night ``at``, where a change of ``name`` began, the likeliest first.

    ``resources``: what limits it now and what limited it before.
    """
    window = nights[max(0, at - near - 30) : at + near + 1]
    order = {entry.id: index for index, entry in enumerate(nights)}
    close = [mark for mark in marks(window) if abs(order[mark.run] - at) <= near]
    words = _subjects(nights[at], name, resources)
    kinds = {each.partition(":")[0] for each in resources if each}
    return tuple(
        sorted(close, key=lambda mark: (-_belongs(mark, words, kinds), abs(order[mark.run] - at), mark.what))
    )


def _belongs(mark: EnvironmentMark, subjects: set[str], kinds: set[str]) -> int:
    words = set(re.split(r"[ ]", mark.what))
    named = bool(words & subjects) or any(f"{one}-" in mark.what for one in subjects)
    return 2 * named + any(word in words for kind in kinds for word in _KINDS.get(kind, ()))


def _subjects(entry: HistoryEntry, name: str, resources: Sequence[str | None]) -> set[str]:
    """Names of what a hop goes through: its resource's, its places', and the hosts these lie on."""
    _, _, hop = name.partition("/")
    found = {part for part in hop.split("->") if part}
    found |= {each.partition(":")[2] for each in resources if each and ":" in each}
    return found | set(_hosts(entry, found))


def _hosts(entry: HistoryEntry, places: set[str]) -> Iterator[str]:
    """Hosts that a place's mount or address names."""
    values = dict(entry.environment)
    addresses = {
        what.removeprefix("address of "): value for what, value in values.items() if "address of" in what
    }
    hosts = {what.rpartition(" of ")[2] for what in values if what.startswith("kernel of ")} | set(addresses)
    spoken = " ".join(
        value
        for what, value in values.items()
        for place in places
        if what in (f"mount of {place}", f"far mount of {place}", f"whereabouts of {place}")
    )
    for host in hosts:
        named = [host, addresses.get(host, host)]
        if any(re.search(rf"(?<![\w.-]){re.escape(one)}(?![\w-])", spoken) for one in named):
            yield host
