"""The words of a scan for somebody who reads them on a phone, and has nothing else at hand.

What is new or over is told; what was told before is only recalled beside it. How the words travel is
``telling``'s, and whether something changed ``analysis`` has decided.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from pathtrace.model.history import ENDED, FAILED, NEW, SKIPPED, STANDING
from pathtrace.model.scanning import Expectation, Message, ScanReport
from pathtrace.render.alert_changes import headline, news_of
from pathtrace.render.alert_news import News, named
from pathtrace.render.wording import plain
from pathtrace.units import format_duration

_MOST = 5
"""So many are told in full: some services take no more than 4,000 letters."""


def alert(report: ScanReport) -> Message | None:
    """What is to be told of this scan; None where there is nothing new and nothing over."""
    news = sorted(_news(report), key=lambda each: each.good)
    if not news:
        return None
    more = f", and {len(news) - 1} more" if len(news) > 1 else ""
    title = f"{report.entry.scenario} on {report.host}: {news[0].headline}{more}"
    paragraphs = ["\n".join(each.lines) for each in news[:_MOST]]
    parts = [*paragraphs, *_rest(news[_MOST:]), *_still(report), _next(news, report), _footer(report)]
    line = " ".join(plain(title).split())  # a mail's subject, among others
    return Message(line, plain("\n\n".join(parts)), all(each.good for each in news))


def _rest(news: list[News]) -> Iterator[str]:
    if news:
        yield "And: " + "; ".join(each.headline for each in news) + "."


def in_short(report: ScanReport) -> str:
    """What became of the scan, in a line, and what is to be told of it: the text of a healthcheck."""
    message = alert(report)
    return _outcome(report) if message is None else f"{_outcome(report)}\n\n{message.title}\n\n{message.body}"


def is_bad(report: ScanReport) -> bool:
    """True if a healthcheck must hear of a failure: nothing was measured, or an expectation is broken."""
    return report.outcome == FAILED or any(each.kept is False for each in report.expectations)


def _outcome(report: ScanReport) -> str:
    entry = report.entry
    reason = f": {entry.reason}" if entry.reason else ""
    if report.outcome in (SKIPPED, FAILED):
        became = "failed" if report.outcome == FAILED else "was skipped"
        return plain(f"The scan of {entry.scenario} on {report.host} {became}{reason}")
    took = format_duration(report.scan_s)
    against = f", held against {report.against}" if report.against else ", nothing to hold it against yet"
    return plain(f"{entry.scenario} on {report.host} was measured in {took}{against}{reason}")


def _news(report: ScanReport) -> Iterator[News]:
    if report.failure in (NEW, ENDED):
        yield _failure(report)
    for expectation in report.expectations:
        if expectation.state in (NEW, ENDED):
            yield _expectation(expectation, report)
    for change in report.changes:
        if change.state in (NEW, ENDED):
            yield news_of(change, report)


def _failure(report: ScanReport) -> News:
    if report.failure == ENDED:
        return News("the scan measures again", (_all_took(report),), True)
    reason = report.entry.reason or "the reason is not known"
    lines = (
        f"The scan failed: {reason}.",
        "Nothing was measured. This is told once, and again when it is over.",
    )
    return News("the scan failed", lines, False, check=True)


def _all_took(report: ScanReport) -> str:
    flows = (each for each in report.entry.took if "/" not in each.name)
    listed = ", ".join(f"{flow.name} took {format_duration(flow.median_s)}" for flow in flows)
    return f"The scan measures again: {listed}." if listed else "The scan measures again."


def _expectation(expectation: Expectation, report: ScanReport) -> News:
    name, limit = named(expectation.name), _limit(expectation, report)
    if expectation.measured_s is None:
        reason = f": {expectation.reason}" if expectation.reason else ""
        line = f"{name} was not measured{reason}; {limit}."
        return News(f"{name} was not measured", (line,), expectation.state == ENDED, expectation.name)
    line = f"{name} took {format_duration(expectation.measured_s)}; {limit}."
    if expectation.state == ENDED:
        return News(f"{name} is within its limit again", (line,), True, expectation.name)
    return News(f"{name} takes longer than it may", (line,), False, expectation.name)


def _limit(expectation: Expectation, report: ScanReport) -> str:
    said = expectation.said.strip()
    if expectation.limit_s is None:
        return f"it may take {said}"
    if not said.startswith("+"):
        return f"it may take {format_duration(expectation.limit_s)} at most"
    than = report.against or "the baseline"
    return f"it may take {format_duration(expectation.limit_s)} at most, {said} of {than}"


def _still(report: ScanReport) -> Iterator[str]:
    """What was told before and goes on: the new is read beside it."""
    standing = [headline(change) for change in report.changes if change.state == STANDING]
    broken = [
        f"{named(each.name)} takes longer than it may"
        for each in report.expectations
        if each.state == STANDING
    ]
    if standing or broken:
        yield "As told before: " + "; ".join((*standing, *broken)) + "."


def _next(news: list[News], report: ScanReport) -> str:
    scenario = shlex.quote(report.entry.scenario)
    about = next((each.about for each in news if each.about), None)
    if about is None:
        steps = (
            "pathtrace check with this scenario's file" if news[0].check else f"pathtrace history {scenario}"
        )
        return f"Next: {steps}"
    flow = shlex.quote(about.split("/")[0])
    return f"Next: pathtrace history {scenario} --flow {flow}\nor: pathtrace show {report.entry.id}"


def _footer(report: ScanReport) -> str:
    at = report.entry.at
    zone = f" {at:%Z}" if at.tzinfo else ""
    return f"Scan of {report.entry.scenario} on {report.host}, {at:%a %d %b %Y %H:%M}{zone}."
