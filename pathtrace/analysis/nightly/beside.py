"""A night beside the baseline, or beside the median of the last runs that are like it. Pure.

From what history keeps of runs: medians with the intervals of their own repeats. How much one day differs
from another is in the interval as soon as there are runs enough to know it (``noise_floor.between_runs``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from pathtrace.analysis.comparing.noise_floor import between_runs
from pathtrace.analysis.comparing.ratios import judged
from pathtrace.model.comparison import UNCLEAR
from pathtrace.model.history import COMPLETE, PARTIAL, HistoryEntry, Took
from pathtrace.model.scanning import Beside

LAST = 7
"""Runs whose median counts where no baseline was chosen."""
DAYS = 30
"""The latest runs that say how much days differ."""
FAR_SCORE = 3.5
FAR = math.log(1.1)
_NORMAL_MAD, _NORMAL_MEAN = 1.4826, 1.2533
"""From a median or mean absolute deviation to the standard deviation of a normal sample."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What tonight is held against: a chosen baseline alone, or the last like runs. In words: ``words``."""

    words: str
    runs: tuple[HistoryEntry, ...]
    chosen: bool = False


def is_like(night: HistoryEntry, other: HistoryEntry) -> bool:
    """The same work from the same start. Its data may have grown: that is found apart."""
    return (night.workload_fingerprint, night.start) == (other.workload_fingerprint, other.start)


def reference(night: HistoryEntry, nights: Sequence[HistoryEntry], baseline: str | None) -> Reference | None:
    """``nights``: of the scenario, oldest first, tonight among them or not; None: there is nothing yet.

    A baseline from another start (warm where tonight is cold) is no reference, as `compare` refuses it.
    """
    earlier = [each for each in nights if each.id < night.id and each.took]
    chosen = next((each for each in earlier if each.id == baseline), None)
    if chosen is not None and chosen.start == night.start:
        return Reference(f"the baseline {_named(chosen)}", (chosen,), chosen=True)
    like = [each for each in earlier if is_like(night, each) and each.status in (COMPLETE, PARTIAL)]
    if not like:
        return None
    last = tuple(like[-LAST:])
    words = f"the run before, {last[0].id}" if len(last) == 1 else f"the median of the last {len(last)} runs"
    if chosen is not None:
        words += f" (the baseline {_named(chosen)} started {chosen.start}, this one {night.start})"
    return Reference(words, last)


def _named(run: HistoryEntry) -> str:
    return f"{run.label} ({run.id})" if run.label else run.id


def beside(
    night: HistoryEntry, against: Reference, nights: Sequence[HistoryEntry] = ()
) -> tuple[Beside, ...]:
    """Each flow and hop of tonight that the reference has too. ``nights``: for how much days differ."""
    earlier = [each for each in nights if each.id < night.id and is_like(night, each)]
    days = [each for each in earlier if each.status == COMPLETE][-DAYS:]
    return tuple(
        _one(now, then, between_runs(_ordinary(_medians(now.name, days))), against.chosen)
        for now in night.took
        if (then := tuple(_took(now.name, against.runs))) and _all_positive(now, then)
    )


def _all_positive(now: Took, then: Sequence[Took]) -> bool:
    return min(now.median_s, *(each.median_s for each in then)) > 0


def _took(name: str, runs: Sequence[HistoryEntry]) -> Iterator[Took]:
    for run in runs:
        yield from (each for each in run.took if each.name == name)


def _medians(name: str, runs: Sequence[HistoryEntry]) -> list[float]:
    return [each.median_s for each in _took(name, runs)]


def _ordinary(medians: Sequence[float]) -> list[float]:
    """Without nights far from the others: one that stood out must not hide the next one.

    By the modified z-score (Iglewicz and Hoaglin, 1993), and by a tenth at least.
    """
    logs = [math.log(value) for value in medians if value > 0]
    if not logs:
        return []
    middle = median(logs)
    off = [abs(each - middle) for each in logs]
    far = FAR_SCORE * (median(off) * _NORMAL_MAD or fmean(off) * _NORMAL_MEAN)
    return [math.exp(log) for log, away in zip(logs, off, strict=True) if away <= max(far, FAR)]


def _one(now: Took, then: Sequence[Took], between: float | None, chosen: bool) -> Beside:
    """The interval: both medians' own, as of independent errors, and never narrower than days differ."""
    then_s = median(each.median_s for each in then)
    effect = math.log(now.median_s / then_s)
    middle = min(then, key=lambda each: abs(each.median_s - then_s))
    down = math.hypot(_log(now.median_s, now.low_s), _log(middle.high_s, middle.median_s))
    up = math.hypot(_log(now.high_s, now.median_s), _log(middle.median_s, middle.low_s))
    low, high = effect - max(down, between or 0.0), effect + max(up, between or 0.0)
    sure = between is not None or (chosen and min(down, up) > 0)
    if not sure:  # of so few runs nobody knows how much days differ
        low, high = min(low, 0.0), max(high, 0.0)
    return Beside(
        name=now.name,
        now_s=now.median_s,
        then_s=then_s,
        ratio=math.exp(effect),
        low=math.exp(low),
        high=math.exp(high),
        verdict=judged(effect, low, high) if sure else UNCLEAR,
    )


def _log(larger: float, smaller: float) -> float:
    return max(0.0, math.log(larger / smaller)) if larger > 0 and smaller > 0 else 0.0
