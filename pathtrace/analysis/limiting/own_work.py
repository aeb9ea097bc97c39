"""Whether pathtrace itself is what a stage waits for: its code path, a thread, its loop, its process."""

from __future__ import annotations

from pathtrace.analysis.evidence import Evidence, Span
from pathtrace.analysis.limiting.limit import (
    FAR_TRACER,
    FULL,
    HELD_BACK,
    MOSTLY,
    NEAR_TRACER,
    TRACER,
    Limit,
    cores_text,
)
from pathtrace.analysis.summary import StageFigures
from pathtrace.units import format_ratio


def tracer_limit(
    figures: StageFigures, evidence: Evidence, span: Span, seen: tuple[str, ...]
) -> Limit | None:
    """pathtrace itself, if its code path or its thread, loop or process is at its end; else None."""
    if (ceiling := _at_tracer_ceiling(figures, evidence)) is not None:
        return Limit(TRACER, (*seen, ceiling[0]), utilisation=ceiling[1])
    if figures.cpu_share is not None and figures.cpu_share >= FULL:
        text = f"pathtrace's own thread computes {format_ratio(min(1.0, figures.cpu_share))} of the time"
        return Limit(TRACER, (*seen, text), utilisation=min(1.0, figures.cpu_share))
    return own_cpu_limit(evidence, span, seen)


def own_cpu_limit(evidence: Evidence, span: Span, seen: tuple[str, ...]) -> Limit | None:
    """pathtrace's process or event loop fills a core: its in-process stages share one interpreter."""
    own, loop = evidence.own_cores(span), evidence.loop_cores(span)
    if own is not None and own >= FULL:
        text = f"pathtrace's own process uses {cores_text(own)}, and its stages share one interpreter"
        return Limit(TRACER, (*seen, text), utilisation=min(1.0, own))
    if loop is not None and loop >= FULL:
        text = f"pathtrace's event loop uses {cores_text(loop)}"
        return Limit(TRACER, (*seen, text), utilisation=min(1.0, loop))
    return None


def _at_tracer_ceiling(figures: StageFigures, evidence: Evidence) -> tuple[str, float] | None:
    near = _share_of_ceiling(figures, evidence)
    if near is None or near < NEAR_TRACER:
        return None
    return f"{format_ratio(near)} of what the same code path does against memory", min(1.0, near)


def far_tracer_limit(
    figures: StageFigures, evidence: Evidence, span: Span, seen: tuple[str, ...]
) -> Limit | None:
    """The same of a client of another host: any thread of pathtrace's may be the client's."""
    near = _share_of_ceiling(figures, evidence)
    if near is not None and near >= FAR_TRACER:
        text = f"{format_ratio(near)} of what the same code path does against memory"
        return Limit(TRACER, (*seen, text), utilisation=min(1.0, near))
    return own_threads_limit(figures, evidence, span, seen)


def own_threads_limit(
    figures: StageFigures, evidence: Evidence, span: Span, seen: tuple[str, ...]
) -> Limit | None:
    """pathtrace's threads alone: whatever its code path could do against memory."""
    if figures.cpu_share is not None and figures.cpu_share >= FULL:
        text = f"pathtrace's own thread computes {format_ratio(min(1.0, figures.cpu_share))} of the time"
        return Limit(TRACER, (*seen, text), utilisation=min(1.0, figures.cpu_share))
    return (
        _full_thread(figures, evidence, span, seen)
        or own_cpu_limit(evidence, span, seen)
        or _crowded_out(figures, evidence, span, seen)
    )


def _crowded_out(
    figures: StageFigures, evidence: Evidence, span: Span, seen: tuple[str, ...]
) -> Limit | None:
    """A client that computes half of the time on a machine without a free core: it waits its turn."""
    share, machine = figures.cpu_share or 0.0, evidence.host_share(span) or 0.0
    if share < MOSTLY or machine < FULL:
        return None
    text = (
        f"pathtrace's own client computes {format_ratio(share)} of the time, and all cores here are "
        f"{format_ratio(min(1.0, machine))} busy: it waits its turn"
    )
    return Limit(TRACER, (*seen, text), utilisation=min(1.0, machine))


def _full_thread(
    figures: StageFigures, evidence: Evidence, span: Span, seen: tuple[str, ...]
) -> Limit | None:
    """A thread that fills a core, or would if it were let: a client written in Python has one."""
    found = []
    for subject in evidence.counters.subjects("self", "cpu_s"):
        if not subject.startswith("thread:") or not figures.active_s:
            continue
        cpu = (evidence.while_busy("self", subject, "cpu_s", figures, span) or 0.0) / figures.active_s
        delay = evidence.while_busy("self", subject, "run_delay_s", figures, span)
        held = (delay or 0.0) / figures.active_s
        if cpu >= FULL or (held >= HELD_BACK and cpu + held >= MOSTLY):
            found.append((cpu + held, cpu, held, subject.partition(":")[2]))
    if not found:
        return None
    full, cpu, held, name = max(found)
    text = f"pathtrace's own thread {name} uses {cores_text(cpu)}"
    text += f" and waits for one {format_ratio(min(1.0, held))} of the time" if held >= HELD_BACK else ""
    return Limit(TRACER, (*seen, text), utilisation=min(1.0, full))


def _share_of_ceiling(figures: StageFigures, evidence: Evidence) -> float | None:
    ceiling = evidence.tracer_ceiling(figures)
    if ceiling is None:
        return None
    by_rate = figures.rate / ceiling.bytes_per_s if ceiling.bytes_per_s else 0.0
    by_count = figures.operation_rate / ceiling.operations_per_s if ceiling.operations_per_s else 0.0
    return max(by_rate, by_count)
