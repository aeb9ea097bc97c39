"""``report.md``: one page on one run, for whoever decides about the purchase.

In this order: question, verdict, task, configuration, start condition, result, spread, what a change would
give, what was not measured. CommonMark with tables; every text that came from outside is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pathtrace.model.prediction import Upgrade, Upgrades
from pathtrace.model.report import Report
from pathtrace.model.run import Run
from pathtrace.model.scenario import FrequencyKind, ModelCard
from pathtrace.render import wording
from pathtrace.render.conditions import start_layers, start_word
from pathtrace.render.until import until_text
from pathtrace.render.upgrades import NOTHING
from pathtrace.render.whatif import SELF_CHECK, check_words, is_sound, is_wide
from pathtrace.render.whatif_words import changes_words, gives, is_felt
from pathtrace.units import format_bytes, format_count_rate, format_duration, format_link, format_ratio

NOT_STATED = "not stated"
RANKED = 5
UPGRADES = 4
LEAST_SAVED_S = 1.0
"""A day: less is not worth a line."""
_SPECIAL = re.compile(r"([\\`*\[\]<|~]|(?<!\w)_|_(?!\w)|^[>#+-])")
"""Signs that Markdown reads anywhere, underscores at a word's edge, and what counts at a line's start."""


def run_page(run: Run, report: Report, upgrades: Upgrades | None = None) -> str:
    """The page's text. ``upgrades`` None: nothing was predicted, and the page says nothing of it."""
    lines = [
        *_head(run, report),
        *_task(run),
        *_configuration(run, report),
        *_start(run, report),
        *_result(run, report),
        *(() if upgrades is None else _what_if(upgrades)),
        *_not_measured(run, report),
        "",
        f"{escaped(wording.own_cost(run.cost))}. {escaped(wording.stored(run))}, {run.started_at}, "
        f"pathtrace {escaped(run.environment.pathtrace)}.",
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """``text`` on one line, with nothing in it that Markdown would read as its own."""
    return _SPECIAL.sub(r"\\\1", " ".join(wording.plain(text).split()))


def _head(run: Run, report: Report) -> Iterator[str]:
    yield f"# {escaped(run.scenario.name)}"
    yield ""
    yield f"**Question:** {escaped(run.scenario.question or NOT_STATED)}"
    yield ""
    yield "## Verdict"
    yield ""
    yield from (f"- {escaped(text)}" for text in report.verdict.lines)
    if run.status != "complete":
        yield f"- This run is **{run.status}**: only what was measured stands below."
    yield from (f"- {escaped(finding.text)}" for finding in report.findings)


def _task(run: Run) -> Iterator[str]:
    workload = run.scenario.workload
    users = ", ".join(wording.number(count) for count in workload.users)
    load = f"{users} at a time" if workload.rate_per_s is None else format_count_rate(workload.rate_per_s)
    wait = NOT_STATED if workload.acceptable_wait_s is None else format_duration(workload.acceptable_wait_s)
    yield from section("Task")
    yield f"- Application: {escaped(workload.application or NOT_STATED)}"
    yield f"- Model: {escaped(_model(workload.model))}"
    if any(flow.frequency.kind is FrequencyKind.PER_REQUEST for flow in run.scenario.flows):
        yield f"- Requests: {wording.number(workload.requests)} a repeat, {load}; acceptable wait: {wait}"
    for flow in run.scenario.flows:
        path = " → ".join(flow.path)
        waits = wording.waits(flow.waits)
        yield f"- Flow {escaped(flow.name)}, {escaped(flow.frequency.text)}, {waits}: {escaped(path)}"


def _model(card: ModelCard) -> str:
    tokens = (("context", card.context), ("input", card.input), ("output", card.output))
    limits = [f"{name} {wording.number(count)} tokens" for name, count in tokens if count is not None]
    named = [text for text in (card.name, card.revision, card.precision, card.runtime) if text]
    return ", ".join(named + limits) or NOT_STATED


def _configuration(run: Run, report: Report) -> Iterator[str]:
    yield from section("Configuration")
    for host in run.environment.hosts:
        cpu = f"{host.cpu or 'CPU not known'}, {wording.counted(host.cores, 'core')}"
        memory = f"{format_bytes(host.memory_bytes)} memory" if host.memory_bytes else "memory not known"
        facts = (cpu, memory, host.kernel, *host.gpus, *host.servers)
        yield f"- {escaped(host.name)}: {escaped(', '.join(facts))}"
    for link in run.scenario.links:
        speed = "speed not stated" if link.speed_bytes_per_s is None else format_link(link.speed_bytes_per_s)
        yield f"- Link {escaped(link.name)}: {escaped(', '.join(link.hosts))}, {link.kind}, {speed}"
    for entry in report.dataset:
        files = "files not counted" if entry.files is None else wording.counted(entry.files, "file")
        print_ = f", fingerprint {escaped(entry.fingerprint)}" if entry.fingerprint else ""
        yield f"- Data of {escaped(entry.place)}: {files}, {wording.size(entry.bytes)}{print_}"
    stand_ins = [place.name for place in run.scenario.places if place.stand_in]
    if stand_ins:
        yield f"- Stand-ins, made or done by pathtrace itself: {escaped(', '.join(stand_ins))}"


def _start(run: Run, report: Report) -> Iterator[str]:
    yield from section("Start condition")
    yield f"Start {start_word(run)}; {wording.counted(len(report.repeats), 'repeat')}."
    yield ""
    for layer in start_layers(run):
        if layer.present:
            yield f"- {layer.name.replace('_', ' ')}: {layer.state} ({escaped(layer.evidence)})"


def _result(run: Run, report: Report) -> Iterator[str]:
    yield from section(f"Result and spread ({wording.repeats_measured(report)})")
    header = ("flow", "hop", "bytes", "time", "throughput", "limited by", "evidence")
    yield from table(header, [_hop(each) for each in wording.reasons_once(report.hops)])
    yield ""
    for flow in report.flows:
        took = wording.took(run.scenario.flow(flow.name), flow)
        yield f"- {escaped(flow.name)}: {took}, {wording.waits(flow.waits)}"
    if run.until is not None:
        yield f"- Repeated {escaped(until_text(run.until))}"
    for entry in report.requests:
        latency = entry.latency
        yield (
            f"- {wording.number(entry.count)} answers to {wording.number(entry.users)} at a time: "
            f"p50 {wording.duration(latency.p50_s)}, p90 {wording.duration(latency.p90_s)}, "
            f"first token {wording.duration(entry.time_to_first_token_s)}"
        )
    if report.ranking:
        yield from _ranking(report)


def _hop(reason: wording.Reason) -> tuple[str, ...]:
    hop = reason.hop
    limit = hop.limited_by
    name = hop.name + (" (stand-in)" if hop.stand_in else "")
    if hop.duration_s is None:
        return (hop.flow, name, "", wording.NOT_MEASURED, "", limit.resource, reason.evidence)
    time, moved = wording.duration(hop.duration_s), wording.size(hop.bytes)
    return (hop.flow, name, moved, time, wording.rate(hop.throughput), limit.resource, reason.evidence)


def _ranking(report: Report) -> Iterator[str]:
    yield ""
    yield "Waiting per day, people's before jobs':"
    yield ""
    rows = [
        (
            str(entry.rank),
            format_duration(entry.seconds_per_day),
            entry.waits,
            f"{entry.flow}, {entry.stage}" + (" (stand-in)" if entry.stand_in else ""),
            entry.resource,
            format_ratio(entry.share),
            advice or "as above",
        )
        for entry, advice in wording.advised_once(wording.worth_showing(report.ranking, RANKED)[0])
    ]
    yield from table(("", "a day", "who waits", "flow, stage", "limited by", "of flow", "advice"), rows)


def _what_if(upgrades: Upgrades) -> Iterator[str]:
    """The few best, of flows that come out as measured when they are played again unchanged."""
    yield from section("What if")
    sound = [flow.name for flow in upgrades.flows if is_sound(flow)]
    gained = [(each, _saved(each, sound)) for each in upgrades.ranked]
    rows = [_upgrade(each, saved, sound) for each, saved in gained if saved >= LEAST_SAVED_S]
    if rows:
        yield "Played again with one change each; the range in brackets. People's waiting comes before jobs'."
        yield ""
        yield from table(("saves a day", "what", "costs", "gives", "then limited by"), rows[:UPGRADES])
        yield ""
    elif sound:
        yield f"- {NOTHING}"
    elif not upgrades.flows:
        yield "- The run is too large to be played again in passing"
    for flow in upgrades.flows:
        if flow.name not in sound:
            off = f"played again unchanged it gives {escaped(check_words(flow).partition(': ')[2])}"
            yield f"- {escaped(flow.name)} is not predicted: {off}, more than {format_ratio(SELF_CHECK)} off"
    for name in upgrades.content:
        yield f"- {escaped(name)} comes within the acceptable wait: nothing needs buying for it"
    if upgrades.stand_ins:
        names = escaped(", ".join(upgrades.stand_ins))
        yield f"- Rests on stand-ins ({names}): real parts may gain more or less"
    yield f"- All of it, with what is not known: `pathtrace whatif {upgrades.run} --all`"


def _saved(each: Upgrade, flows: Sequence[str]) -> float:
    return sum(flow.seconds_per_day_saved for flow in each.prediction.flows if flow.name in flows)


def _upgrade(each: Upgrade, saved: float, sound: Sequence[str]) -> tuple[str, ...]:
    flows = [flow for flow in each.prediction.flows if flow.name in sound and is_felt(flow)]
    given = "; ".join(f"{gives(flow)}{', too wide to decide by' * is_wide(flow)}" for flow in flows)
    then = ", ".join(dict.fromkeys(flow.bottleneck_after for flow in flows))
    cost = "nothing" if each.free else "money"
    return (format_duration(saved), changes_words(each.prediction.changes), cost, given, then)


def _not_measured(run: Run, report: Report) -> Iterator[str]:
    yield from section("What was not measured, and what to mind")
    missing = [
        f"{hop.flow}, {hop.name}: {wording.NOT_MEASURED}" for hop in report.hops if hop.duration_s is None
    ]
    silent = [
        f"what limits {each.hop.name}: next, {each.next_measurement}"
        for each in wording.reasons_once(report.hops)
        if each.next_measurement
    ]
    doubts = [
        wording.caveat_line(caveat, subjects) + (f" → {caveat.remedy}" if caveat.remedy else "")
        for caveat, subjects in wording.all_caveats(run, report)
    ]
    said = [*missing, *silent, *doubts]
    yield from (f"- {escaped(text)}" for text in said or ["nothing to add"])


def section(title: str) -> Iterator[str]:
    """A heading with the empty lines that it needs."""
    yield ""
    yield f"## {title}"
    yield ""


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Cells are escaped here."""
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    yield from (f"| {' | '.join(escaped(cell) for cell in row)} |" for row in rows)
