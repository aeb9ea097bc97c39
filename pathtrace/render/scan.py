"""A scan -> what a terminal shows: what happened, in words first, in a few lines. Fits 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from pathtrace.model.comparison import FASTER, SAME, SLOWER
from pathtrace.model.history import ENDED, FAILED, INTERRUPTED, NEW, SKIPPED, STANDING, Change
from pathtrace.model.report import Caveat
from pathtrace.model.scanning import Beside, Expectation, ScanReport
from pathtrace.render import wording
from pathtrace.render.alert_changes import headline
from pathtrace.render.alert_news import named, night
from pathtrace.render.layout import INDENT, bullet, line
from pathtrace.units import format_change, format_duration, format_ratio

MOST_DOUBTS = 8
"""A store of damaged runs must not hide the night."""
_TIMES = 2.0
_STATES = {NEW: "new", STANDING: "as told before", ENDED: "over"}


def scan_view(report: ScanReport, caveats: Sequence[Caveat], kept: str | None) -> RenderableType:
    """``kept``: where the night lies; None if it could not be kept."""
    return Group(*_lines(report, caveats, kept))


def _lines(report: ScanReport, caveats: Sequence[Caveat], kept: str | None) -> Iterator[RenderableType]:
    yield line(_outcome(report), "bold")
    yield from (line(f"{_said(each, report)}.", indent=INDENT) for each in _flows(report))
    judged = () if report.outcome == FAILED else report.expectations  # of nothing measured, nothing is said
    broken = [_broken(each) for each in judged if each.kept is not True]
    kept_ones = [_kept(each) for each in report.expectations if each.kept]
    if kept_ones:
        yield line(f"As expected: {', '.join(kept_ones)}.", indent=INDENT)
    for text in (*broken, *(_change(each, report) for each in report.changes)):
        yield bullet("!", Text(wording.plain(text)))
    yield from _doubts(caveats)
    yield line(_where(report, kept), "dim")


def _doubts(caveats: Sequence[Caveat]) -> Iterator[RenderableType]:
    told = [wording.caveat_line(caveat, subjects) for caveat, subjects in wording.distinct(caveats)]
    if len(told) > MOST_DOUBTS:
        told[MOST_DOUBTS:] = [f"and {len(told) - MOST_DOUBTS} more: --json has them all"]
    yield from (bullet("?", Text(wording.plain(text), "dim")) for text in told)


def _outcome(report: ScanReport) -> str:
    entry = report.entry
    reason = f": {entry.reason}" if entry.reason else ""
    waited = f" after {format_duration(report.waited_s)} of waiting" if report.waited_s >= 1 else ""
    if report.outcome == SKIPPED:
        return f"{entry.scenario}: this scan was skipped{waited}{reason}"
    if report.outcome == FAILED:
        return f"{entry.scenario}: this scan failed{reason}"
    if entry.status == INTERRUPTED:
        return f"{entry.scenario}: this scan was interrupted; what was measured is kept"
    took = f"measured in {format_duration(report.scan_s)}{waited}{_in_all(report)}"
    return f"{entry.scenario}: {'; '.join((*_first(report), took))}"


def _first(report: ScanReport) -> Iterator[str]:
    """What somebody must see who reads one line: what is broken, then what is new."""
    broken = (each.name for each in report.expectations if each.kept is False)
    fresh = (headline(each) for each in report.changes if each.state == NEW)
    known = [*(f"{named(name)} takes longer than it may" for name in broken), *fresh]
    if known:
        yield known[0] + (f", and {len(known) - 1} more" if len(known) > 1 else "")


def _in_all(report: ScanReport) -> str:
    if report.against is None:
        return "; there is nothing yet to hold it against"
    verdicts = [each.verdict for each in _flows_beside(report)]
    if any(verdict == SLOWER for verdict in verdicts):
        return f"; slower than {report.against}"
    if any(verdict == FASTER for verdict in verdicts):
        return f"; faster than {report.against}"
    if verdicts and all(verdict == SAME for verdict in verdicts):
        return f"; as before, by {report.against}"
    return f"; no sure difference from {report.against}"


def _flows(report: ScanReport) -> list[tuple[str, float]]:
    return [(each.name, each.median_s) for each in report.entry.took if "/" not in each.name]


def _flows_beside(report: ScanReport) -> list[Beside]:
    return [each for each in report.beside if "/" not in each.name]


def _said(flow: tuple[str, float], report: ScanReport) -> str:
    name, took_s = flow
    known = next((each for each in report.beside if each.name == name), None)
    said = f'"{name}" took {format_duration(took_s)}'
    if known is None:
        return said
    hop = _likeliest(name, report) if known.verdict == SLOWER else ""
    chance = "" if known.verdict in (SAME, SLOWER, FASTER) else ", which may be chance"
    bounds = f"{format_change(known.low)} to {format_change(known.high)}"
    return f"{said}, {_by(known)} ({format_duration(known.then_s)}; {bounds}){chance}{hop}"


def _by(each: Beside) -> str:
    """``12 % longer than before``."""
    if each.verdict == SAME:
        return "as before"
    if each.ratio >= _TIMES:
        return f"{each.ratio:.2g} times as long as before"
    more = each.ratio >= 1
    return f"{format_ratio(abs(each.ratio - 1))} {'longer' if more else 'less'} than before"


def _likeliest(flow: str, report: ScanReport) -> str:
    """The hop that lost most of the time."""
    slower = [each for each in report.beside if each.name.startswith(f"{flow}/") and each.verdict == SLOWER]
    if not slower:
        return ""
    most = max(slower, key=lambda each: each.now_s - each.then_s)
    return f", most of it at {most.name.partition('/')[2]}"


def _broken(each: Expectation) -> str:
    relative = each.limit_s is not None and each.said.startswith("+")
    limit = f"{each.said} ({wording.duration(each.limit_s)})" if relative else each.said
    if each.kept is None:
        return f'"{each.name}" may take {limit}, which is not judged: {each.reason}'
    state = _STATES[each.state or NEW]
    return f'"{each.name}" took {wording.duration(each.measured_s)} and may take {limit} ({state})'


def _kept(each: Expectation) -> str:
    """A share of more than before is broken only where that is sure; until then it is no praise either."""
    unsure = each.limit_s is not None and each.measured_s is not None and each.measured_s > each.limit_s
    words = (" again" if each.state == ENDED else "") + (" (not surely more)" if unsure else "")
    return f'"{each.name}" {each.said}{words}'


def _change(change: Change, report: ScanReport) -> str:
    since = night(change.since, report.entry.at.tzinfo)
    return f"{headline(change)}, since {since} ({_STATES[change.state]})"


def _where(report: ScanReport, kept: str | None) -> str:
    if kept is None:
        return "This night is not in the store."
    if report.entry.took:
        return f"More: pathtrace show {report.entry.id}"
    return f"Kept in {kept}"
