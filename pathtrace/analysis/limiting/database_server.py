"""What limits a database that is a server of its own, by what its processes do meanwhile.

Knows CPU time, time kept from running and the disk beneath; commits are told apart by ``serving``.
"""

from __future__ import annotations

from pathtrace.analysis.evidence import Evidence, Span
from pathtrace.analysis.limiting.far_host import far_disk, full_core, full_host
from pathtrace.analysis.limiting.limit import FULL, HELD_BACK, MOSTLY, TIE, TRACER, Limit, cores_text, unknown
from pathtrace.analysis.limiting.own_work import own_cpu_limit
from pathtrace.analysis.summary import StageFigures
from pathtrace.units import format_ratio


def database_server_limit(
    figures: StageFigures, evidence: Evidence, span: Span, seen: tuple[str, ...], commit: float
) -> Limit:
    """Kept from running: ``cpu:``; computing: ``database:``; else the disk. Unseen: ``database:``."""
    place = figures.stage.place
    server = evidence.server_during(place, figures)
    if server is None or not figures.elapsed_s:
        return _far(figures, evidence, span, seen)
    share = min(1.0, server.cpu_s / figures.elapsed_s)
    held = min(1.0, (evidence.run_delay(place, span) or 0.0) / figures.elapsed_s)
    cores = server.cpu_s / figures.active_s if figures.active_s else 0.0
    texts = (*seen, f"its server uses {cores_text(cores)} of {evidence.cores}")
    if held >= HELD_BACK:
        texts = (*texts, f"its processes wait for a core {format_ratio(held)} of the time")
    if held >= max(HELD_BACK, share) and held + share >= MOSTLY:
        quota = "a CPU quota, or others on this machine, keep it from running"
        return Limit(f"cpu:{place}", (*texts, quota), utilisation=min(1.0, held + share))
    if held + share >= MOSTLY and held + share >= commit:
        also = (f"commit:{place}",) if commit and abs(commit - share) <= TIE * share else ()
        also = (*also, TRACER) if own_cpu_limit(evidence, span, seen) else also
        return Limit(f"database:{place}", texts, also, utilisation=min(1.0, held + share))
    return _elsewhere(figures, evidence, span, texts)


def _far(figures: StageFigures, evidence: Evidence, span: Span, seen: tuple[str, ...]) -> Limit:
    """On another host: by what was seen of that over ssh, else the engine as a whole."""
    place = figures.stage.place
    if evidence.is_far(place) and figures.active_s:
        disk = far_disk(figures, evidence, span, place)
        if disk is not None and disk.busy is not None and disk.busy >= FULL:
            return Limit(f"disk:{place}", (*seen, disk.text), utilisation=disk.busy)
        full = full_core(figures, evidence, span, place) or full_host(figures, evidence, span, place)
        if full is not None:
            return Limit(f"database:{place}", (*seen, full.text), utilisation=full.share)
    return Limit(f"database:{place}", (*seen, "its process cannot be seen from here"))


def _elsewhere(figures: StageFigures, evidence: Evidence, span: Span, seen: tuple[str, ...]) -> Limit:
    """It computes little: its disk, or pathtrace as its client, or what cannot be told from outside."""
    place = figures.stage.place
    disk = evidence.disk_during(place, figures)
    busy = disk.busy_share(figures.active_s) if disk else None
    if disk is not None and busy is not None and busy >= FULL and disk.read_bytes + disk.write_bytes:
        text = f"{disk.name} busy {format_ratio(busy)} of the time"
        return Limit(f"disk:{place}", (*seen, text), utilisation=busy)
    return own_cpu_limit(evidence, span, seen) or unknown(
        seen, f"see what {place} waits for meanwhile: SELECT wait_event FROM pg_stat_activity"
    )
