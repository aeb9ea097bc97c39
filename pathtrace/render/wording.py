"""How figures, names and conditions are put into words, the same in every table, drawing and page.

Units and rounding belong to ``units``; where the words stand belongs to their callers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pathtrace.model.report import (
    Caveat,
    Estimate,
    FlowReport,
    HopReport,
    RankingEntry,
    Report,
    Throughput,
    Wire,
)
from pathtrace.model.run import OwnCost, Run
from pathtrace.model.scenario import Flow, FrequencyKind
from pathtrace.render.conditions import start_layers, start_word
from pathtrace.units import format_bytes, format_count, format_duration, format_rate, format_ratio, seconds

NOTHING = "–"
NOT_MEASURED = "not measured"
TUNNEL = "tunnel"
"""A kind of interface: what goes through it takes some other way than the cable that was thought of."""
FAR = 0.3
"""A spread beyond this ratio is shown by its ends: it is seldom as wide to both sides."""
LITTLE_SHARE = 0.01
"""Of a flow: a part below this, and below ``LITTLE_S_PER_DAY``, is not worth a line."""
LITTLE_S_PER_DAY = 1.0
STAND_IN_MARK = "*"
STAND_IN_NOTE = "* stand-in: pathtrace makes or does this itself, in place of the real thing"

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    """``text`` without control characters: what a command or server said must not steer a terminal."""
    return _CONTROL.sub("�", text.replace("\t", " "))


def number(count: int) -> str:
    """A count with its thousands apart: ``12,345``."""
    return f"{count:,}"


def counted(count: int, noun: str) -> str:
    """``1 repeat``, ``5 repeats``."""
    return format_count(count, noun)


def duration(value_s: float | None) -> str:
    return NOTHING if value_s is None else format_duration(value_s)


def interface(name: str, kind: str | None) -> str:
    """``eth0``, but ``wg0 (a tunnel)``."""
    return f"{name} (a tunnel)" if kind == TUNNEL else name


def on_the_wire(wire: Wire) -> str:
    """What crossed the network for a hop, and what it cost beside the payload."""
    more = wire.overhead_ratio
    beside = "" if more is None else f" ({format_ratio(abs(more))} {'more' if more >= 0 else 'less'})"
    again = "" if wire.retransmits is None else f", {counted(wire.retransmits, 'retransmit')}"
    trip = "" if wire.rtt_s is None else f", round trip {format_duration(wire.rtt_s)}"
    return f"on the wire: {size(wire.bytes)}{beside}{again}{trip}"


def size(count: int | None) -> str:
    return NOTHING if count is None else format_bytes(count)


def rate(value: Throughput) -> str:
    """The throughput with its spread: ``31.5 MB/s ±3 %``, or from where to where if that is far."""
    median, low, high = value.bytes_per_s, value.low, value.high
    if median is None:
        return NOTHING
    if low is None or high is None or median <= 0:
        return format_rate(median)
    reach = max(high - median, median - low, 0) / median
    if reach > FAR:
        middle, least, most = (format_rate(bound).removesuffix(" MB/s") for bound in (median, low, high))
        return f"{middle} ({least}–{most}) MB/s"
    return f"{format_rate(median)} ±{format_ratio(reach)}"


def estimate(value: Estimate | None) -> str:
    """A duration with its spread: ``43.8 s (42.9 s – 44.4 s)``."""
    if value is None:
        return NOT_MEASURED
    text = format_duration(value.value)
    if value.low is None or value.high is None:
        return f"{text} (one repeat: no spread)" if value.n < 2 else text
    return f"{text} ({format_duration(value.low)} – {format_duration(value.high)})"


def took(flow: Flow, report: FlowReport) -> str:
    """How long one execution of a flow took; of requests that is all of them, not one answer."""
    text = estimate(report.duration_s)
    asks = flow.frequency.kind is FrequencyKind.PER_REQUEST and report.duration_s is not None
    return f"all requests in {text}" if asks else text


def waits(who: str) -> str:
    return "people wait" if who == "people" else "nobody waits"


def repeats_measured(report: Report) -> str:
    """What the figures are medians of: ``median of 5 repeats ± its interval``. Whole repeats count."""
    whole = [flow.duration_s.n for flow in report.flows if flow.duration_s is not None]
    count = max(whole, default=len(report.repeats))
    if count > 1:
        return f"median of {counted(count, 'repeat')} ± its interval"
    return f"{counted(count, 'repeat')}, no spread"


def condition(run: Run) -> str:
    """The start condition in a few words: ``start cold: client cache cold, server cache unknown``."""
    layers = [f"{layer.name.replace('_', ' ')} {layer.state}" for layer in start_layers(run) if layer.present]
    return f"start {start_word(run)}" + (f": {', '.join(layers)}" if layers else "")


def own_cost(cost: OwnCost | None) -> str:
    if cost is None:
        return "pathtrace's own cost: not measured"
    probes = "" if cost.probes_s is None else f"; probes took {format_duration(cost.probes_s)} afterwards"
    return (
        f"pathtrace's own cost: recording {format_ratio(cost.recording_ratio)} and observing "
        f"{format_ratio(cost.observing_ratio)} of the timed time, "
        f"{format_duration(seconds(cost.sample_ns))} a sample{probes}"
    )


def advised_once(entries: Sequence[RankingEntry]) -> Iterator[tuple[RankingEntry, str]]:
    """Each entry with its advice, which is empty where an entry of the same flow before it gave it."""
    given: set[tuple[str, str]] = set()
    for entry in entries:
        said = (entry.flow, entry.advice) in given
        given.add((entry.flow, entry.advice))
        to_do = entry.advice and not entry.advice.startswith("nothing ")
        cost = "free: " if entry.free and to_do else ""
        yield entry, "" if said else cost + entry.advice


def worth_showing(
    entries: Sequence[RankingEntry], most: int
) -> tuple[tuple[RankingEntry, ...], tuple[RankingEntry, ...]]:
    """What a person should read, the first always; and the rest, which is summed up."""
    large = [
        at
        for at, entry in enumerate(entries)
        if at == 0 or entry.share >= LITTLE_SHARE or entry.seconds_per_day >= LITTLE_S_PER_DAY
    ]
    return tuple(entries[at] for at in large[:most]), tuple(
        entry for at, entry in enumerate(entries) if at not in large[:most]
    )


@dataclass(frozen=True, slots=True)
class Reason:
    """A hop with the evidence and the next measurement that no hop of its flow before it gave."""

    hop: HopReport
    evidence: str
    next_measurement: str | None


def reasons_once(hops: Iterable[HopReport]) -> Iterator[Reason]:
    """A hop that starves has the evidence of the one that it waits for: that is named, not said again."""
    given: dict[tuple[str, str], str] = {}
    for hop in hops:
        limit = hop.limited_by
        said = [text for text in limit.evidence if (hop.flow, text) in given]
        said = said if len(said) > 1 else []  # one alone is shorter than a reference
        parts = [text for text in limit.evidence if text not in said]
        if said:
            parts.append(f"{'else ' if parts else ''}as {given[hop.flow, said[0]]}")
        following = limit.next_measurement
        repeated = following is not None and (hop.flow, following) in given
        for text in (*limit.evidence, *((following,) if following else ())):
            given.setdefault((hop.flow, text), hop.name)
        yield Reason(hop, "; ".join(parts), None if repeated else following)


def stored(run: Run) -> str:
    label = f", label {plain(run.label)}" if run.label else ""
    return f"run {run.id}{label}"


def distinct(caveats: Iterable[Caveat]) -> tuple[tuple[Caveat, tuple[str, ...]], ...]:
    """Each caveat once, with everything that it is about, in order of first appearance."""
    subjects: dict[tuple[str, str, str | None], list[str]] = {}
    first: dict[tuple[str, str, str | None], Caveat] = {}
    for caveat in caveats:
        key = (caveat.code, caveat.text, caveat.remedy)
        first.setdefault(key, caveat)
        named = subjects.setdefault(key, [])
        if caveat.subject is not None and caveat.subject not in named:
            named.append(caveat.subject)
    return tuple((first[key], tuple(named)) for key, named in subjects.items())


def all_caveats(run: Run, report: Report) -> tuple[tuple[Caveat, tuple[str, ...]], ...]:
    """Every doubt of the run, its report and its hops, each once."""
    of_hops = (caveat for hop in report.hops for caveat in hop.caveats)
    return distinct((*report.caveats, *run.caveats, *of_hops))


def caveat_line(caveat: Caveat, subjects: tuple[str, ...]) -> str:
    """One doubt in a sentence, with what it is about where its text does not say."""
    unnamed = [subject for subject in subjects if subject not in caveat.text]
    about = f"{', '.join(unnamed)}: " if unnamed else ""
    return plain(about + caveat.text)
