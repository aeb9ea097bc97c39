"""What is worth knowing beside the limits: figures that cannot be, data that means little, drift, errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

import numpy as np

from pathtrace.analysis.data_kinds import rebuilding
from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.far_findings import far_findings, is_faster_after_first
from pathtrace.analysis.frequency.frequency import Observed
from pathtrace.analysis.limiting.limit import BEYOND
from pathtrace.analysis.memory_use import memory_findings
from pathtrace.analysis.repeats import drifts, outliers, two_kinds
from pathtrace.analysis.sampled import sampled
from pathtrace.analysis.slope import slopes
from pathtrace.analysis.study import FlowStudy
from pathtrace.analysis.summary import StageFigures
from pathtrace.model.report import Finding
from pathtrace.model.scenario import Action, FrequencyKind, Place, PlaceKind
from pathtrace.model.work import PlaceFacts
from pathtrace.units import format_bytes, format_duration, format_link, format_rate, format_ratio

AMPLIFIED = 1.2
BUSY_ELSEWHERE = 0.25
"""Of a core."""
SPARSE = 0.01
_ABOVE = (
    "above what its disk did when measured alone: a cache below it, or something else kept the disk busy "
    "then; neither figure is its ceiling"
)
SHOWN = 12
"""Of durations in a row; a run may have hundreds of repeats."""
MEANINGFUL_BYTES = 10_000_000
"""Below this, other readers of the device blur the ratio of device bytes to payload."""


def findings(
    evidence: Evidence, studies: Sequence[FlowStudy], observed: Sequence[Observed]
) -> tuple[Finding, ...]:
    """Frequency first, then what makes figures doubtful, then the rest."""
    return (
        *(each.finding for each in observed if each.finding is not None),
        *far_findings(evidence, studies),
        *(finding for study in studies for finding in _impossible(evidence, study)),
        *sampled(evidence, studies),
        *_sparse(evidence),
        *_small(evidence),
        *memory_findings(evidence),
        *rebuilding(evidence, studies),
        *(finding for study in studies for finding in _amplified(evidence, study)),
        *(finding for study in studies for finding in _over_repeats(evidence, study)),
        *(finding for study in studies for finding in slopes(evidence, study)),
        *(finding for study in studies for finding in _sawtooth(study)),
        *(_elsewhere(evidence) if studies else ()),
        *(finding for study in studies for finding in _errors(evidence, study)),
        *(finding for study in studies for finding in _changed(study)),
    )


def _reads(study: FlowStudy) -> Iterator[StageFigures]:
    for judged in study.stages.values():
        if judged.figures.stage.action is Action.READ and judged.figures.bytes:
            yield judged.figures


def _impossible(evidence: Evidence, study: FlowStudy) -> Iterator[Finding]:
    """Faster than what is under it can be: the bytes did not come from there."""
    for figures in _reads(study):
        place = figures.stage.place
        ceiling = evidence.ceiling(f"disk:{place}")
        if ceiling is None or not ceiling.bytes_per_s or figures.rate <= BEYOND * ceiling.bytes_per_s:
            continue
        if figures.bytes < MEANINGFUL_BYTES or evidence.is_far(place):
            continue  # of another host's disk: its memory served it, which is told beside the hops' own
        disk = evidence.disk(place, study.span)
        measured = f"the disk alone: {format_rate(ceiling.bytes_per_s)}, {ceiling.source}"
        rate = f"{place} was read at {format_rate(figures.rate)}"
        taken = evidence.off_device(disk, study.span) if disk else 0.0
        if disk is not None and taken < figures.bytes / 2:
            seen = f"{format_bytes(taken)} of {format_bytes(figures.bytes)} came off {disk.name}"
            yield Finding("cache", f"{rate}, above its disk: memory served it", (measured, seen))
        else:
            yield Finding("impossible", f"{rate}, {_ABOVE}", (measured,))
    yield from _beyond_link(evidence, study)


def _beyond_link(evidence: Evidence, study: FlowStudy) -> Iterator[Finding]:
    scenario = evidence.run.scenario
    for figures in _reads(study):
        host = evidence.place(figures.stage.place).host
        for link in scenario.links:
            joins = host != scenario.here.name and {host, scenario.here.name} <= set(link.hosts)
            if joins and link.speed_bytes_per_s and figures.rate > link.speed_bytes_per_s:
                yield Finding(
                    "impossible",
                    f"{figures.stage.place} was read at {format_rate(figures.rate)}, more than {link.name} "
                    "carries: a cache on this host served it",
                    (f"{link.name}: {format_link(link.speed_bytes_per_s)} (declared)",),
                )


def _file_sets(evidence: Evidence) -> Iterator[tuple[Place, PlaceFacts, int]]:
    """Files places whose size is known and not nothing."""
    for reached in evidence.run.reached:
        facts, place = reached.facts, evidence.place(reached.place)
        if facts is not None and place.kind is PlaceKind.FILES and facts.bytes:
            yield place, facts, facts.bytes


def _sparse(evidence: Evidence) -> Iterator[Finding]:
    for place, facts, size in _file_sets(evidence):
        if facts.sparse_bytes and facts.sparse_bytes >= SPARSE * size:
            share = format_ratio(facts.sparse_bytes / size)
            text = f"{share} of {place.name} is holes, which no disk has to read"
            yield Finding("sparse", text, (f"{format_bytes(facts.sparse_bytes)} of {format_bytes(size)}",))


def _started_cold(evidence: Evidence, place: Place) -> bool:
    """True if every repeat is known to have begun with the memory of the place's host empty of it."""
    layer = "server_cache" if evidence.is_far(place.name) else "client_cache"
    states = [
        {each.state for each in start.layers if (each.layer, each.place) == (layer, place.name)}
        for start in evidence.run.starts
    ]
    return bool(states) and all(found == {"cold"} for found in states)


def _small(evidence: Evidence) -> Iterator[Finding]:
    """One for each host: its places are all told of together."""
    small: dict[str, list[str]] = {}
    for place, _, size in _file_sets(evidence):
        host = evidence.host(place.host)
        if host is not None and size <= host.memory_bytes and not _started_cold(evidence, place):
            small.setdefault(host.name, []).append(f"{place.name} ({format_bytes(size)})")
    for host in evidence.run.environment.hosts:
        if host.name in small:
            room = f"the memory of {host.name} ({format_bytes(host.memory_bytes)})"
            text = f"smaller than {room}, so may be read from there: {', '.join(small[host.name])}"
            yield Finding("small-data", text, ())


def _amplified(evidence: Evidence, study: FlowStudy) -> Iterator[Finding]:
    for figures in _reads(study):
        disk = evidence.disk(figures.stage.place, study.span)
        taken = evidence.off_device(disk, study.span) if disk else 0.0
        if disk is None or taken < MEANINGFUL_BYTES or taken <= AMPLIFIED * figures.bytes:
            continue
        times = taken / figures.bytes
        text = (
            f"{disk.name} read {times:.1f} times what {figures.stage.place} was asked for: "
            "read ahead, or for other programs"
        )
        seen = f"{format_bytes(taken)} off the device for {format_bytes(figures.bytes)}"
        yield Finding("read-amplification", text, (seen,))


def _over_repeats(evidence: Evidence, study: FlowStudy) -> Iterator[Finding]:
    """A server's cache that fills, a trend, or two kinds of repeat: a median of such says little."""
    took = [figures.duration_s for figures in study.repeats]
    if len(took) < 2:
        return
    shown = (_in_order(took),)
    warmed = is_faster_after_first(took)
    if warmed and not any(evidence.is_far(place) for place in study.flow.path):
        # Of a far place, which cache it was is told beside the hops' own.
        text = (
            f"{study.flow.name} was faster after its first repeat: a cache on the way kept the data, "
            "or something had to start"
        )
        yield Finding("warm-repeats", text, shown)
    rest = took[1:] if warmed else took
    if two_kinds(rest):
        yield Finding("bimodal", f"{study.flow.name} shows two kinds of repeat", shown)
    elif drifts(rest):
        yield Finding("drift", f"{study.flow.name} became steadily faster or slower over the repeats", shown)
    yield from _strays(study, took, {0} if warmed else set())


def _in_order(took: Sequence[float]) -> str:
    """Durations repeat by repeat; of many the first and the last ones."""
    said = [format_duration(each) for each in took]
    if len(said) > SHOWN:
        said[SHOWN // 2 : -SHOWN // 2] = [f"… ({len(took) - SHOWN} more)"]
    return ", ".join(said)


def _strays(study: FlowStudy, took: Sequence[float], told: Set[int]) -> Iterator[Finding]:
    """Repeats that lie far from the others: they are kept, since a median bears them."""
    marked = [at for at, is_far in enumerate(outliers(took)) if is_far and at not in told]
    far = [study.repeats[at] for at in marked]
    if far:
        which = f"repeat{'s' if len(far) > 1 else ''} {', '.join(str(each.repeat + 1) for each in far)}"
        text = f"{study.flow.name} took far longer or shorter than usual in {which}: marked, and kept"
        median = format_duration(float(np.median(took)))
        yield Finding("outlier", text, (f"{_in_order([each.duration_s for each in far])}; median {median}",))


def _elsewhere(evidence: Evidence) -> Iterator[Finding]:
    """``cpu_percent`` is of all cores of the host together."""
    for activity in evidence.run.activity:
        host = evidence.host(activity.host)
        cores = host.cores if host else 1
        if activity.cpu_percent is None or activity.cpu_percent / 100 * cores <= BUSY_ELSEWHERE:
            continue
        used = activity.cpu_percent / 100 * cores
        text = f"{activity.host} also did other work: {used:.1f} of its {cores} cores"
        yield Finding("other-activity", text, activity.notable or ("no single process stood out",))


def _changed(study: FlowStudy) -> Iterator[Finding]:
    """Whole repeats without errors that read different amounts: the data is not what was described."""
    first = study.flow.stages[0]
    if first.action is not Action.READ:
        return
    whole = [each for each in study.repeats if each.complete and not each.errors]
    read = [hop.bytes for each in whole if (hop := each.hops[first.hop]) is not None]
    if len(set(read)) > 1:
        yield Finding(
            "data-changed",
            f"{first.place} changed during the run: its repeats read different amounts",
            (", ".join(format_bytes(count) for count in read),),
        )


def _sawtooth(study: FlowStudy) -> Iterator[Finding]:
    """Hops whose own work stalls at even intervals, in more than half of the repeats."""
    for index, hop in enumerate(study.flow.hops):
        shown = study.chosen.sawteeth[index] if study.chosen.sawteeth else None
        swinging = [each for each in study.repeats if each.sawteeth and each.sawteeth[index] is not None]
        if shown is None or 2 * len(swinging) <= len(study.repeats):
            continue
        text = (
            f"{hop.name} stalls about every {format_duration(shown.period_s)}: its rate rises and falls like "
            "a saw"
        )
        stalled = (
            f"{shown.cycles} times in the median repeat, for {format_ratio(shown.low_share)} of the time; "
            "something fills up, or is written out, at that pace"
        )
        yield Finding("sawtooth", text, (stalled,))


def _errors(evidence: Evidence, study: FlowStudy) -> Iterator[Finding]:
    for judged in study.stages.values():
        figures = judged.figures
        if not figures.errors:
            continue
        asks = study.flow.frequency.kind is FrequencyKind.PER_REQUEST
        what = "requests" if asks else "operations"
        code, rest = "errors", "its figures are of the others"
        if figures.all_failed:
            code, rest = "failed", "no figure of it holds"
        elif figures.mostly_failed:
            code = "mostly-failed"
        text = (
            f"{figures.errors} of {figures.operations} {what} failed in {figures.stage.action} at "
            f"{figures.stage.place}: {rest}"
        )
        yield Finding(code, text, _said(evidence, figures.stage.place) or ("no text was recorded",))


def _said(evidence: Evidence, place: str) -> tuple[str, ...]:
    """What a place's failed operations said; a fault that names no place may be of any."""
    others = tuple(f"{each.name}: " for each in evidence.run.scenario.places if each.name != place)
    return tuple(fault for fault in evidence.run.faults if not fault.startswith(others))[:3]
