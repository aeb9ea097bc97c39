"""What limits a stage whose data or server is on another host, in method.md's order.

Link, path, disk, cores, pathtrace, the other end of the receive queue, round trips, the server, a pause.
What crossed is known to ``link_use``, the other host to ``far_host``; here is only what follows from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from pathtrace.analysis.evidence import Evidence, Span
from pathtrace.analysis.limiting.far_host import (
    FarDisk,
    busiest_program,
    far_disk,
    full_core,
    full_host,
    is_idle,
    is_seen,
    served_by_disk,
    too_short,
)
from pathtrace.analysis.limiting.far_look import (
    Look,
    far_ceiling,
    look_at,
    lost_share,
    next_step,
    reads_memory,
    served_here,
)
from pathtrace.analysis.limiting.limit import (
    BEYOND,
    FULL,
    LINK_FULL,
    LONG_PAUSE_S,
    LOSSY,
    MOSTLY,
    MOSTLY_FULL,
    NEAR_CEILING,
    QUEUE_FULL_BYTES,
    SLIGHT,
    TIE,
    TRACER,
    TRICKLE,
    VERY_LOSSY,
    WELL_BELOW,
    Limit,
    unknown,
)
from pathtrace.analysis.limiting.links import link_name
from pathtrace.analysis.limiting.network_evidence import path_of, sockets_of
from pathtrace.analysis.limiting.own_work import far_tracer_limit, own_threads_limit
from pathtrace.analysis.limiting.pauses import is_fixed, pause_text
from pathtrace.analysis.limiting.round_trips import counted_trips
from pathtrace.analysis.summary import StageFigures
from pathtrace.model.run import Ceiling
from pathtrace.model.scenario import Action
from pathtrace.units import format_bytes, format_rate, format_ratio


def far_file_limit(figures: StageFigures, evidence: Evidence, span: Span) -> Limit:
    """Of files that another host holds. Never the link where this host's own cache served them."""
    look = look_at(figures, evidence, span, figures.stage.place)
    if (crossed := served_here(look)) is not None:
        return _from_cache(look, crossed)
    return _first(look, _FILE_RULES) or unknown(look.seen, next_step(look))


def far_way_limit(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> Limit | None:
    """Of a database, a model or a service on another host: only if the way there is what holds it."""
    if not evidence.is_far(place) or not figures.elapsed_s:
        return None
    return _first(look_at(figures, evidence, span, place), _WAY_RULES)


def link_alone(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> Limit | None:
    """The link to ``place`` if it is full, whoever fills it."""
    return _link(look_at(figures, evidence, span, place)) if evidence.is_far(place) else None


def hung(figures: StageFigures, evidence: Evidence, span: Span, place: str) -> Limit | None:
    """Operations that fail since large packets vanish: large transfers hang and small ones pass."""
    if not evidence.is_far(place):
        return None
    path, failed = path_of(evidence, place), f"{figures.errors} of {figures.operations} operations failed"
    if path is not None and path.black_hole:
        return Limit(f"mtu:{link_name(evidence, place)[5:]}", (failed, *path.evidence), utilisation=1.0)
    sockets = sockets_of(evidence, place, span)
    if (path is not None and path.black_hole is not None) or sockets is None or not sockets.received:
        return None
    host = evidence.place(place).host
    small = f"small answers came from {host}: {format_bytes(sockets.received)} in all"
    return unknown(
        (failed, small), f"`pathtrace probe SCENARIO` finds the largest packet that passes to {host}"
    )


def _first(look: Look, rules: tuple[Callable[[Look], Limit | None], ...]) -> Limit | None:
    """The first rule that holds; what else is as full, within a tenth, beside it."""
    found = [limit for rule in rules if (limit := rule(look)) is not None]
    if not found:
        return None
    first = found[0]
    if first.resource.partition(":")[0] not in _FILLED or first.utilisation is None:
        return first
    near = [
        limit
        for limit in found[1:]
        if limit.resource.partition(":")[0] in _FILLED
        and limit.utilisation is not None
        and limit.utilisation >= first.utilisation - TIE * max(first.utilisation, limit.utilisation)
        and limit.resource != first.resource
    ]
    beside = tuple(limit.evidence[-1] for limit in near)
    return replace(first, also=tuple(limit.resource for limit in near), evidence=(*first.evidence, *beside))


def _from_cache(look: Look, crossed: float) -> Limit:
    """A repeat that this host's memory served says nothing of the share."""
    asked = format_bytes(look.figures.bytes)
    text = f"{format_bytes(crossed)} crossed for {asked} asked for: a cache of this host"
    seen = (text, look.seen[0])
    return far_tracer_limit(look.figures, look.evidence, look.span, seen) or unknown(
        seen, "repeat with `start: cold`, so that this host's cache is empty"
    )


def _link(look: Look) -> Limit | None:
    share, use = look.share, look.use
    if use is None or share is None or share > BEYOND or share < WELL_BELOW:
        return None
    texts = [*look.seen]
    if share < LINK_FULL:
        if use.full_time is None or use.full_time < MOSTLY_FULL:
            return None
        texts.append(f"it was at its ceiling {format_ratio(use.full_time)} of the time")
    if use.others_bytes_per_s > SLIGHT * use.rate:
        texts.append(f"{format_rate(use.others_bytes_per_s)} of it are other traffic")
    said = use.ceiling is not None and use.ceiling.source not in ("measured", "computed")
    # What is only said of a link may be less than it carries: then something else happens to be as fast.
    return Limit(
        look.link,
        tuple(texts),
        next_measurement=next_step(look) if said else None,
        utilisation=min(1.0, share),
    )


def _mtu(look: Look) -> Limit | None:
    path = path_of(look.evidence, look.place)
    if path is None or not path.black_hole or (look.share or 0.0) >= TRICKLE:
        return None
    return Limit(f"mtu:{look.link[5:]}", (*look.seen, *path.evidence), utilisation=1.0)


def _loss(look: Look) -> Limit | None:
    lost = lost_share(look)
    if lost is None or lost[0] < (LOSSY if look.share is not None else VERY_LOSSY):
        return None
    if look.share is not None and look.share >= WELL_BELOW:
        return None
    return Limit(f"loss:{look.link[5:]}", (*look.seen, lost[1]), utilisation=None)


def _disk(look: Look) -> Limit | None:
    disk = far_disk(look.figures, look.evidence, look.span, look.place)
    if disk is not None and not served_by_disk(look.figures, disk):
        return None
    resource = f"disk:{look.place}"
    if disk is not None and disk.busy is not None and disk.busy >= FULL:
        return Limit(resource, (*look.seen, disk.text), utilisation=disk.busy)
    near = _near_alone(look, far_ceiling(look.evidence, look.place))
    if near is None or not NEAR_CEILING <= near <= BEYOND:
        return None
    beside = f"{format_ratio(near)} of what its disk does alone on {look.host}"
    texts = (*look.seen, disk.text, beside) if disk is not None else (*look.seen, beside)
    return Limit(resource, texts, utilisation=min(1.0, near))


def _near_alone(look: Look, ceiling: Ceiling | None) -> float | None:
    """The rate over a ceiling's, in bytes or in operations, whichever is nearer."""
    if ceiling is None:
        return None
    figures, shares = look.figures, []
    if ceiling.bytes_per_s and figures.bytes:
        shares.append(figures.rate / ceiling.bytes_per_s)
    if ceiling.operations_per_s:
        shares.append(figures.operation_rate / ceiling.operations_per_s)
    return max(shares, default=None)


def _cpu(look: Look) -> Limit | None:
    full = full_core(look.figures, look.evidence, look.span, look.place)
    if full is None:
        return None
    return Limit(f"cpu:{look.place}", (*look.seen, full.text), utilisation=full.share)


def _crowd(look: Look) -> Limit | None:
    """After pathtrace itself, whose own threads tell more surely what holds them."""
    full = full_host(look.figures, look.evidence, look.span, look.place)
    if full is None:
        return None
    return Limit(f"cpu:{look.place}", (*look.seen, full.text))


def _own(look: Look) -> Limit | None:
    figures, evidence, span = look.figures, look.evidence, look.span
    if reads_memory(look):
        return far_tracer_limit(figures, evidence, span, look.seen)
    return own_threads_limit(figures, evidence, span, look.seen)


def _queue(look: Look) -> Limit | None:
    """What arrived waits to be taken: whoever takes it is slow, and that is pathtrace or what it uses."""
    waiting = look.sockets.receive_queue_bytes if look.sockets else None
    if waiting is None or waiting < QUEUE_FULL_BYTES or (look.share or 0.0) >= LINK_FULL:
        return None
    if look.figures.stage.action is not Action.READ or look.figures.active_s < MOSTLY * look.span.wall_s:
        return None
    return Limit(TRACER, (*look.seen, f"{format_bytes(waiting)} had arrived and were not yet taken"))


def _trips(look: Look) -> Limit | None:
    return counted_trips(look.figures, look.evidence, look.place, look.sockets, look.share, look.seen)


def _largest_part(look: Look) -> Limit | None:
    """Where requests wait for one another nothing is full: what is busy most of the time counts.

    pathtrace's own client, the program under a mount or the server, or the disk behind it.
    """
    parts = sorted(_parts(look), key=lambda part: -part.share)
    if not parts or parts[0].share < MOSTLY or (look.share or 0.0) >= WELL_BELOW:
        return None  # a link as full as that may be what is waited for
    first, others = parts[0], parts[1:]
    text = f"{first.text}, more than all else: requests wait for one another"
    also = tuple(part.resource for part in others if part.share >= first.share * (1 - TIE))
    return Limit(first.resource, (*look.seen, text), also, utilisation=first.share)


@dataclass(frozen=True, slots=True)
class _Part:
    resource: str
    share: float
    text: str


def _parts(look: Look) -> Iterator[_Part]:
    """What was seen to be busy, each with its share of the time in which operations were in progress."""
    figures, evidence, span = look.figures, look.evidence, look.span
    own = figures.cpu_share if figures.cpu_share is not None else evidence.loop_cores(span)
    if own:
        share = min(1.0, own)
        yield _Part(TRACER, share, f"pathtrace's own client computes {format_ratio(share)} of the time")
    if (program := busiest_program(figures, evidence, span, look.place)) is not None:
        share = min(1.0, program[2])
        text = f"{program[1]} on {program[0]} computes {format_ratio(share)} of the time"
        yield _Part(f"cpu:{look.place}", share, text)
    disk = far_disk(figures, evidence, span, look.place)
    if disk is not None and disk.busy is not None and served_by_disk(figures, disk):
        yield _Part(f"disk:{look.place}", disk.busy, disk.text)


def _wait(look: Look) -> Limit | None:
    """A fixed pause at each operation while the other host was seen to do nothing."""
    idle = look.figures.idle
    if idle is None or not is_fixed(idle) or idle.p50_s < LONG_PAUSE_S or (look.share or 0.0) >= SLIGHT:
        return None
    if not is_idle(look.figures, look.evidence, look.span, look.place):
        return None
    texts = (pause_text("operation", idle), *look.seen, f"{look.host} does nothing meanwhile")
    return Limit(f"wait:{look.place}", texts, utilisation=1.0)


def _server(look: Look) -> Limit | None:
    """The far side, cause not seen: its connection stands empty, or it is as fast as from its own memory."""
    resource, alone = f"server:{look.place}", look.evidence.ceiling(f"server:{look.place}")
    near = _near_alone(look, alone)
    if near is not None and NEAR_CEILING <= near <= BEYOND:
        text = f"{format_ratio(near)} of what the same files give when {look.host} has them in memory"
        return Limit(
            resource, (*look.seen, text), next_measurement=next_step(look), utilisation=min(1.0, near)
        )
    if look.share is None or look.share >= WELL_BELOW or look.use is None or look.use.ceiling is None:
        return None
    if look.use.ceiling.source != "measured":
        return None  # what is only said of the link may be more than it carries
    if (why := _stands_empty(look)) is None:
        return None
    disk = far_disk(look.figures, look.evidence, look.span, look.place)
    alone = far_ceiling(look.evidence, look.place)
    beside = _near_alone(look, alone)
    told = f"{format_ratio(beside)} of what its disk does alone on {look.host}" if beside else None
    texts = (*look.seen, why, *((told,) if told and beside and beside <= BEYOND else ()), _unseen(look, disk))
    return Limit(resource, texts, next_measurement=next_step(look))


def _stands_empty(look: Look) -> str | None:
    """Between its answers nothing is under way: by the receive queue, or by the window as a sender."""
    sockets = look.sockets
    if sockets is None:
        return None
    if look.figures.stage.action is Action.WRITE:
        busy, held = sockets.busy_s or 0.0, sockets.rwnd_limited_s or 0.0
        if not look.figures.active_s or busy < MOSTLY * look.figures.active_s or held < MOSTLY * busy:
            return None
        return f"its receive window holds us {format_ratio(min(1.0, held / busy))} of the time"
    if sockets.receive_queue_bytes is None or sockets.receive_queue_bytes >= QUEUE_FULL_BYTES:
        return None
    return f"what arrives is taken at once: {look.host} is what is waited for"


def _unseen(look: Look, disk: FarDisk | None) -> str:
    if not is_seen(look.evidence, look.host):
        return f"neither the disk nor the cores of {look.host} were seen"
    if too_short(look.evidence, look.span):
        return f"the pass was too short to see what {look.host} did"
    return f"no core of {look.host} is full" + (f"; {disk.text}" if disk is not None else "")


_FILLED = ("link", "disk", "cpu", "tracer")
"""Kinds of resource that are full or not, so that two of them can be equally full."""
_WAY_RULES = (_link, _mtu, _loss, _trips)
_FILE_RULES = (
    *(_link, _mtu, _loss, _disk, _cpu, _own, _crowd),
    *(_queue, _trips, _largest_part, _wait, _server),
)
