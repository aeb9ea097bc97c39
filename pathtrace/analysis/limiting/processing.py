"""What limits a stage that works on documents: a command, a service, or the built-in stand-in."""

from __future__ import annotations

from pathtrace.analysis.evidence import Evidence, Span
from pathtrace.analysis.limiting.far_limits import far_way_limit, link_alone
from pathtrace.analysis.limiting.limit import (
    FULL,
    MOSTLY,
    SHARED_CPU,
    SLIGHT,
    TRACER,
    Limit,
    cores_text,
    unknown,
)
from pathtrace.analysis.limiting.own_work import own_cpu_limit
from pathtrace.analysis.limiting.pauses import is_fixed, wait_limit
from pathtrace.analysis.summary import StageFigures
from pathtrace.model.scenario import Flow, PlaceKind, ProcessSpec
from pathtrace.units import format_bytes, format_ratio

LITTLE_CPU = 0.25
"""Below this share of CPU an operation mostly waits, whatever its spread."""
SOMEBODY_ELSE = 2.0
"""A device that read this many times what the command did was busy with something else."""


def process_limit(figures: StageFigures, flow: Flow, evidence: Evidence, span: Span) -> Limit:
    """Of a process place, by how it is run."""
    spec = evidence.place(figures.stage.place).spec
    assert isinstance(spec, ProcessSpec)
    if spec.run is not None:
        return _in_process(figures, evidence, span)
    if spec.url is not None:
        way = far_way_limit(figures, evidence, span, figures.stage.place)
        return way or _service(figures, evidence)
    return _command(figures, flow, evidence, span)


def cpu_text(figures: StageFigures, evidence: Evidence) -> str:
    """Whose CPU, where, how much of the time and how many cores."""
    place = evidence.place(figures.stage.place)
    cores = (figures.cpu_s or 0.0) / figures.active_s if figures.active_s else 0.0
    share = format_ratio(min(1.0, figures.cpu_share or 0.0))
    return (
        f"{place.name} on {place.host} computes {share} of the time that its operations take "
        f"({cores_text(cores)} of {evidence.cores})"
    )


def _in_process(figures: StageFigures, evidence: Evidence, span: Span) -> Limit:
    share, seen = min(1.0, figures.cpu_share or 0.0), (cpu_text(figures, evidence),)
    own, cores = own_cpu_limit(evidence, span, seen), evidence.own_cores(span)
    cpu = Limit(f"cpu:{figures.stage.place}", seen, (TRACER,) if own else (), utilisation=share)
    if share >= FULL:
        return cpu
    if own is not None and cores and (figures.cpu_s or 0.0) >= MOSTLY * cores * span.wall_s:
        return Limit(cpu.resource, own.evidence, also=(TRACER,), utilisation=own.utilisation)
    return own or unknown(cpu.evidence, "feed the process from memory with one worker")


def _command(figures: StageFigures, flow: Flow, evidence: Evidence, span: Span) -> Limit:
    share = figures.cpu_share
    if share is None:
        return unknown(("the command's CPU time could not be read here",), "run on Linux, where it can")
    seen = (cpu_text(figures, evidence),)
    cpu = f"cpu:{figures.stage.place}"
    if share >= FULL:
        return Limit(cpu, seen, utilisation=min(1.0, share))
    if (source := _own_source(figures, flow, evidence, span)) is not None:
        return source
    machine = evidence.host_share(span) or 0.0
    full = (*seen, f"all cores together are {format_ratio(min(1.0, machine))} busy: it waits its turn to run")
    demand = figures.workers * share / evidence.cores
    if max(machine, demand) >= FULL and share >= MOSTLY:
        return Limit(cpu, full, utilisation=min(1.0, max(machine, demand)))
    if share < LITTLE_CPU:
        return _waiting(figures, evidence, span, seen, share)
    if machine >= FULL and share >= SHARED_CPU:
        return Limit(cpu, full, utilisation=min(1.0, machine))
    if share < MOSTLY and is_fixed(figures.idle):
        return _waiting(figures, evidence, span, seen, share)
    return own_cpu_limit(evidence, span, seen) or unknown(
        (*seen, "neither its CPU nor a pause explains the rest"),
        "run the command alone on one document, with one worker, and see what it waits for",
    )


def _waiting(
    figures: StageFigures, evidence: Evidence, span: Span, seen: tuple[str, ...], share: float
) -> Limit:
    """A command that starts slowly since pathtrace cannot start it faster does not wait by itself."""
    return own_cpu_limit(evidence, span, seen) or wait_limit(figures, figures.stage.place, seen, share)


def _own_source(figures: StageFigures, flow: Flow, evidence: Evidence, span: Span) -> Limit | None:
    """What a command that reads its documents itself reads from: the link they come over, or their disk."""
    source = next((name for name in flow.path if evidence.place(name).kind is PlaceKind.FILES), None)
    if source is not None and figures.io_bytes and evidence.is_far(source):
        return link_alone(figures, evidence, span, source)
    return _own_disk(figures, flow, evidence, span)


def _own_disk(figures: StageFigures, flow: Flow, evidence: Evidence, span: Span) -> Limit | None:
    """A command that reads its documents itself: the disk they lie on, if that was busy for it."""
    source = next((name for name in flow.path if evidence.place(name).kind is PlaceKind.FILES), None)
    disk = evidence.disk(source, span) if source and figures.io_bytes else None
    busy = disk.busy_share(figures.active_s) if disk else None
    if disk is None or busy is None or busy < MOSTLY:
        return None
    share = disk.read_bytes / (figures.io_bytes or 1)
    if share < MOSTLY or share > SOMEBODY_ELSE:
        return None  # memory served the command, or the device was busy for another program
    text = (
        f"{figures.stage.place} read {format_bytes(figures.io_bytes or 0)} itself, "
        f"{disk.name} was busy {format_ratio(busy)} of the time"
    )
    return Limit(f"disk:{source}", (text, cpu_text(figures, evidence)), utilisation=busy)


def _service(figures: StageFigures, evidence: Evidence) -> Limit:
    place = figures.stage.place
    server = evidence.server_during(place, figures)
    if server is None:
        return Limit(f"server:{place}", ("its process cannot be seen from here",))
    cores = server.cpu_s / figures.active_s if figures.active_s else 0.0
    seen = (f"the process behind {place} uses {cores_text(cores)}",)
    if cores >= FULL:
        return Limit(f"cpu:{place}", seen, utilisation=min(1.0, cores / evidence.cores))
    if cores < SLIGHT or (cores < MOSTLY and is_fixed(figures.idle)):
        return wait_limit(figures, place, seen, cores)
    return unknown(seen, f"watch the process behind {place} while one document passes")
