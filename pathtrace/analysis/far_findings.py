"""What is worth knowing of hops that cross a network: caches on the way, others on it, full cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pathtrace.analysis.evidence import Evidence, Span
from pathtrace.analysis.limiting.far_host import busy_others, far_disk, full_core, full_host
from pathtrace.analysis.limiting.far_look import LITTLE_PAYLOAD, Look, far_ceiling, look_at, served_here
from pathtrace.analysis.limiting.limit import (
    AMPLIFIED,
    BEYOND,
    OTHER_CORES,
    OTHER_DISK_BYTES_PER_S,
    OTHERS,
    SERVED,
    Limit,
)
from pathtrace.analysis.limiting.network_evidence import path_of, sockets_of
from pathtrace.analysis.study import FlowStudy
from pathtrace.analysis.summary import ExecutionFigures
from pathtrace.model.report import Finding
from pathtrace.model.scenario import Action
from pathtrace.units import format_bytes, format_duration, format_rate, format_ratio

FASTER = 1.25


def far_findings(evidence: Evidence, studies: Sequence[FlowStudy]) -> Iterator[Finding]:
    """Of every stage whose place is on another host; what other jobs did there once for each host."""
    told: set[str] = set()
    for study in studies:
        for look, limit in _looks(evidence, study):
            yield from _client_cache(look, study)
            yield from _server_cache(look, study)
            yield from _amplified(look)
            yield from _other_traffic(look)
            yield from _full_core(look, limit)
            yield from _black_hole(look)
            if look.host not in told and (found := _other_job(look)):
                told.add(look.host)
                yield found


def _looks(evidence: Evidence, study: FlowStudy) -> Iterator[tuple[Look, Limit]]:
    for judged in study.stages.values():
        place = judged.figures.stage.place
        if evidence.is_far(place) and judged.figures.elapsed_s:
            yield look_at(judged.figures, evidence, study.span, place), judged.limit


def _client_cache(look: Look, study: FlowStudy) -> Iterator[Finding]:
    """Counted in every repeat: a median of warm ones is no figure of the share."""
    if look.figures.stage.action is not Action.READ or look.figures.bytes < LITTLE_PAYLOAD:
        return
    counted = [
        (each, crossed, asked)
        for each in study.repeats
        if (crossed := _received(look, each)) is not None and (asked := _asked(look, study, each))
    ]
    warm = [entry for entry in counted if entry[1] < SERVED * entry[2]]
    if not warm and served_here(look) is None:
        return
    times = f"in {len(warm)} of {len(counted)} repeats" if warm else "in the median repeat"
    text = (
        f"this host's own cache served {look.place} {times}: such a repeat says nothing of how fast "
        f"{look.host} is"
    )
    seen = tuple(
        f"{format_bytes(crossed)} crossed for {format_bytes(asked)} asked for, in "
        f"{format_duration(each.duration_s)}"
        for each, crossed, asked in counted
    )
    yield Finding("client-cache", text, seen or look.seen)


def _received(look: Look, each: ExecutionFigures) -> float | None:
    sockets = sockets_of(look.evidence, look.place, Span(each.start_ns, each.end_ns))
    return sockets.received if sockets else None


def _asked(look: Look, study: FlowStudy, each: ExecutionFigures) -> int:
    figures = each.hops[look.figures.stage.hop]
    return figures.bytes if figures else 0


def _server_cache(look: Look, study: FlowStudy) -> Iterator[Finding]:
    """Its disk read far less than was asked for; or, where nobody saw it, later repeats went faster."""
    figures = look.figures
    if figures.stage.action is not Action.READ or served_here(look) is not None:
        return
    if figures.bytes < LITTLE_PAYLOAD:
        return
    disk = far_disk(figures, look.evidence, look.span, look.place)
    took = [each.duration_s for each in study.repeats]
    shown = ", ".join(format_duration(each) for each in took)
    if disk is not None and disk.read_bytes < SERVED * figures.bytes:
        text = f"the memory of {look.host} served {look.place}: its disk was hardly read"
        came = f"{format_bytes(disk.read_bytes)} came off {disk.name} for {format_bytes(figures.bytes)}"
        yield Finding("server-cache", text, (came, shown))
    elif (alone := _beyond_disk(look)) is not None:
        text = f"the memory of {look.host} served {look.place}: it came faster than its disk can give it"
        came = f"{format_rate(figures.rate)} beside {format_rate(alone)} of the disk alone"
        yield Finding("server-cache", text, (came, shown))
    elif disk is None and is_faster_after_first(took) and _crossed_each_time(look, study):
        text = f"{look.place} came faster after the first repeat, over the network: a cache of {look.host}"
        yield Finding("server-cache", text, (shown,))


def _beyond_disk(look: Look) -> float | None:
    """What the place's disk does alone on its own host, where the place was read much faster."""
    ceiling = far_ceiling(look.evidence, look.place)
    alone = ceiling.bytes_per_s if ceiling is not None else None
    return alone if alone and look.figures.rate > BEYOND * alone else None


def is_faster_after_first(took: Sequence[float]) -> bool:
    """Every later repeat, and by a quarter in the middle."""
    rest = sorted(took[1:])
    return bool(rest) and took[0] >= FASTER * rest[len(rest) // 2] and rest[-1] < took[0]


def _crossed_each_time(look: Look, study: FlowStudy) -> bool:
    """True if no repeat was served by this host's own cache, so far as connections tell."""
    received = [_received(look, each) for each in study.repeats]
    return all(
        crossed is not None and crossed >= SERVED * _asked(look, study, each)
        for each, crossed in zip(study.repeats, received, strict=True)
    )


def _amplified(look: Look) -> Iterator[Finding]:
    figures, sockets = look.figures, look.sockets
    if figures.stage.action is not Action.READ or figures.bytes < LITTLE_PAYLOAD:
        return
    disk = far_disk(figures, look.evidence, look.span, look.place)
    crossed = sockets.received if sockets else 0.0
    reached = look.evidence.reached(look.place)
    known = reached is not None and reached.far_mount is not None
    taken = disk.read_bytes if disk and known else 0.0
    if crossed > AMPLIFIED * figures.bytes:
        times = crossed / figures.bytes
        text = f"{times:.1f} times what {look.place} was asked for crossed the network: read ahead, or again"
    elif taken > AMPLIFIED * figures.bytes and disk is not None:
        times = taken / figures.bytes
        text = f"{disk.name} read {times:.1f} times what {look.place} was asked for: ahead, or for others"
    else:
        return
    seen = f"{format_bytes(max(crossed, taken))} for {format_bytes(figures.bytes)}"
    yield Finding("read-amplification", text, (seen,))


def _other_traffic(look: Look) -> Iterator[Finding]:
    use = look.use
    if use is None or use.interface is None or use.others_bytes_per_s <= OTHERS * use.rate:
        return
    others = use.others_bytes_per_s
    if use.ceiling is not None and use.ceiling.bytes_per_s and others <= OTHERS * use.ceiling.bytes_per_s:
        return
    yield Finding(
        "other-traffic",
        f"other traffic took {format_ratio(others / use.rate)} of what {use.interface} carried "
        f"{use.direction} meanwhile",
        (f"{format_rate(others)} of others beside {format_rate(use.own_bytes_per_s)} for {look.place}",),
    )


def _full_core(look: Look, limit: Limit) -> Iterator[Finding]:
    """A host that others fill only where that limits: else it is other activity."""
    asked = (look.figures, look.evidence, look.span, look.place)
    held = limit.resource in (f"cpu:{look.place}", f"database:{look.place}")
    full = full_core(*asked) or (full_host(*asked) if held else None)
    if full is not None:
        yield Finding(
            "full-core", f"{full.text}, while {look.place} was busy", (f"{full.what} on {full.host}",)
        )


def _black_hole(look: Look) -> Iterator[Finding]:
    path = path_of(look.evidence, look.place)
    if path is not None and path.black_hole:
        text = f"large packets to or from {look.host} vanish: an MTU on the way is too small for them"
        yield Finding("mtu-black-hole", text, path.evidence)


def _other_job(look: Look) -> Finding | None:
    """Another program, or writing while the run only reads."""
    seen = [
        f"{name} used {cores:.2g} cores"
        for name, cores in busy_others(look.figures, look.evidence, look.span, look.place)
        if cores >= OTHER_CORES
    ]
    disk = far_disk(look.figures, look.evidence, look.span, look.place)
    if disk is not None and look.figures.stage.action is Action.READ and look.span.wall_s:
        rate = disk.write_bytes / look.span.wall_s
        if rate >= OTHER_DISK_BYTES_PER_S:
            seen.append(f"{format_rate(rate)} were written to {disk.name} while {look.place} was only read")
    if not seen:
        return None
    return Finding("other-activity", f"{look.host} did other work meanwhile", tuple(seen))
