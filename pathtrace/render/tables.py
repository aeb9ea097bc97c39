"""A run and its report -> what a terminal shows: the verdict first, then what it rests on.

Builds rich values; streams, colour and width are the console's, which ``cli`` owns. Fits 80 columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text

from pathtrace.model.report import DatasetReport, FlowReport, HopReport, RankingEntry, Report, RequestsReport
from pathtrace.model.run import Activity, Run
from pathtrace.model.scenario import Flow
from pathtrace.render import wording
from pathtrace.render.conditions import start_layers, start_word
from pathtrace.render.layout import INDENT, Pairs, Row, Rows, bullet, heading, line
from pathtrace.render.over_time import over_time
from pathtrace.render.until import until_text
from pathtrace.units import format_count_rate, format_duration, format_rate, format_ratio

RANKED = 5
DOUBTS = 8
LITTLE_BYTES_PER_S = 1e3
"""Below this, other traffic is not worth its figures."""


def run_view(run: Run, report: Report, folder: str) -> RenderableType:
    """Everything a person reads of a run, in order of importance. ``folder`` is where it is stored."""
    return Group(
        *verdict(run, report),
        *findings(report),
        *hops(run, report),
        *reasons(report),
        *over_time(report),
        *requests(run, report),
        *ranking(report),
        *conditions(run, report),
        *doubts(run, report),
        *footer(run, folder),
    )


def verdict(run: Run, report: Report) -> Iterator[RenderableType]:
    """The answer, in at most three lines; then what was left out, if the run is not whole."""
    for number, text in enumerate(report.verdict.lines[:3]):
        yield line(text, "bold" if number == 0 else "")
    if run.status != "complete":
        yield line(f"This run is {run.status}: only what was measured stands below.", "yellow")


def findings(report: Report) -> Iterator[RenderableType]:
    if not report.findings:
        return
    yield heading("Found")
    for finding in report.findings:
        yield bullet("!", Text(wording.plain(finding.text)))
        yield from (line(evidence, "dim", 2 * INDENT) for evidence in finding.evidence)


def hops(run: Run, report: Report) -> Iterator[RenderableType]:
    """One row per hop under its flow's line."""
    flows = {flow.name: flow for flow in report.flows}
    rows: list[Row] = []
    for name, group in groupby(report.hops, key=lambda hop: hop.flow):
        members = tuple(group)
        rows.append(Row(above=_flow_line(run.scenario.flow(name), flows.get(name))))
        rows.extend(_hop_row(hop) for hop in members)
    yield heading("Hops", f"{wording.repeats_measured(report)}, start {start_word(run)}")
    header = ("hop", "bytes", "time", "throughput", "limited by")
    yield Rows(header, tuple(rows), right=frozenset({1, 2}))
    if any(hop.stand_in for hop in report.hops):
        yield line(wording.STAND_IN_NOTE, "dim", INDENT)
    if run.until is not None:
        yield line(until_text(run.until), "" if run.until.reached else "yellow", INDENT)


def _flow_line(flow: Flow, report: FlowReport | None) -> Text:
    text = Text(wording.plain(flow.name), "bold")
    rest: tuple[str, ...] = (wording.NOT_MEASURED,)
    if report is not None:
        rest = (wording.took(flow, report), wording.waits(report.waits), _within(report))
    return text.append("".join(f" · {part}" for part in (flow.frequency.text, *rest) if part), "not bold")


def _within(flow: FlowReport) -> str:
    match flow.within_acceptable_wait:
        case True:
            return "within the acceptable wait"
        case False:
            return "longer than the acceptable wait"
        case None:
            return ""


def _hop_row(hop: HopReport) -> Row:
    name = hop.name + (wording.STAND_IN_MARK if hop.stand_in else "")
    if hop.duration_s is None:
        return Row((name, "", "", wording.NOT_MEASURED, hop.limited_by.resource))
    time, moved = wording.duration(hop.duration_s), wording.size(hop.bytes)
    cells = (name, moved, time, wording.rate(hop.throughput), hop.limited_by.resource)
    return Row(cells, below=tuple(_asides(hop)))


def _asides(hop: HopReport) -> Iterator[Text]:
    """What else must be known of one hop, each where it applies."""
    frequency = hop.frequency
    if frequency.observed is not None and frequency.observed != frequency.declared:
        yield Text(wording.plain(f"observed {frequency.observed}: {frequency.evidence}"), "yellow")
    if hop.errors:
        yield Text(f"{wording.counted(hop.errors, 'operation')} failed", "yellow")
    if hop.first is not None and hop.first.duration_s != hop.duration_s:
        rate = "" if hop.first.bytes_per_s is None else f", {format_rate(hop.first.bytes_per_s)}"
        yield Text(f"first repeat: {format_duration(hop.first.duration_s)}{rate}", "dim")
    if hop.wire is not None and hop.wire.bytes is not None:
        yield Text(wording.on_the_wire(hop.wire), "dim")


def reasons(report: Report) -> Iterator[RenderableType]:
    """Per hop: the evidence for what limits it, or what to measure next."""
    if not report.hops:
        return
    yield heading("Why")
    yield Pairs(tuple((each.hop.name, _reason(each)) for each in wording.reasons_once(report.hops)))


def _reason(reason: wording.Reason) -> Text:
    limit = reason.hop.limited_by
    text = Text(wording.plain(limit.resource), "bold")
    if limit.also:
        text.append(wording.plain(f", nearly {', '.join(limit.also)}"), "not bold")
    if limit.while_busy != limit.resource:
        text.append(wording.plain(f" ({limit.while_busy} while it works)"), "not bold")
    if reason.evidence:
        text.append(wording.plain(f": {reason.evidence}"), "not bold")
    if reason.next_measurement:
        text.append(wording.plain(f". Next: {reason.next_measurement}"), "not bold yellow")
    return text


def requests(run: Run, report: Report) -> Iterator[RenderableType]:
    if not report.requests:
        return
    workload = run.scenario.workload
    loop = (
        "closed loop" if workload.rate_per_s is None else f"{format_count_rate(workload.rate_per_s)} arrive"
    )
    wait = workload.acceptable_wait_s
    within = "within limit" if wait is None else f"within {format_duration(wait)}"
    yield heading("Requests", f"{loop}; waits are from asking to the answer's end")
    header = ("users", "answers", "p50", "p90", "first token", "tokens", "rate", within)
    rows = tuple(Row(_request_cells(entry)) for entry in (*report.requests, *report.after_idle))
    yield Rows(header, rows, right=frozenset(range(len(header))))


def _pause(idle_s: float) -> str:
    return f"after {format_duration(idle_s)} idle"


def _request_cells(entry: RequestsReport) -> tuple[str, ...]:
    failed = f" ({wording.number(entry.errors)} failed)" if entry.errors else ""
    return (
        wording.number(entry.users) if entry.after_idle_s is None else _pause(entry.after_idle_s),
        wording.number(entry.count) + failed,
        wording.duration(entry.latency.p50_s),
        wording.duration(entry.latency.p90_s),
        wording.duration(entry.time_to_first_token_s),
        wording.NOTHING if entry.tokens_per_s is None else format_count_rate(entry.tokens_per_s),
        wording.NOTHING if entry.per_s is None else format_count_rate(entry.per_s),
        wording.NOTHING
        if entry.within_acceptable_wait is None
        else format_ratio(entry.within_acceptable_wait),
    )


def ranking(report: Report) -> Iterator[RenderableType]:
    """Where a day's waiting goes, and what to do about each; the smallest are summed up."""
    if not report.ranking:
        return
    yield heading("Waiting per day", "people's before jobs'")
    shown, rest = wording.worth_showing(report.ranking, RANKED)
    if any(entry.stand_in for entry in shown):
        yield line("rests on stand-ins, marked *: real parts may rank otherwise", "yellow", INDENT)
    header = ("", "a day", "each", "of flow", "who waits", "limited by")
    rows = tuple(_ranking_row(entry, advice) for entry, advice in wording.advised_once(shown))
    yield Rows(header, rows, right=frozenset({1, 2, 3}))
    if rest:
        total = format_duration(sum(entry.seconds_per_day for entry in rest))
        yield line(f"and {len(rest)} more{_between(shown, rest)}, together {total} a day", "dim", INDENT)


def _between(shown: Sequence[RankingEntry], rest: Sequence[RankingEntry]) -> str:
    """Which numbers are not among those shown, so that nobody looks for them."""
    skipped = [f"{entry.rank}." for entry in rest if entry.rank < shown[-1].rank]
    return f" ({', '.join(skipped)} among them)" if skipped else ""


def _ranking_row(entry: RankingEntry, advice: str) -> Row:
    mark = wording.STAND_IN_MARK if entry.stand_in else ""
    where = Text(wording.plain(f"{entry.flow}, {entry.stage}{mark}"))
    if advice:
        where.append(" → ", "green").append(wording.plain(advice))
    return Row(
        (
            f"{entry.rank}.",
            format_duration(entry.seconds_per_day),
            format_duration(entry.seconds_per_execution),
            format_ratio(entry.share),
            entry.waits,
            entry.resource,
        ),
        below=(where,),
    )


def _dataset(entry: DatasetReport) -> str:
    listed = "" if entry.listing_s is None else f", listed in {format_duration(entry.listing_s)}"
    return f"{wording.counted(entry.files or 0, 'file')}, {wording.size(entry.bytes)}{listed}"


def conditions(run: Run, report: Report) -> Iterator[RenderableType]:
    """Under which conditions the figures hold: layers with evidence, data, what else went on."""
    yield heading("Start condition", start_word(run))
    rows = [
        (f"{layer.name.replace('_', ' ')} {layer.state}", layer.evidence)
        for layer in start_layers(run)
        if layer.present
    ]
    rows += [
        (f"data of {entry.place}", _dataset(entry)) for entry in report.dataset if entry.files is not None
    ]
    rows += [(f"others on {activity.host}", _activity(activity)) for activity in run.activity]
    yield Pairs(tuple((name, Text(wording.plain(said))) for name, said in rows))


def _activity(activity: Activity) -> str:
    said = [
        None if activity.cpu_percent is None else f"CPU {activity.cpu_percent:.1f} %",
        _traffic("disk", activity.disk_bytes_per_s),
        _traffic("network", activity.network_bytes_per_s),
        *activity.notable,
    ]
    return ", ".join(part for part in said if part) or "not known"


def _traffic(what: str, bytes_per_s: float | None) -> str | None:
    if bytes_per_s is None:
        return None
    if 0 < bytes_per_s < LITTLE_BYTES_PER_S:
        return f"{what} <0.001 MB/s"
    return f"{what} {format_rate(bytes_per_s)}"


def doubts(run: Run, report: Report) -> Iterator[RenderableType]:
    """Each caveat once, with its remedy."""
    caveats = wording.all_caveats(run, report)
    if not caveats:
        return
    yield heading("Mind")
    for caveat, subjects in caveats[:DOUBTS]:
        text = Text(wording.caveat_line(caveat, subjects))
        yield bullet("•", text.append(f" → {wording.plain(caveat.remedy)}", "dim") if caveat.remedy else text)
    if len(caveats) > DOUBTS:
        yield line(f"and {len(caveats) - DOUBTS} more in report.md", "dim", INDENT)


def footer(run: Run, folder: str) -> Iterator[RenderableType]:
    yield Text("")
    yield line(wording.own_cost(run.cost), "dim")
    yield line(f"Stored: {wording.stored(run)}, {wording.duration(run.duration_s)}, in {folder}", "dim")
