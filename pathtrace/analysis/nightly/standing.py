"""Whether a change that was told is still there, and how large it is by now."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pathtrace.analysis.comparing.ratios import LEAST_EFFECT
from pathtrace.analysis.nightly.creeps import WEEK, flattened
from pathtrace.analysis.nightly.night_series import Series
from pathtrace.analysis.nightly.steps import OF, Floats, Noise, measured, returned
from pathtrace.analysis.nightly.told_events import (
    Event,
    View,
    before,
    fallen_off,
    takes_part,
    view,
    without_steps,
)
from pathtrace.model.history import CREEP, STEP

_AT_ONCE = 0.7
"""Of growth that its first nights show already: it came as a step, and stays until it goes back."""
_SETTLED = 20
"""Nights that tell a level; the newest ``OF`` are what is judged by it."""


@dataclass(frozen=True, slots=True)
class Level:
    """Of a change that is over, the figures are those of when it lasted. ``back``: nights since then."""

    ratio: float | None
    low: float | None
    high: float | None
    per_week: float | None = None
    over: bool = False
    back: int = 0
    settled: bool = False


def level(one: Series, event: Event, known: Sequence[Event]) -> Level:
    """Of a flow or hop that a change was told of; ``known``: all that was told, this one among it."""
    mine = [each for each in known if takes_part(one, each)]
    earlier, later = mine[: mine.index(event)], mine[mine.index(event) + 1 :]
    if event.kind == STEP and any(each.kind == CREEP and each.is_open for each in earlier):
        return _of_step_on_a_creep(one, event, mine)
    seen = view(one, earlier) if event.kind == STEP else without_steps(one, earlier, later)
    at = int(np.searchsorted(seen.places, one.place(event.at)))
    if not 0 < at < len(seen.values):
        return Level(event.told.ratio, None, None)
    base = before(seen.values, at, one.own)
    if event.kind == STEP:
        return _of_step(seen, at, base, event)
    alone = max((each.at for each in later if each.kind == STEP), default=event.at)
    since = int(np.searchsorted(seen.places, one.place(alone)))
    now = _of_trend(seen, at, since, base, event)
    if event.kind == CREEP:
        return now
    work = View(one.work[seen.places], seen.days, seen.places)
    by_work = _of_trend(work, at, at, before(work.values, at, 0.0), event)
    return replace(now, over=by_work.over, back=by_work.back, settled=by_work.settled)


def _of_step(seen: View, at: int, base: Noise, event: Event) -> Level:
    after, effect = seen.values[at:], event.effect
    if len(after) >= _SETTLED:
        effect = float(np.median(after[:_SETTLED])) - base.level
    if effect * event.effect <= 0:
        effect = event.effect
    return _judged(seen.values, at, base, effect, returned(after, base, effect))


def _of_step_on_a_creep(one: Series, event: Event, mine: Sequence[Event]) -> Level:
    """The level before goes on creeping, so only a move back tells that it is over."""
    now = fallen_off(view(one, mine), one.own)
    over = now is not None and now.effect * event.effect < 0 and abs(now.effect) >= abs(event.effect) / 2
    back = len(view(one, mine).values) - now.at if now is not None and over else 0
    return Level(event.told.ratio, None, None, over=over, back=back)


def _of_trend(seen: View, at: int, alone: int, base: Noise, event: Event) -> Level:
    """Over if the level went back, or if it stays where it is. ``alone``: from here on without steps."""
    values, days = seen.values, seen.days
    after = values[at:]
    reached = float(np.median(after[-_SETTLED - OF : -OF])) - base.level if len(after) > 2 * OF else 0.0
    if reached * event.effect <= 0 or abs(reached) < LEAST_EFFECT / 2:
        reached = event.effect
    span = max(float(days[-1] - days[at]), float(WEEK))
    back = returned(after, base, reached) or 0
    at_once = (float(np.median(after[:OF])) - base.level) / reached >= _AT_ONCE
    stopped = back == 0 and not at_once and flattened(values[alone:], days[alone:], reached / span, base)
    now = _judged(values, at, base, reached, back or None)
    return Level(
        now.ratio,
        now.low,
        now.high,
        per_week=math.exp(reached / span * WEEK),
        over=now.over or stopped,
        back=now.back,
        settled=stopped,
    )


def _judged(values: Floats, at: int, base: Noise, effect: float, back: int | None) -> Level:
    lasted = values[: len(values) - (back or 0)]
    if len(lasted) <= at:
        lasted = values[: at + 1]
    error = measured(lasted, at, base)
    off = effect - error.effect
    ratio, low, high = (math.exp(each + off) for each in (error.effect, error.low, error.high))
    return Level(ratio, low, high, over=back is not None, back=back or 0)
