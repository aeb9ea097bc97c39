"""Changes, marks and notes of history in words, for a terminal with the figures beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pathtrace.model.history import COMPLETE, ENDED, OUTAGE, Change, EnvironmentMark, Note, PastScenario, Told
from pathtrace.model.scanning import EXPECTATION, FAILURE
from pathtrace.render import wording
from pathtrace.render.alert_changes import headline
from pathtrace.units import format_change

MOST_MARKS = 3


def change_lines(change: Change, noun: str) -> Iterator[str]:
    """What, by how much and since when; what limits it; what else changed with it, the likeliest first."""
    end = "stays there" if change.settled else "is over"
    over = "" if change.state != ENDED else f", and {end} since {change.ended_with or 'then'}"
    times = "" if change.kind == OUTAGE else _times(change)
    nights = wording.counted(change.nights, noun)
    yield f"{headline(change)}{times}, since {change.since}, seen in {nights}{over}."
    if change.also:
        yield f"The same holds for {', '.join(change.also)}."
    known = {change.resource, change.resource_before} - {None, "unknown"}
    if change.resource and known and change.kind != OUTAGE:
        as_before = change.resource_before in (None, change.resource)
        yield f"Limited by {change.resource}" + (
            ", as before." if as_before else f", before by {change.resource_before}."
        )
    if change.marks:
        likeliest = ", the likeliest cause first" if len(change.marks) > 1 else ""
        listed = "; ".join(mark_text(mark) for mark in change.marks[:MOST_MARKS])
        more = len(change.marks) - MOST_MARKS
        yield f"Changed with it{likeliest}: {listed}" + (f"; and {more} more." if more > 0 else ".")


def _times(change: Change) -> str:
    """``: 2 s → 2.4 s (+15 % to +25 %)``."""
    if change.before_s is None or change.after_s is None:
        return ""
    times = f": {wording.duration(change.before_s)} → {wording.duration(change.after_s)}"
    if change.low is None or change.high is None:
        return times
    return f"{times} ({format_change(change.low)} to {format_change(change.high)})"


def mark_text(mark: EnvironmentMark) -> str:
    return f"{mark.what}: {mark.before} → {mark.after}"


_OF_THE_SCAN = {
    EXPECTATION: ("{} takes longer than it may", "{} is within its limit again"),
    FAILURE: ("the scan of {} failed", "{} can be measured again"),
}


def told_text(told: Told) -> str:
    """What was told that night: ``told: index takes 20 % longer``."""
    if told.kind in _OF_THE_SCAN:
        return f"told: {_OF_THE_SCAN[told.kind][told.state == ENDED].format(told.name)}"
    change = Change(told.kind, told.name, told.state, told.since, 1, told.ratio, None, None)
    return f"told{' to be over' if told.state == ENDED else ''}: {headline(change)}"


def note_text(note: Note) -> str:
    file = f" ({note.file})" if note.file and note.text else note.file or ""
    return f"note of {note.at:%Y-%m-%d}: {note.text}{file}"


def steadiness(past: PastScenario) -> str:
    """Where no change was found: among how many nights none was, or how many it takes."""
    count = wording.counted(past.comparable, f"comparable {past.noun}")
    if past.comparable < past.needed:
        return f"{count}: a lasting change can show from {past.needed} on."
    if past.noun == "run" and past.comparable > past.newest:  # by hand: nobody told of what is older
        return f"No lasting change was found in the last {past.newest} of {count}."
    return f"No lasting change was found in {count}."


def tally(past: PastScenario) -> str:
    """``31 nights, 2026-11-01 to 2026-12-01: 29 complete, 2 skipped``."""
    entries = past.entries
    counts = Counter(entry.status for entry in entries)
    others = ", ".join(f"{count} {status}" for status, count in counts.items() if status != COMPLETE)
    first, last = f"{entries[0].at:%Y-%m-%d}", f"{entries[-1].at:%Y-%m-%d}"
    when = first if first == last else f"{first} to {last}"
    return f"{wording.counted(len(entries), past.noun)}, {when}" + (f"; {others}" if others else "")
