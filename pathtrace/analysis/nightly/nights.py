"""What lasts of what changed, told from nights that differ by chance: the changes that tonight has to tell.

Joins levels that moved (``steps``), that creep (``creeps``) and flows that are gone (``outages``) into what a
person is told: one change where several flows and hops show it, named by the hop that it comes from. What
earlier nights told is what it remembers by; nothing is told twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pathtrace.analysis.nightly.creeps import LONGEST
from pathtrace.analysis.nightly.fresh import Found, Group, found_in, grouped
from pathtrace.analysis.nightly.night_marks import NEAR_CREEP, NEAR_STEP, likeliest, marks
from pathtrace.analysis.nightly.night_series import Series, at_or_after, counted, series, usual
from pathtrace.analysis.nightly.outages import is_back, missed_nights, missed_throughout, missing
from pathtrace.analysis.nightly.standing import Level, level
from pathtrace.analysis.nightly.steps import BEFORE, OF
from pathtrace.analysis.nightly.told_events import Event, events, takes_part
from pathtrace.model.history import (
    ENDED,
    NEW,
    OUTAGE,
    STANDING,
    STEP,
    Change,
    EnvironmentMark,
    HistoryEntry,
    Told,
)

__all__ = ["changes", "marks"]

_LATEST = LONGEST + BEFORE // 2
"""Nights that are looked at, beside those around what is known."""


@dataclass(frozen=True, slots=True)
class _Looked:
    """All nights that count, those of them that are looked at, and what these show."""

    all: tuple[HistoryEntry, ...]
    nights: tuple[HistoryEntry, ...]
    series: Mapping[str, Series]
    events: tuple[Event, ...]

    def count_since(self, run: str) -> int:
        return len(self.all) - at_or_after(self.all, run)


def changes(entries: Sequence[HistoryEntry], told: Sequence[Told] = ()) -> tuple[Change, ...]:
    """What the last of ``entries`` shows to have changed for good: new, then ended, then standing changes.

    ``entries``: those of one scenario, in any order. ``told``: what earlier nights told, oldest first. A
    level counts as another one if 4 of the last 5 nights show it and the difference is 5 % or more and far
    outside of what nights and their repeats differ by; a flow as gone after 2 of 3 nights. Skipped and
    interrupted nights do not count, nor do those before the last baseline or of other work. Of a change
    that has ended, ``ratio`` says what it was, ``marks`` what was different when it ended.
    """
    looked = _looked(entries, told)
    known = [each for event in looked.events if event.is_open for each in _known(looked, event)]
    over = {(each.kind, each.name, each.since) for each in known if each.state == ENDED}
    ended = [event for event in looked.events if (event.kind, event.name, event.told.since) in over]
    fresh = [*_new_outages(looked), *_new_moves(looked, ended)]
    return (
        *fresh,
        *(each for each in known if each.state == ENDED),
        *(each for each in known if each.state == STANDING),
    )


def _looked(entries: Sequence[HistoryEntry], told: Sequence[Told]) -> _Looked:
    """The latest nights, and those around what was told, whose levels are needed."""
    nights = counted(entries)
    kept = set(range(max(0, len(nights) - _LATEST), len(nights)))
    for event in events(told, nights):
        if event.is_open or event.over_at is None or event.over_at in kept:
            kept.update(range(max(0, event.at - BEFORE), min(len(nights), event.at + 4 * OF)))
    looked_at = tuple(nights[index] for index in sorted(kept))
    return _Looked(nights, looked_at, series(looked_at), events(told, looked_at))


def _known(looked: _Looked, event: Event) -> Iterator[Change]:
    """What became of a change that was told."""
    if event.kind == OUTAGE:
        yield _outage(looked, event)
        return
    one = looked.series.get(event.name)
    if one is not None:
        yield _standing(looked, event, one, level(one, event, looked.events))


def _standing(looked: _Looked, event: Event, one: Series, now: Level) -> Change:
    nights = looked.count_since(event.told.since)
    at, back = one.place(event.at), len(one.values) - now.back
    lasted, after = one.resources[at:back], one.resources[back:]
    began = usual(one.resources[max(0, at - BEFORE) : at])
    resources = (usual(after), usual(lasted)) if now.over else (usual(lasted), began)
    where = int(one.nights[back:][0]) if now.back else len(looked.nights) - 1 if now.over else event.at
    near = NEAR_STEP if event.kind == STEP else NEAR_CREEP
    before_s, after_s = _times(one, event.kind, at, back, now.ratio)
    return Change(
        kind=event.kind,
        name=event.name,
        state=ENDED if now.over else STANDING,
        since=event.told.since,
        nights=nights - now.back,
        ratio=now.ratio,
        low=now.low,
        high=now.high,
        per_week=now.per_week,
        resource=resources[0],
        resource_before=resources[1],
        marks=likeliest(looked.nights, where, near, event.name, resources),
        ended_with=looked.nights[-1].id if now.over else None,
        also=_also(looked, event),
        settled=now.settled,
        before_s=before_s,
        after_s=after_s,
    )


def _times(
    one: Series, kind: str, at: int, until: int, ratio: float | None
) -> tuple[float | None, float | None]:
    """Seconds before and since: the median of what shows it, of a trend the latest, and that by the ratio."""
    shown = one.values[at:until] if kind == STEP else one.values[at:until][-2 * OF :]
    if not len(shown) or ratio is None:
        return None, None
    after_s = math.exp(float(np.median(shown)))
    return after_s / ratio, after_s


def _also(looked: _Looked, event: Event) -> tuple[str, ...]:
    names = [one.name for one in looked.series.values() if takes_part(one, event)]
    return _in_order(event.name, names)


def _in_order(name: str, names: Sequence[str]) -> tuple[str, ...]:
    """Others than ``name``, its own flow first."""
    flow = name.partition("/")[0]
    return tuple(sorted((each for each in names if each != name), key=lambda each: each != flow))


def _outage(looked: _Looked, event: Event) -> Change:
    nights, name = looked.nights, event.name
    over = is_back(nights, name)
    where = len(nights) - 1 if over else event.at
    return Change(
        kind=OUTAGE,
        name=name,
        state=ENDED if over else STANDING,
        since=event.told.since,
        nights=missed_nights(looked.all, name, at_or_after(looked.all, event.told.since)),
        ratio=None,
        low=None,
        high=None,
        marks=_outage_marks(looked, name, where),
        ended_with=nights[-1].id if over else None,
    )


def _outage_marks(looked: _Looked, name: str, at: int) -> tuple[EnvironmentMark, ...]:
    one = looked.series.get(name)
    resource = usual(one.resources[-BEFORE:]) if one is not None else None
    return likeliest(looked.nights, at, NEAR_STEP, name, (resource,))


def _new_outages(looked: _Looked) -> Iterator[Change]:
    """One, whatever is gone with it; none where what is gone went with an outage that was told."""
    gone = {name: at for name, at in missing(looked.nights).items() if not _told_gone(looked, name)}
    if not gone:
        return
    name = min(gone, key=lambda each: gone[each])
    at = gone[name]
    yield Change(
        kind=OUTAGE,
        name=name,
        state=NEW,
        since=looked.nights[at].id,
        nights=missed_nights(looked.nights, name, at),
        ratio=None,
        low=None,
        high=None,
        marks=_outage_marks(looked, name, at),
        also=_in_order(name, list(gone)),
    )


def _told_gone(looked: _Looked, name: str) -> bool:
    """True if it was told itself, or has been gone all the time since an outage was told."""
    return any(
        event.kind == OUTAGE
        and event.is_open
        and (event.name == name or missed_throughout(looked.nights, name, event.at))
        for event in looked.events
    )


def _new_moves(looked: _Looked, ended: Sequence[Event]) -> Iterator[Change]:
    found: dict[str, Found] = {}
    for name, one in looked.series.items():
        mine = [event for event in looked.events if takes_part(one, event)]
        if not any(event in ended for event in mine):
            fresh = found_in(one, mine, looked.events)
            if fresh is not None:
                found[name] = fresh
    for group in grouped(found, looked.series):
        yield _new(looked, group)


def _new(looked: _Looked, group: Group) -> Change:
    found, one = group.found, looked.series[group.name]
    since = looked.nights[found.at].id
    place = one.place(found.at)
    resources = (usual(one.resources[place:]), usual(one.resources[max(0, place - BEFORE) : place]))
    near = NEAR_STEP if found.per_week is None else NEAR_CREEP
    kind = STEP if found.per_week is None else found.kind
    before_s, after_s = _times(one, kind, place, len(one.values), found.ratio)
    return Change(
        kind=found.kind,
        name=group.name,
        state=NEW,
        since=since,
        nights=looked.count_since(since),
        ratio=found.ratio,
        low=math.exp(found.low),
        high=math.exp(found.high),
        per_week=found.per_week,
        resource=resources[0],
        resource_before=resources[1],
        marks=likeliest(looked.nights, found.at, near, group.name, resources),
        also=_in_order(group.name, group.names),
        before_s=before_s,
        after_s=after_s,
    )
