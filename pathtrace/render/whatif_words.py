"""A change and what it gives, in the words of somebody who would buy or set it."""

from __future__ import annotations

from collections.abc import Sequence

from pathtrace.model.prediction import Change, Changed, FlowPrediction
from pathtrace.units import BITS_PER_BYTE, format_both, format_duration, format_link, format_rate

_SOLD = (1, 2.5, 5, 10, 25, 40, 50, 100, 200, 400, 800)
"""Gbit/s that Ethernet is sold by."""
_GIGABIT = 1e9
FELT = 0.01
"""Of a flow's time."""


def change_words(change: Change) -> str:
    """``10GbE on lan``, ``batch 500 at library``, ``model loaded``."""
    subject, after = change.subject, value_words(change, change.after)
    match change.kind:
        case Changed.LINK:
            return f"{_speed(change.after)} on {subject}"
        case Changed.NEW_LINK:
            return f"a new {_speed(change.after)} link {' - '.join(change.hosts)}"
        case Changed.LATENCY:
            return f"a round trip of {after} on {subject}"
        case Changed.DISK:
            return f"a disk of {after} under {subject}"
        case Changed.COMMIT:
            return f"commits in {after} at {subject}"
        case Changed.LOADED:
            return f"{subject} loaded"
        case _:
            return f"{change.kind} {after} at {subject}"


def changes_words(changes: Sequence[Change]) -> str:
    """All of them, made together."""
    return " and ".join(change_words(each) for each in changes)


def value_words(change: Change, value: float | None) -> str | None:
    """Before or after, in the unit that people know it by; None if it is not known."""
    if change.words is not None:
        return change.words[0] if value is None else change.words[1]
    if value is None:
        return None
    match change.unit:
        case "bytes_per_s":
            return format_rate(value) if change.kind is Changed.DISK else format_both(value)
        case "s":
            return format_duration(value)
        case "flag":
            return "yes" if value else "no"
        case _:
            return f"{value:,.0f}"


def gives(flow: FlowPrediction) -> str:
    """``index 4 min → 1 min 40 s (1 min 30 s – 2 min)``; of requests what one of them takes."""
    after = flow.after_s
    if after is None:
        return f"{flow.name} not known"
    if is_unchanged(flow):
        return f"{flow.name} unchanged"
    if flow.request is None or not after.expected:
        times = (flow.before_s, after.expected, after.low, after.high)
        each = ""
    else:
        before, expected = flow.request
        part = expected / after.expected
        times, each = (before, expected, after.low * part, after.high * part), " a request"
    before_text, expected_text, low, high = (format_duration(time) for time in times)
    within = "" if low == expected_text == high else f" ({low} – {high})"
    return f"{flow.name} {before_text} → {expected_text}{within}{each}"


def is_unchanged(flow: FlowPrediction) -> bool:
    """True if nothing of it is touched; not if what touches it happens to give nothing."""
    after = flow.after_s
    return after is not None and after.low == after.expected == after.high == flow.before_s


def is_felt(flow: FlowPrediction) -> bool:
    """True if it takes noticeably more or less time than before."""
    after = flow.after_s
    return after is not None and abs(after.expected - flow.before_s) >= FELT * flow.before_s


def _speed(bytes_per_s: float) -> str:
    gigabits = round(bytes_per_s * BITS_PER_BYTE / _GIGABIT, 6)
    return f"{gigabits:g}GbE" if gigabits in _SOLD else format_link(bytes_per_s)
