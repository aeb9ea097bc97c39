"""A change in words: what, by how much, since when, what limits now, and what else changed with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pathtrace.model.history import CREEP, ENDED, GROWTH, OUTAGE, STEP, Change, EnvironmentMark
from pathtrace.model.scanning import ScanReport
from pathtrace.render.alert_news import News, named, night
from pathtrace.units import format_count, format_duration, format_ratio

_MOST_MARKS = 3
_TIMES = 2.0
"""From here on it is said how many times as long, not how much longer."""

_RESOURCES: Mapping[str, str] = {
    "link": "the link {}",
    "loss": "packets lost on {}",
    "mtu": "the packet size on {}",
    "disk": "the disk of {}",
    "server": "the server of {}",
    "cpu": "a processor core at {}",
    "memory": "the memory of {}",
    "gpu": "the GPU of {}",
    "commit": "commits to {}",
    "database": "the database {}",
    "model": "the model {}",
    "round-trips": "round trips to {}",
    "wait": "waiting at {}",
    "tracer": "pathtrace itself",
}


def news_of(change: Change, report: ScanReport) -> News:
    """A new or ended change."""
    name = named(change.name)
    if change.state == ENDED:
        return _ended(change, report)
    if change.kind == OUTAGE:
        nights, first = format_count(change.nights, "night"), night(change.since, report.entry.at.tzinfo)
        lines = (
            f"{name} could not be measured in {nights}, since {first}.",
            *_alike(change),
            *_surroundings(change),
        )
        return News(f"{name} cannot be measured any more", lines, False, change.name)
    lines = (
        f"{name}: {_times(change, report)}{_since(change, report)}.",
        *_why(change),
        *_alike(change),
        *_limited(change),
        *_surroundings(change),
    )
    return News(headline(change), lines, _is_faster(change), change.name)


def headline(change: Change) -> str:
    """A change in a few words: ``index takes 2.3 times as long``."""
    name = named(change.name)
    if change.kind == OUTAGE:
        return f"{name} cannot be measured"
    if change.kind == CREEP and change.per_week is not None:
        return f"{name} gets {'faster' if change.per_week < 1 else 'slower'}, {_a_week(change.per_week)}"
    by = "another time" if change.ratio is None else _by(change.ratio)
    more = " because there is more to do" if change.kind == GROWTH else ""
    return f"{name} takes {by}{more}"


def _a_week(per_week: float) -> str:
    return f"{format_ratio(abs(per_week - 1))} a week"


def _is_faster(change: Change) -> bool:
    return change.ratio is not None and change.ratio < 1


def _by(ratio: float) -> str:
    if ratio >= _TIMES:
        return f"{ratio:.2g} times as long"
    return f"{format_ratio(ratio - 1)} longer" if ratio >= 1 else f"{format_ratio(1 - ratio)} less time"


def _times(change: Change, report: ScanReport) -> str:
    """``4 min 10 s → 9 min 35 s, 2.3 times as long (2.1 to 2.5)``."""
    after = _now(change, report) if change.after_s is None else change.after_s
    parts = []
    if change.before_s is not None and after is not None:
        parts.append(f"{format_duration(change.before_s)} → {format_duration(after)}")
    elif after is not None and change.ratio:
        parts.append(f"about {format_duration(after / change.ratio)} → {format_duration(after)}")
    if change.ratio is not None:
        parts.append(_by(change.ratio) + _between(change))
    return ", ".join(parts) or "its time changed"


def _now(change: Change, report: ScanReport) -> float | None:
    return next((each.median_s for each in report.entry.took if each.name == change.name), None)


def _between(change: Change) -> str:
    """The interval, in the words of the ratio."""
    ratio, low, high = change.ratio, change.low, change.high
    if ratio is None or low is None or high is None:
        return ""
    if ratio >= _TIMES:
        return f" ({low:.2g} to {high:.2g})"
    ends = (low - 1, high - 1) if ratio >= 1 else (1 - high, 1 - low)
    return f" ({format_ratio(ends[0])} to {format_ratio(ends[1])})"


def _since(change: Change, report: ScanReport) -> str:
    first = night(change.since, report.entry.at.tzinfo)
    return f", since {first}, seen in {format_count(change.nights, 'night')}"


def _why(change: Change) -> Iterator[str]:
    if change.kind == CREEP and change.per_week is not None:
        yield f"It came little by little, {_a_week(change.per_week)}."
    if change.kind == GROWTH:
        yield "There is more to do than before; each part of it takes as long as it did."


def _alike(change: Change) -> Iterator[str]:
    if change.also:
        yield f"The same holds for {', '.join(named(name) for name in change.also)}."


def _limited(change: Change) -> Iterator[str]:
    now, before = _resource(change.resource), _resource(change.resource_before)
    if now is None:
        return
    beside = "as before" if now == before else f"before: {before}" if before else ""
    yield f"Limited by {now}{f' ({beside})' if beside else ''}."


def _resource(resource: str | None) -> str | None:
    kind, _, what = (resource or "").partition(":")
    return _RESOURCES[kind].format(what) if kind in _RESOURCES else None


def _surroundings(change: Change) -> Iterator[str]:
    when = "as it began" if change.kind in (CREEP, GROWTH) else "that night"
    if change.marks:
        yield f"Changed {when}{_marks(change)}."
    else:
        yield f"Nothing that pathtrace sees of the surroundings changed {when}."


def _marks(change: Change) -> str:
    first = ", the likeliest cause first" if len(change.marks) > 1 else ""
    listed = "; ".join(_mark(mark) for mark in change.marks[:_MOST_MARKS])
    more = len(change.marks) - _MOST_MARKS
    return f"{first}: {listed}{f'; and {more} more' if more > 0 else ''}"


def _mark(mark: EnvironmentMark) -> str:
    return f"{mark.what} {mark.before} → {mark.after}"


def _ended(change: Change, report: ScanReport) -> News:
    name, zone = named(change.name), report.entry.at.tzinfo
    until = f" until {night(change.ended_with, zone)}" if change.ended_with else ""
    during = f"from {night(change.since, zone)}{until}"
    over = (f"Changed as it ended{_marks(change)}.",) if change.marks else ()
    took = _now(change, report)
    now = "" if took is None else f", {format_duration(took)}"
    if change.kind == OUTAGE:
        lines = (f"{name} is measured again{now}. It could not be {during}.", *_alike(change), *over)
        return News(f"{name} is measured again", lines, True, change.name)
    by = "another time" if change.ratio is None else _by(change.ratio)
    if change.settled:
        still = headline(replace(change, kind=STEP))
        lines = (f"{still} than it did{now}. It changed {during} and stays there.", *_alike(change), *over)
        way = "faster" if _is_faster(change) else "slower"
        return News(f"{name} gets no {way}", lines, True, change.name)
    lines = (f"{name} takes what it took before{now}. It took {by} {during}.", *_alike(change), *over)
    return News(f"{name} takes what it took before", lines, not _is_faster(change), change.name)
