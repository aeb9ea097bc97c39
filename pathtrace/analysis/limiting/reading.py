"""What limits a stage that moves files: read, write, and the stand-in's load into memory."""

from __future__ import annotations

from pathtrace.analysis.evidence import DiskUse, Evidence, Span
from pathtrace.analysis.limiting.far_limits import far_file_limit
from pathtrace.analysis.limiting.limit import (
    BEYOND,
    FULL,
    MOSTLY,
    NEAR_CEILING,
    SLIGHT,
    TRACER,
    UNKNOWN,
    Limit,
    unknown,
)
from pathtrace.analysis.limiting.own_work import tracer_limit
from pathtrace.analysis.limiting.round_trips import round_trips
from pathtrace.analysis.summary import StageFigures
from pathtrace.units import format_bytes, format_count_rate, format_rate, format_ratio

LOW_MEMORY = 0.05
"""Share of memory available below which page faults mean too little memory."""

_UNEXPLAINED = (UNKNOWN, "server", "wait")
"""Of a write: what syncing at the end of each operation explains better."""


def read_limit(figures: StageFigures, evidence: Evidence, span: Span) -> Limit:
    """The disk if the bytes came off it and it was full; pathtrace itself if they came from memory."""
    if not figures.elapsed_s:
        return unknown(
            ("its documents were handed on unread: the next place opens them itself",),
            "see the hop after it: reading is part of that place's operations",
        )
    if evidence.is_far(figures.stage.place):
        return far_file_limit(figures, evidence, span)
    mount = evidence.mount(figures.stage.place)
    if mount is not None and mount.network:
        return _network(figures, evidence, span)
    disk = evidence.disk(figures.stage.place, span)
    if disk is None:
        return _unseen(figures, evidence, span)
    taken = evidence.off_device(disk, span)
    share = taken / figures.bytes if figures.bytes else 0.0
    seen = (_device_text(disk, figures, taken), _rate_text(figures))
    if short := _short_memory(figures, evidence, span):
        return short
    if share >= MOSTLY:
        return _off_the_disk(figures, evidence, span, disk, seen)
    own = tracer_limit(figures, evidence, span, seen)
    if share < SLIGHT:
        return own or unknown(
            (*seen, "the bytes came from memory, and pathtrace itself was not full"),
            "repeat with `start: cold`, or with pathtrace's own code path against memory measured",
        )
    busy = disk.busy_share(figures.active_s)
    if busy is not None and busy >= FULL:
        return Limit(_disk(figures), (*seen, _busy_text(disk, busy)), utilisation=busy)
    return own or unknown(
        (*seen, "part of it came from memory, part off the device"), "repeat with `start: cold`"
    )


def write_limit(figures: StageFigures, evidence: Evidence, span: Span) -> Limit:
    """Commit if syncing takes the time, the disk if it is full, else pathtrace itself."""
    far = far_file_limit(figures, evidence, span) if evidence.is_far(figures.stage.place) else None
    if far is not None and far.resource.partition(":")[0] not in _UNEXPLAINED:
        return far
    if figures.finish_share >= MOSTLY:
        text = f"closing and syncing take {format_ratio(figures.finish_share)} of an operation"
        return Limit(f"commit:{figures.stage.place}", (text,), utilisation=figures.finish_share)
    if far is not None:
        return far
    disk = evidence.disk(figures.stage.place, span)
    busy = disk.busy_share(figures.active_s) if disk else None
    if disk is not None and busy is not None and busy >= FULL:
        return Limit(_disk(figures), (_busy_text(disk, busy), _rate_text(figures)), utilisation=busy)
    return tracer_limit(figures, evidence, span, (_rate_text(figures),)) or unknown(
        (_rate_text(figures),), "measure the disk under this place alone"
    )


def load_limit(figures: StageFigures, evidence: Evidence, span: Span) -> Limit:
    """pathtrace's own copy into memory, made in a loader's place: the tracer, unless memory is short."""
    seen = (_rate_text(figures),)
    if short := _short_memory(figures, evidence, span):
        return short
    return tracer_limit(figures, evidence, span, seen) or unknown(
        seen, "load the weights into the real model server instead of the stand-in"
    )


def _off_the_disk(
    figures: StageFigures, evidence: Evidence, span: Span, disk: DiskUse, seen: tuple[str, ...]
) -> Limit:
    busy = disk.busy_share(figures.active_s)
    ceiling = evidence.ceiling(f"disk:{figures.stage.place}")
    near = figures.rate / ceiling.bytes_per_s if ceiling and ceiling.bytes_per_s else None
    texts = list(seen)
    if busy is not None:
        texts.append(_busy_text(disk, busy))
    if near is not None and ceiling is not None and ceiling.bytes_per_s:
        texts.append(_beside_alone(near, ceiling.bytes_per_s))
    full = max(busy or 0.0, near or 0.0)
    own = tracer_limit(figures, evidence, span, seen)
    if (busy or 0.0) >= FULL or (near or 0.0) >= NEAR_CEILING:
        also = (TRACER,) if own else ()
        return Limit(_disk(figures), tuple(texts), also, utilisation=min(1.0, full))
    if own is not None:
        return own
    if busy is not None and busy >= MOSTLY:
        texts.append("one request at a time: the device's latency counts, not its rate")
        return Limit(_disk(figures), tuple(texts), utilisation=busy)
    return unknown(tuple(texts), "read the same files again with more workers, or with `access: direct`")


def _beside_alone(near: float, alone_bytes_per_s: float) -> str:
    alone = format_rate(alone_bytes_per_s)
    if near > BEYOND:
        return f"faster than when the disk was measured alone ({alone}), which is no ceiling then"
    return f"{format_ratio(near)} of what the disk does alone ({alone})"


def _network(figures: StageFigures, evidence: Evidence, span: Span) -> Limit:
    mount = evidence.mount(figures.stage.place)
    seen = (f"read through the network mount {mount.path if mount else ''}", _rate_text(figures))
    if trips := round_trips(figures, evidence, seen):
        return trips
    return tracer_limit(figures, evidence, span, seen) or unknown(
        seen, "measure the link and the server's disk, each alone"
    )


def _unseen(figures: StageFigures, evidence: Evidence, span: Span) -> Limit:
    seen = (_rate_text(figures), "the device under it cannot be seen from here")
    if trips := round_trips(figures, evidence, seen):
        return trips
    own = tracer_limit(figures, evidence, span, seen)
    return own or unknown(seen, "measure the disk alone on its own host, outside a container")


def _short_memory(figures: StageFigures, evidence: Evidence, span: Span) -> Limit | None:
    available, faults = evidence.available_share(span), evidence.own_fault_bytes(span)
    if available is None or faults is None or available >= LOW_MEMORY or faults < SLIGHT * figures.bytes:
        return None
    host = evidence.run.scenario.here.name
    text = f"only {format_ratio(available)} of the memory was available, {format_bytes(faults)} were paged in"
    return Limit(f"memory:{host}", (text, _rate_text(figures)), utilisation=1 - available)


def _disk(figures: StageFigures) -> str:
    return f"disk:{figures.stage.place}"


def _device_text(disk: DiskUse, figures: StageFigures, taken: float) -> str:
    share = f" ({format_ratio(taken / figures.bytes)})" if figures.bytes else ""
    return f"{format_bytes(taken)} came off {disk.name} for {format_bytes(figures.bytes)} asked for{share}"


def _busy_text(disk: DiskUse, busy: float) -> str:
    return f"{disk.name} busy {format_ratio(busy)} of the time"


def _rate_text(figures: StageFigures) -> str:
    return f"{format_rate(figures.rate)}, {format_count_rate(figures.operation_rate)} while busy"
