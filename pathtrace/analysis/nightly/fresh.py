"""Changes that nobody was told of yet: found in each flow and hop, then put together where they are one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pathtrace.analysis.comparing.ratios import LEAST_EFFECT
from pathtrace.analysis.nightly.creeps import LONGEST, WEEK, Trend, bend, rising_or_falling, slope, stepped
from pathtrace.analysis.nightly.night_series import Series, flow_of, usual
from pathtrace.analysis.nightly.steps import (
    BEFORE,
    FEWEST_BEFORE,
    OF,
    SHOWN,
    Floats,
    Move,
    measured,
    move,
    noise,
    tamed,
    two_levels,
)
from pathtrace.analysis.nightly.told_events import SAME_EVENT, Event, View, fallen_off, view
from pathtrace.model.history import CREEP, GROWTH, OUTAGE, STEP

_SAME_FLOW = 14
"""Nights by which the beginning of one change may seem to differ within a flow."""


@dataclass(frozen=True, slots=True)
class Found:
    """``at``: index of its first night; ``effect``, ``low`` and ``high``: logarithms of the ratio."""

    kind: str
    at: int
    effect: float
    low: float
    high: float
    per_week: float | None = None

    @property
    def ratio(self) -> float:
        return math.exp(self.effect)


@dataclass(frozen=True, slots=True)
class Group:
    """One change: the flow or hop that it is told of, and all that show it."""

    name: str
    found: Found
    names: tuple[str, ...]


def found_in(one: Series, mine: Sequence[Event], known: Sequence[Event]) -> Found | None:
    """A change that is not one of those ``known``. ``mine``: those of them that this one takes part in."""
    seen = view(one, mine)
    moved = _moved(seen, one.own)
    if moved is None:
        return None
    found = _weighed(one, seen, moved, mine)
    if _damped(one, found, mine) or any(_is_of(one, found, event) for event in known):
        return None
    return found


def _damped(one: Series, found: Found, mine: Sequence[Event]) -> bool:
    """True if the like has come and gone before, so that more nights are asked for than it has had yet.

    Twice as many for each time, as routes that flap are damped (RFC 2439): a machine with several levels
    tells of them now and then, rather than each week.
    """
    again = sum(event.over and event.kind == STEP and event.effect * found.effect > 0 for event in mine)
    asked = OF * 2**again
    if not again or found.kind != STEP:
        return False
    at = one.place(found.at)
    level = float(np.median(one.values[max(0, at - BEFORE) : at]))
    side, last = 1 if found.effect > 0 else -1, one.values[at:][-asked:]
    shown = np.count_nonzero((last - level) * side > abs(found.effect) / 2)
    return len(last) < asked or bool(shown < asked * SHOWN / OF)


def _is_of(one: Series, found: Found, event: Event) -> bool:
    """True if it is what was told, seen elsewhere or later."""
    if event.kind == OUTAGE or event.effect * found.effect <= 0:
        return False
    same_flow = flow_of(event.name) == one.flow
    if (event.kind, found.kind) == (STEP, CREEP) and abs(found.effect) > abs(event.effect):
        return False  # what was told is the beginning of something larger
    if same_flow and event.is_open and {event.kind, found.kind} <= {CREEP, GROWTH}:
        return True  # where it began cannot be said to the week
    return abs(event.at - found.at) <= (_SAME_FLOW if same_flow else SAME_EVENT)


def _moved(seen: View, own: float) -> Found | None:
    """A step or a creep, with ``at`` and figures of the whole series."""
    if seen.creeping:
        return _step(seen, fallen_off(seen, own))
    values, days = seen.values[-LONGEST:], seen.days[-LONGEST:]
    apart = len(seen.values) - len(values)
    jump = move(values, own)
    if jump is None and not rising_or_falling(values):
        return None
    if stepped(values, days):
        return _step(seen, _shifted(jump, values, own), apart)
    trend = bend(values, days)
    return None if trend is None else _creep(seen, trend, apart)


def _shifted(jump: Move | None, values: Floats, own: float) -> Move | None:
    """The step where it is seen best; None if it is not worth a word."""
    if jump is not None:
        return jump
    at, _ = two_levels(tamed(values, noise(values[:BEFORE]).spread), FEWEST_BEFORE, SHOWN)
    found = measured(values, at, noise(values[max(0, at - BEFORE) : at], own))
    sure = found.low > 0 or found.high < 0
    return found if sure and abs(found.effect) >= LEAST_EFFECT else None


def _step(seen: View, found: Move | None, apart: int = 0) -> Found | None:
    if found is None:
        return None
    place = int(seen.places[found.at + apart])
    return Found(STEP, place, found.effect, found.low, found.high)


def _creep(seen: View, trend: Trend, apart: int) -> Found | None:
    if abs(trend.effect) < LEAST_EFFECT or trend.low * trend.high <= 0:
        return None
    place = int(seen.places[trend.at + apart])
    return Found(CREEP, place, trend.effect, trend.low, trend.high, math.exp(trend.per_day * WEEK))


def _weighed(one: Series, seen: View, found: Found, mine: Sequence[Event]) -> Found:
    """Growth, if there is more work by as much, unless that was taken off; ``at`` becomes a night's."""
    work = one.work[seen.places]
    at = int(np.searchsorted(seen.places, found.at))
    night = int(one.nights[found.at])
    if found.kind == STEP:
        more = float(np.median(work[at:]) - np.median(work[max(0, at - BEFORE) : at]))
    else:
        more = slope(work[at:], seen.days[at:]) * float(seen.days[-1] - seen.days[at])
    rest = found.effect - more
    small = abs(rest) < LEAST_EFFECT or abs(rest) < abs(found.effect) / 2
    explained = small and more * found.effect > 0 and not any(event.kind == GROWTH for event in mine)
    return replace(found, at=night, kind=GROWTH if explained else found.kind)


def grouped(found: Mapping[str, Found], series: Mapping[str, Series]) -> Iterator[Group]:
    """What began together and goes the same way is one change, the largest first."""
    left = sorted(found, key=lambda name: -abs(found[name].effect))
    while left:
        first = left[0]
        names = [name for name in left if _together(first, found[first], name, found[name])]
        left = [name for name in left if name not in names]
        yield _named(first, names, found, series)


def _together(first: str, one: Found, name: str, other: Found) -> bool:
    same_flow = flow_of(first) == flow_of(name)
    if one.effect * other.effect <= 0 or not (same_flow or one.kind == other.kind):
        return False
    if same_flow and {one.kind, other.kind} <= {CREEP, GROWTH}:
        return True
    return abs(one.at - other.at) <= (_SAME_FLOW if same_flow else SAME_EVENT)


def _named(
    first: str, names: Sequence[str], found: Mapping[str, Found], series: Mapping[str, Series]
) -> Group:
    """By the hop of the flow that it comes from; by the flow where none of its hops shows it."""
    flow, lead = flow_of(first), found[first]
    flows = {flow_of(name) for name in names}
    moved = {name: _moved_by(one, lead) for name, one in series.items() if one.flow in flows}
    also = dict.fromkeys((*names, *(name for name, by in moved.items() if by >= abs(lead.effect) / 2)))
    hops = {name: moved[name] for name in also if flow_of(name) == flow != name}
    hops = {name: by for name, by in hops.items() if name in found} or hops
    if not hops:
        name = flow if flow in found else first
    else:
        name = max(hops, key=lambda each: (_is_its_resources(series[each], lead.at), hops[each]))
    return Group(name, found.get(name, lead), tuple(also))


def _moved_by(one: Series, lead: Found) -> float:
    """By how much it went the same way, as a logarithm."""
    at = one.place(lead.at)
    after, earlier = one.values[at:], one.values[max(0, at - BEFORE) : at]
    if not len(after) or not len(earlier):
        return 0.0
    newest = after if lead.kind == STEP else after[-2 * OF :]
    side, level = 1 if lead.effect > 0 else -1, float(np.median(earlier))
    by = (float(np.median(newest)) - level) * side
    shown = np.count_nonzero((one.values[-OF:] - level) * side > by / 2)
    return by if shown >= SHOWN else 0.0


def _is_its_resources(one: Series, night: int) -> bool:
    """True if what limits a hop is one of the places between which it goes."""
    resource = usual(one.resources[one.place(night) :]) or ""
    _, _, subject = resource.partition(":")
    return subject in one.name.partition("/")[2].split("->")
