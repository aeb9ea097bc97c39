"""Whether a change that was predicted about really came, and if not, why, in words.

What is seen comes first: what crossed a link from memory to memory, then the card that the route takes. A
speed in the scenario stays as it was written where nobody edits it, so it counts where nothing else tells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pathtrace.analysis.limiting.limit import MEASURED_ABOVE
from pathtrace.analysis.limiting.link_use import card_speed
from pathtrace.model.comparison import Difference, ForetoldChange
from pathtrace.model.run import Run
from pathtrace.model.scenario import Link
from pathtrace.units import format_duration, format_link, format_rate

SAME_SPEED = 1e-3
MEASURED_BELOW = 0.5
"""Of a link's speed: one that carries less is of a slower kind (they are 2 to 2.5 times apart)."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of the two runs' differences. ``changed``: what was meant to differ."""

    differences: Sequence[Difference]
    changed: Sequence[str]
    after: Run

    @property
    def mattering(self) -> list[Difference]:
        return [each for each in self.differences if each.matters]


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a change did not come. ``touched``: what it is about did change, to something else."""

    text: str
    touched: bool


def missing(change: ForetoldChange, seen: Seen) -> Missing | None:
    """None if what was predicted about differs now (or was said to), to the value that was asked for.

    A setting of a place is its own cause, and says nothing of the disk below: ``library.batch``.
    """
    kind, _, name = change.resource.rpartition(":")
    if not kind:
        return _setting(name, change, seen)
    subject, _, part = name.partition(".")
    wanted = _wanted(change, kind, part)
    said = {subject, change.resource, f"{kind}:{subject}"}
    if kind == "link":
        said |= _fresh(subject, seen)
    if isinstance(change.after, str) or not said & _moved(kind, seen):
        return Missing(f"nothing that is known of {name} differs, and {wanted} was predicted", False)
    if kind != "link":
        return None
    why = _other_than_latency(said, seen) if part else _other_speed(said, change.after, seen)
    return Missing(f"{wanted} was predicted, and {why}", True) if why else None


def _moved(kind: str, seen: Seen) -> set[str]:
    """What differs or was said to; of a disk or its syncs, also by the place above it."""
    matter = seen.mattering
    places = {
        each.what.partition(".")[0]
        for each in matter
        if kind in ("disk", "commit") and each.cause != each.what
    }
    return {*(each.cause for each in matter), *places, *seen.changed}


def _setting(name: str, change: ForetoldChange, seen: Seen) -> Missing | None:
    value = change.after if isinstance(change.after, str) else f"{change.after:g}"
    found = next((each for each in seen.differences if each.what == name), None)
    if found is None:
        return Missing(f"{name} is as it was, and {value} was predicted", False)
    if found.after == value:
        return None
    return Missing(f"{name} = {value} was predicted, and it is {found.after or 'not set'} now", True)


def _wanted(change: ForetoldChange, kind: str, part: str) -> str:
    name = change.resource.removeprefix("link:")
    if isinstance(change.after, str):
        return f"{name} = {change.after}"
    if part or kind == "commit":
        return f"{name} = {format_duration(change.after)}"
    return f"{name} = {format_link(change.after) if kind == 'link' else format_rate(change.after)}"


def _fresh(subject: str, seen: Seen) -> set[str]:
    """Links that were not there yet, between the two hosts by which one was called."""
    new = {each.what.removesuffix(".hosts") for each in seen.mattering if each.before is None}
    links = seen.after.scenario.links
    return {link.name for link in links if link.name in new and _joins(link, subject)}


def _joins(link: Link, subject: str) -> bool:
    return subject in ("-".join(link.hosts), "-".join(reversed(link.hosts)))


def _other_than_latency(links: set[str], seen: Seen) -> str | None:
    """Where one of these links carries more or less than it did: that is another change."""
    speeds = (each for each in seen.mattering if each.cause in links and each.what.endswith(".speed"))
    found = next(speeds, None)
    return f"{found.what} became {found.after} from {found.before}" if found else None


def _other_speed(links: set[str], wanted: float, seen: Seen) -> str | None:
    """What the links really have instead of the speed that was predicted with; None where they have it."""
    measured = _measured(links, seen.after)
    card = min(_cards(links, seen), key=lambda each: each.speed, default=None)
    if measured is not None and not MEASURED_BELOW * wanted <= measured <= MEASURED_ABOVE * wanted:
        return f"{format_link(measured)} was measured across it"
    if card is not None and card.speed < wanted * (1 - SAME_SPEED):
        return f"{card.source} {format_link(card.speed)}"
    if measured is not None:
        return None
    return _unlike(wanted, card, _declared(links, seen))


@dataclass(frozen=True, slots=True)
class _Speed:
    """In bytes per second. ``source``: what has or says it. ``moved``: it is not what it was before."""

    source: str
    speed: float
    moved: bool


def _unlike(wanted: float, card: _Speed | None, declared: _Speed | None) -> str | None:
    """A card that was changed outdoes what the scenario still says; one that was not may well be faster than
    the other end, of which only the scenario knows."""
    stale = card is not None and card.moved and declared is not None and not declared.moved
    known = [each for each in (card, None if stale else declared) if each is not None]
    real = min(known, key=lambda each: each.speed, default=None)
    if real is None or math.isclose(real.speed, wanted, rel_tol=SAME_SPEED):
        return None
    return f"{real.source} {format_link(real.speed)}"


def _measured(links: set[str], run: Run) -> float | None:
    """The better direction: what a link is, not what one end could take."""
    names = {f"link:{name.removeprefix('link:')}" for name in links}
    found = (
        each.bytes_per_s
        for each in run.ceilings
        if each.resource in names and each.source == "measured" and each.bytes_per_s
    )
    return max(found, default=None)


def _declared(links: set[str], seen: Seen) -> _Speed | None:
    found = [
        _Speed("the scenario says", link.speed_bytes_per_s, _differs(f"{link.name}.speed", seen))
        for link in seen.after.scenario.links
        if link.name in links and link.speed_bytes_per_s is not None
    ]
    return min(found, key=lambda each: each.speed, default=None)


def _cards(links: set[str], seen: Seen) -> Iterator[_Speed]:
    """Of this host, by which the links' other hosts are reached; virtual ones make their figure up."""
    run = seen.after
    here = run.scenario.here.name
    facts = next((host for host in run.environment.hosts if host.name == here), None)
    far = {host for link in run.scenario.links if link.name in links for host in link.hosts}
    ways = {
        route.interface: route.host
        for route in run.routes
        if route.host in far or f"{route.host}-{here}" in links
    }
    for card in facts.interfaces if facts is not None else ():
        speed = card_speed(card) if card.name in ways else None
        if speed is not None:
            other = (f"{here}.interface.{card.name}.speed", f"{ways[card.name]}.route.interface")
            yield _Speed(f"its card {card.name} has", speed, any(_differs(what, seen) for what in other))


def _differs(what: str, seen: Seen) -> bool:
    return any(each.what == what for each in seen.differences)
