"""Changes that earlier nights told, and what a series of nights looks like in their light.

What was told is the memory of what changed: a level told to be new is the one that later nights are held
against, nights of a change that is over are left out, and growth that is known is taken off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pathtrace.analysis.comparing.ratios import LEAST_EFFECT
from pathtrace.analysis.nightly.night_series import Series, at_or_after
from pathtrace.analysis.nightly.steps import (
    BEFORE,
    OF,
    SHOWN,
    Floats,
    Move,
    Noise,
    medians,
    move,
    noise,
    tamed,
    two_levels,
)
from pathtrace.model.history import CREEP, ENDED, GROWTH, OUTAGE, STEP, HistoryEntry, Told

SAME_EVENT = 3
"""Nights by which the beginning of what is one change may seem to differ between flows."""
SHARE = 0.4
"""Of a change, that another flow or hop must show to take part in it."""
_SETTLED = 45
"""Nights that are looked at after growth that stopped, where it is not known when this was told."""
_REACHED = 0.9
"""Of the nights of a creep, the share that lies below what it reached."""
_PAIRED = 60
"""Nights, of all, that are paired to see how the time follows the work."""
_LINE, _NEWEST = 60, 10
"""Nights that a line through a creep is drawn from, and the newest, which it foretells."""


@dataclass(frozen=True, slots=True)
class Event:
    """A change that was told. ``at``: index of its first night; ``effect``: logarithm of its ratio."""

    told: Told
    at: int
    effect: float
    over: bool = False
    over_at: int | None = None
    """Index of the night that told that it is over."""

    @property
    def kind(self) -> str:
        return self.told.kind

    @property
    def name(self) -> str:
        return self.told.name

    @property
    def is_open(self) -> bool:
        """True while its end has not been told."""
        return not self.over


@dataclass(frozen=True, slots=True)
class View:
    """What is left to judge of a series: the values at its present level, and where they stand in it."""

    values: Floats
    days: Floats
    places: np.ndarray[tuple[int], np.dtype[np.int64]]
    creeping: bool = False
    """True if a creep that was told is still going on: its line is taken off already."""


def events(told: Sequence[Told], nights: Sequence[HistoryEntry]) -> tuple[Event, ...]:
    """What was told of these nights, in that order, without what began before the first or says nothing."""
    found: dict[tuple[str, str, str], Event] = {}
    for each in told:
        if each.kind not in (STEP, CREEP, GROWTH, OUTAGE):
            continue
        key = (each.kind, each.name, each.since)
        if each.state == ENDED:
            mine = key if key in found else _latest(found, each)
            if mine is not None:
                night = None if each.night is None else min(at_or_after(nights, each.night), len(nights) - 1)
                found[mine] = replace(found[mine], over=True, over_at=night)
        elif key not in found and nights and nights[0].id <= each.since <= nights[-1].id:
            effect = math.log(each.ratio) if each.ratio else 0.0
            if effect or each.kind == OUTAGE:
                found[key] = Event(each, at_or_after(nights, each.since), effect)
    return tuple(found.values())


def _latest(found: dict[tuple[str, str, str], Event], ended: Told) -> tuple[str, str, str] | None:
    """The open change that an end without its beginning is the end of."""
    named = [key for key, event in found.items() if key[:2] == (ended.kind, ended.name) and event.is_open]
    return named[-1] if named else None


def takes_part(one: Series, event: Event) -> bool:
    """True if a flow or hop shows what was told of another, or it was told of itself."""
    if event.kind == OUTAGE:
        return False
    if one.name == event.name:
        return True
    at = one.place(event.at)
    if at < 3 or at >= len(one.values):
        return False
    after = one.values[at : at + 2 * OF] if event.kind == STEP else _lasting(one, at, event)[-2 * OF :]
    moved = float(np.median(after) - np.median(one.values[max(0, at - 15) : at]))
    return moved * event.effect > 0 and abs(moved) >= SHARE * abs(event.effect)


def _lasting(one: Series, at: int, event: Event) -> Floats:
    """The values of a change, without those behind its end."""
    back = _came_back(one.values, at, event, one) if event.over else None
    until = None if event.over_at is None else max(at + 1, one.place(event.over_at) + 1)
    return one.values[at : until if back is None else back]


def before(values: Floats, at: int, own: float) -> Noise:
    """The level before a change that began at ``at``."""
    return noise(values[max(0, at - BEFORE) : at], own)


def view(one: Series, known: Sequence[Event]) -> View:
    """A series without what is known of it. ``known``: the events that it takes part in, oldest first."""
    values, start = per_work(one, known), 0
    kept = np.ones(len(values), dtype=bool)
    line: Event | None = None
    for event in known:
        at = one.place(event.at)
        if event.is_open and event.kind == STEP:
            start = max(start, at)
        elif event.is_open and event.kind == CREEP:
            line = event
        elif event.over:
            back = _came_back(values, at, event, one)
            if back is None:
                start = max(start, _settled(one, at, event))
            else:
                kept[at:back] = False
    kept[:start] = False
    places = np.flatnonzero(kept)
    if line is not None:
        places = places[-(_LINE + _NEWEST) :]
        return View(_off_the_line(values[places], one.days[places]), one.days[places], places, creeping=True)
    return View(values[places], one.days[places], places)


def fallen_off(seen: View, own: float) -> Move | None:
    """A step away from the line of a creep, which says less of the newest nights than a level does."""
    return move(seen.values, own, recent=2 * OF, least=2 * LEAST_EFFECT)


def without_steps(one: Series, earlier: Sequence[Event], later: Sequence[Event]) -> View:
    """A series for judging a trend in it, as if later steps had not been."""
    seen = view(one, [each for each in earlier if each.kind == STEP or each.over])
    values, kept = seen.values.copy(), np.ones(len(seen.values), dtype=bool)
    for event in later:
        at = int(np.searchsorted(seen.places, one.place(event.at)))
        if event.kind == STEP and event.is_open:
            values[at:] -= event.effect
        elif event.kind == STEP:
            back = _came_back(one.values, one.place(event.at), event, one)
            kept[at : at if back is None else int(np.searchsorted(seen.places, back))] = False
    return View(values[kept], seen.days[kept], seen.places[kept])


def per_work(one: Series, known: Sequence[Event]) -> Floats:
    """Values with the work taken off, as far as they follow it, while more work than before is known."""
    growing = [event for event in known if event.kind == GROWTH]
    if not growing:
        return one.values
    follows = _follows(one, one.place(growing[0].at))
    return np.asarray(one.values - follows * (one.work - one.work[0]), dtype=np.float64)


def _follows(one: Series, at: int) -> float:
    """By how much the time grows with the work (Theil and Sen), 1 if in proportion; newest nights apart."""
    from scipy.stats import theilslopes

    nights = slice(max(0, at - BEFORE), max(at + OF, len(one.values) - _NEWEST))
    work, values = one.work[nights], one.values[nights]
    work, values = (each[:: max(1, len(each) // _PAIRED)] for each in (work, values))
    if len(work) < 3 * OF or float(np.ptp(work)) == 0:
        return 1.0
    return min(max(float(theilslopes(values, work)[0]), 0.0), 1.5)


def _off_the_line(values: Floats, days: Floats) -> Floats:
    from scipy.stats import theilslopes

    if len(values) < 3 * _NEWEST:
        return values - float(np.median(values))
    slope, level, _, _ = theilslopes(values[:-_NEWEST], days[:-_NEWEST])
    return np.asarray(values - (level + slope * days), dtype=np.float64)


def _came_back(values: Floats, at: int, event: Event, one: Series) -> int | None:
    """Where the level before a change that is over was reached again; None if it stayed elsewhere."""
    until = len(values) if event.over_at is None else min(len(values), one.place(event.over_at) + 1)
    if at == 0 or until - at < 3:
        return None
    level = noise(values[max(0, at - BEFORE) : at])
    if event.kind != STEP:
        return _fell_back(values, at, until, level.level, 1 if event.effect > 0 else -1)
    half, side = level.level + event.effect / 2, 1 if event.effect > 0 else -1
    back, _ = two_levels(tamed(values[at:until], level.spread), 1, 2)
    return at + back if (float(np.median(values[at + back : until])) - half) * side < 0 else None


def _fell_back(values: Floats, at: int, until: int, level: float, side: int) -> int | None:
    """The same of a creep, whose ramp two levels would cut anywhere: from where on it is less than half."""
    around = medians(values[at:until])
    off = (around - level) * side
    high = np.flatnonzero(off >= float(np.quantile(off, _REACHED)) / 2)
    back = at + int(high[-1]) + 1
    return back if until - back >= SHOWN else None


def _settled(one: Series, at: int, event: Event) -> int:
    """Where the level begins that a change ended with that did not go back."""
    if event.over_at is None:
        return max(at, len(one.values) - _SETTLED)
    return max(at, one.place(event.over_at) - 4 * 7)
