"""Whether a stage that reads through a mount spends its time on round trips, and what saves them.

A mapped file is asked for by page faults, each with what the kernel reads ahead; what one request takes
alone is measured (the kernel counts as major only the first fault of a stretch, so that counts tell nothing).
Calls that read are not counted by the kernel: there it tells that more at once goes much faster.
"""

from __future__ import annotations

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.limiting.limit import (
    FEW_TRIPS,
    IDLE_LINK,
    MOSTLY,
    ONE_BY_ONE,
    REQUEST_BYTES,
    SHORT_TRIP_S,
    SMALL_OPERATION_TRIPS,
    STATEMENT_BYTES,
    Limit,
)
from pathtrace.analysis.limiting.network_evidence import Sockets, path_of
from pathtrace.analysis.summary import StageFigures
from pathtrace.model.scenario import Access, DatabaseSpec, FilesSpec
from pathtrace.units import format_bytes, format_duration, format_rate, format_ratio

FASTER_TOGETHER = 2.0
"""With more requests at once at least this many times the rate: no line or disk was full."""
_WEIGHTS = (".gguf", ".safetensors")


def round_trips(
    figures: StageFigures, evidence: Evidence, seen: tuple[str, ...], transfer_s: float = 0.0
) -> Limit | None:
    """``round-trips:P`` where requests one after the other explain the time, else None.

    ``transfer_s``: of the time, what the link takes to carry the bytes.
    """
    place = figures.stage.place
    alone, mount, spec = (
        evidence.ceiling(f"round-trips:{place}"),
        evidence.mount(place),
        evidence.place(place).spec,
    )
    if alone is None or not alone.latency_s or mount is None or not mount.far or not figures.elapsed_s:
        return None
    seen = (*seen, f"one request takes {format_duration(alone.latency_s)} alone")
    if is_mapped(spec) and alone.bytes_per_s:
        return _page_by_page(figures, alone.latency_s, alone.bytes_per_s, seen, transfer_s)
    return _call_by_call(figures, evidence, alone.latency_s, seen)


def is_mapped(spec: object) -> bool:
    """True of files that are read by mapping: as stated, or weights whose loaders do so."""
    if not isinstance(spec, FilesSpec):
        return False
    by_default = not spec.access_stated and (spec.path or "").endswith(_WEIGHTS)
    return spec.access is Access.MMAP or by_default


def _page_by_page(
    figures: StageFigures, latency_s: float, bytes_per_s: float, seen: tuple[str, ...], transfer_s: float
) -> Limit | None:
    """``bytes_per_s``: what the kernel reads for a missing page, over the time that one request takes."""
    share = figures.bytes / (figures.elapsed_s - transfer_s) / bytes_per_s
    if share < MOSTLY:
        return None
    each = bytes_per_s * latency_s
    beside = " that the link does not take" if transfer_s else ""
    text = (
        f"mapped pages come {format_bytes(each)} at a time: {round(figures.bytes / each):,} requests "
        f"one after the other are {format_ratio(min(1.0, share))} of the time{beside}"
    )
    return Limit(f"round-trips:{figures.stage.place}", (*seen, text), utilisation=min(1.0, share))


def _call_by_call(
    figures: StageFigures, evidence: Evidence, latency_s: float, seen: tuple[str, ...]
) -> Limit | None:
    each = figures.elapsed_s / figures.operations / latency_s
    together = evidence.ceiling(f"disk:{figures.stage.place}")
    best = together.bytes_per_s if together is not None and together.bytes_per_s else 0.0
    faster = best >= FASTER_TOGETHER * figures.rate
    if each > FEW_TRIPS and not faster:
        return None
    texts = [*seen, f"an operation takes as long as {each:.1f} of them"]
    if faster:
        texts.append(f"with more requests at once it gave {format_rate(best)}: nothing behind it is full")
    share = min(1.0, 1 / each) if each else None
    return Limit(f"round-trips:{figures.stage.place}", tuple(texts), utilisation=share)


def counted_trips(
    figures: StageFigures,
    evidence: Evidence,
    place: str,
    sockets: Sockets | None,
    link_share: float | None,
    seen: tuple[str, ...],
) -> Limit | None:
    """``round-trips:P`` of a place on another host: requests one after the other, on a link that idles.

    Round trips shorter than a server's own work are no explanation, but of mapped pages.
    """
    if not figures.operations or not figures.elapsed_s or (link_share or 0.0) > IDLE_LINK:
        return None
    transfer_s = (link_share or 0.0) * figures.active_s
    mapped = is_mapped(evidence.place(place).spec) and place == figures.stage.place
    if mapped and (paged := round_trips(figures, evidence, seen, transfer_s)):
        return paged
    trip_s = trip_time(evidence, place, sockets)
    if trip_s is None or trip_s < SHORT_TRIP_S:
        return None
    each_s = figures.elapsed_s / figures.operations
    asked = requests_sent(evidence, place, sockets, trip_s)
    each = None if asked is None else asked / figures.operations
    share = _explained(each, trip_s, each_s - transfer_s / figures.operations)
    if share is None:
        return None
    count = max(1, round(each_s / trip_s))
    text = (
        f"an operation takes {format_duration(each_s)}: about {count} round "
        f"{'trip' if count == 1 else 'trips'} of {format_duration(trip_s)} one after the other"
    )
    return Limit(f"round-trips:{place}", (*seen, text), utilisation=min(1.0, share))


def trip_time(evidence: Evidence, place: str, sockets: Sockets | None) -> float | None:
    """Of the network alone where that is known, as probed for this run; else of the place's connections,
    whose least may be of a time before; else of the cheapest request.
    """
    path, alone = path_of(evidence, place), evidence.ceiling(f"round-trips:{place}")
    known = (
        path.connect_s if path else None,
        path.hops[-1].rtt_s if path and path.hops else None,
        sockets.min_rtt_s if sockets else None,
        alone.latency_s if alone else None,
    )
    return next((value for value in known if value), None)


def requests_sent(evidence: Evidence, place: str, sockets: Sockets | None, trip_s: float) -> float | None:
    """How many requests a place's connections sent at most, one after the other: not more than segments, than
    its bytes can hold, or than there was time in which some of it was on the way. None: not counted."""
    if sockets is None or sockets.segments_out is None or not sockets.sent:
        return None
    database = isinstance(evidence.place(place).spec, DatabaseSpec)
    bounds = [sockets.segments_out, sockets.sent / (STATEMENT_BYTES if database else REQUEST_BYTES)]
    if database and sockets.busy_s and trip_s:
        bounds.append(sockets.busy_s / trip_s)
    return min(bounds)


def _explained(asked: float | None, trip_s: float, each_s: float) -> float | None:
    """The share of an operation's time that its requests take one after the other; None: they do not.
    ``asked``: requests for each, None: not counted."""
    trips = each_s / trip_s
    if asked is None:
        return 1.0 if trips <= SMALL_OPERATION_TRIPS else None
    share = asked / trips
    if share > ONE_BY_ONE:
        return 1.0 if trips <= FEW_TRIPS else None
    return share if share >= MOSTLY else None
