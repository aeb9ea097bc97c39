"""History -> what a terminal shows: what changed, then the trend of each flow and hop, then the nights.

Several scenarios are shown one below the other, each in short. Whether something changed ``analysis`` has
decided; how a change is put into words is for ``history_words``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from statistics import median

from rich.console import Group, RenderableType
from rich.text import Text

from pathtrace.model.history import COMPLETE, HistoryEntry, PastScenario, Took
from pathtrace.model.report import Caveat
from pathtrace.render import wording
from pathtrace.render.history_words import change_lines, mark_text, note_text, steadiness, tally, told_text
from pathtrace.render.layout import INDENT, Row, Rows, bullet, heading, line
from pathtrace.render.trend import grouped, trend
from pathtrace.units import format_change, format_duration

NIGHTS = 20
"""That are listed where nobody asked for a number."""
MOST_MARKS = 6
"""Of a night: on another machine everything differs."""
MOST_DOUBTS = 5
SUDDEN = 1.1
"""So many times the operations of the run before is other work, and no growth."""


def history_view(
    scenarios: Sequence[PastScenario], caveats: Sequence[Caveat], flow: str | None, nights: int | None
) -> RenderableType:
    """``flow``: with its hops, and no other. ``nights``: how many are listed; None: ``NIGHTS``."""
    parts: list[RenderableType] = []
    for number, past in enumerate(scenarios):
        if number:
            parts.append(Text(""))
        parts += _whole(past, flow, nights) if len(scenarios) == 1 else _in_short(past, flow)
    if not scenarios:
        parts.append(line("No run has been stored yet: pathtrace run SCENARIO makes one."))
    if len(scenarios) > 1:
        parts += [
            Text(""),
            line(f"One of them with its nights: pathtrace history {scenarios[-1].name}", "dim"),
        ]
    return Group(*parts, *_doubts(caveats))


def _whole(past: PastScenario, flow: str | None, nights: int | None) -> Iterator[RenderableType]:
    yield from _changes(past, flow)
    yield from _trends(past, flow)
    yield from _nights(past, flow, NIGHTS if nights is None else nights)


def _in_short(past: PastScenario, flow: str | None) -> Iterator[RenderableType]:
    yield line(past.name, "bold")
    yield from _changes(past, flow)
    yield from _trends(past, flow)


def _changes(past: PastScenario, flow: str | None) -> Iterator[RenderableType]:
    found = [each for each in past.changes if flow is None or each.name.partition("/")[0] == flow]
    for change in found:
        first, *more = change_lines(change, past.noun)
        yield line(first, "bold")
        yield from (line(text, indent=INDENT) for text in more)
    if not found:
        yield line(steadiness(past), "bold")


def _trends(past: PastScenario, flow: str | None) -> Iterator[RenderableType]:
    """A row for each flow and below it its hops, of the work that the last run did."""
    like = _like_the_last(past.entries)
    if not like:
        return
    times = _times(like, _names(like, flow))
    last = next(entry for entry in reversed(like) if entry.took)
    baseline = past.baseline if past.baseline is not None and _is_like(past.baseline, last) else None
    yield heading(f"Trend of {past.name}", tally(past))
    header = ("", "usual" if baseline is None else "baseline", "last", "change", "oldest to newest")
    rows = [_trend_row(name, times[name], baseline) for name in times]
    changed = _changed(past, like)
    if changed.strip():
        rows.append(Row(("surroundings changed", "", "", "", changed)))
    yield Rows(header, tuple(rows), right=frozenset({1, 2, 3}))


def _like_the_last(entries: Sequence[HistoryEntry]) -> tuple[HistoryEntry, ...]:
    """Nights that did the work of the last run, and those without one, which are gaps."""
    last = next((entry for entry in reversed(entries) if entry.took), None)
    if last is None:
        return ()
    return tuple(entry for entry in entries if not entry.took or _is_like(entry, last))


def _is_like(one: HistoryEntry, other: HistoryEntry) -> bool:
    return (one.workload_fingerprint, one.start) == (other.workload_fingerprint, other.start)


def _names(like: Sequence[HistoryEntry], flow: str | None) -> tuple[str, ...]:
    """As the last night that has figures names them; behind them what it lacks of the one that has most."""
    last = next((entry.took for entry in reversed(like) if entry.took), ())
    most = max((entry.took for entry in like), key=len)
    found = dict.fromkeys(each.name for each in (*last, *most))
    return tuple(name for name in found if flow in (None, name.partition("/")[0]))


def _times(entries: Sequence[HistoryEntry], names: Sequence[str]) -> Mapping[str, list[float | None]]:
    """Of each its medians, night by night; None where it was not measured."""
    found: dict[str, list[float | None]] = {name: [None] * len(entries) for name in names}
    for number, entry in enumerate(entries):
        for took in entry.took:
            if took.name in found:
                found[took.name][number] = took.median_s
    return found


def _trend_row(name: str, times: Sequence[float | None], baseline: HistoryEntry | None) -> Row:
    flow, _, hop = name.partition("/")
    known = [value for value in times if value is not None]
    now_s = known[-1] if known else None
    then_s = median(known[:-1]) if len(known) > 1 else None
    if baseline is not None:
        then_s = next((took.median_s for took in baseline.took if took.name == name), None)
    cells = (wording.duration(then_s), wording.duration(now_s), _change(then_s, now_s), trend(times))
    return Row((f"  {hop}" if hop else flow, *cells))


def _change(then_s: float | None, now_s: float | None) -> str:
    return wording.NOTHING if not then_s or now_s is None else format_change(now_s / then_s)


def _changed(past: PastScenario, like: Sequence[HistoryEntry]) -> str:
    """A sign below each bar in whose nights something of the surroundings was not as in the run before."""
    marked = {mark.run for mark in past.marks}
    return "".join("^" if any(entry.id in marked for entry in group) else " " for group in grouped(like))


def _nights(past: PastScenario, flow: str | None, most: int) -> Iterator[RenderableType]:
    shown = past.entries[-most:]
    left = len(past.entries) - len(shown)
    names = _columns(shown, flow)
    detail = f"the last {len(shown)}; {wording.counted(left, 'older one')} with --limit" if left else ""
    yield heading(f"{past.noun.capitalize()}s", detail)
    header = ("", *(name.rpartition("/")[2] for name in names), "")
    back = {
        after.id: before.at - after.at for before, after in pairwise(past.entries) if after.at < before.at
    }
    like = {entry.id for entry in _like_the_last(past.entries)}
    before = {after.id: one for one, after in pairwise(entry for entry in past.entries if entry.took)}
    rows = tuple(
        Row(
            (entry.id, *_cells(entry, names), _words(entry, entry.id in like)),
            below=(*_more_work(entry, before.get(entry.id), names), *_below(past, entry, back.get(entry.id))),
        )
        for entry in shown
    )
    yield Rows(header, rows, right=frozenset(range(1, 1 + len(names))))


def _columns(entries: Sequence[HistoryEntry], flow: str | None) -> tuple[str, ...]:
    """Flows; of one flow, which was asked for, its hops too."""
    names = dict.fromkeys(took.name for entry in reversed(entries) for took in entry.took)
    if flow is None:
        return tuple(name for name in names if "/" not in name)
    return tuple(name for name in names if name.partition("/")[0] == flow)


def _cells(entry: HistoryEntry, names: Sequence[str]) -> Iterator[str]:
    took: dict[str, Took] = {each.name: each for each in entry.took}
    yield from (format_duration(took[name].median_s) if name in took else wording.NOTHING for name in names)


def _words(entry: HistoryEntry, like_the_last: bool) -> str:
    """What a night is, behind its figures. One that is not held against the last says so."""
    words = (
        *(() if entry.status == COMPLETE else (entry.status,)),
        *(() if like_the_last else ("other work or start",)),
        *(("baseline",) if entry.baseline else ()),
        *(("pinned",) if entry.pinned else ()),
        *((entry.label,) if entry.label else ()),
    )
    return ", ".join(words)


def _more_work(entry: HistoryEntry, before: HistoryEntry | None, names: Sequence[str]) -> Iterator[Text]:
    """Flows that had suddenly more or less to do than the run before; slow growth is no news."""
    earlier = {each.name: each.operations for each in (before.took if before else ())}
    for each in entry.took:
        was, now = earlier.get(each.name), each.operations
        if each.name not in names or "/" in each.name or not was or not now:
            continue
        if not 1 / SUDDEN < now / was < SUDDEN:
            yield Text(wording.plain(f"{each.name}: {was:,} → {now:,} operations"), "yellow")


def _below(past: PastScenario, entry: HistoryEntry, back: timedelta | None) -> Iterator[Text]:
    if entry.reason:
        yield Text(wording.plain(entry.reason), "dim")
    if back is not None:
        behind = format_duration(back.total_seconds())
        yield Text(f"its clock was {behind} behind that of the one before: it was set back", "yellow")
    marks = [mark for mark in past.marks if mark.run == entry.id]
    yield from (Text(wording.plain(mark_text(mark)), "yellow") for mark in marks[:MOST_MARKS])
    if len(marks) > MOST_MARKS:
        yield Text(f"and {len(marks) - MOST_MARKS} more of its surroundings", "yellow")
    yield from (Text(told_text(told), "bold") for told in past.told if told.night == entry.id)
    yield from (Text(wording.plain(note_text(note)), "italic") for note in entry.notes)


def _doubts(caveats: Sequence[Caveat]) -> Iterator[RenderableType]:
    if not caveats:
        return
    yield heading("Mind")
    for caveat in caveats[:MOST_DOUBTS]:
        remedy = f"; {caveat.remedy}" if caveat.remedy else ""
        yield bullet("•", Text(wording.plain(f"{caveat.text}{remedy}")))
    if len(caveats) > MOST_DOUBTS:
        yield bullet("•", Text(f"and {len(caveats) - MOST_DOUBTS} more: --json has them all"))
