"""What limits a stage that a database or a model works for: insert, lookup, generate, embed, deliver."""

from __future__ import annotations

from pathtrace.analysis.evidence import Evidence, ServerUse, Span
from pathtrace.analysis.frequency.rereading import WHOLE
from pathtrace.analysis.limiting.database_server import database_server_limit
from pathtrace.analysis.limiting.far_limits import far_way_limit
from pathtrace.analysis.limiting.limit import (
    FULL,
    MOSTLY,
    SLIGHT,
    TIE,
    TRACER,
    Limit,
    cores_text,
    per_operation,
    unknown,
)
from pathtrace.analysis.limiting.own_work import own_cpu_limit
from pathtrace.analysis.limiting.pauses import is_fixed, wait_limit
from pathtrace.analysis.limiting.reading import LOW_MEMORY
from pathtrace.analysis.summary import StageFigures
from pathtrace.model.scenario import Commit, DatabaseSpec, Flow, InferenceSpec
from pathtrace.units import format_bytes, format_duration, format_ratio

SYNCS = 6
"""Syncs of a commit at most: SQLite's journal, its header, the database and the folder, and some room."""
EXPLAINED = 0.75
"""Commit and CPU together make up most of an operation: the larger of them counts."""


def insert_limit(figures: StageFigures, evidence: Evidence, span: Span) -> Limit:
    """Commit if making it durable takes half of the time; else the engine's CPU; else the disk."""
    place = figures.stage.place
    if (way := far_way_limit(figures, evidence, span, place)) is not None:
        return way
    commit, cpu = figures.finish_share, figures.cpu_share or 0.0
    seen = _commit_texts(figures, evidence)
    if (index := _index_work(figures, evidence)) is not None:
        computes = f"the engine computes {format_ratio(min(1.0, cpu))} of the time"
        return Limit(f"database:{place}", (*seen, index, computes), utilisation=min(1.0, cpu))
    bigger = commit >= MOSTLY or (commit + cpu >= EXPLAINED and commit >= cpu)
    if bigger:
        also = (f"database:{place}",) if abs(commit - cpu) <= TIE * commit else ()
        return Limit(f"commit:{place}", seen, also, utilisation=min(1.0, commit))
    return _engine_limit(figures, evidence, span, seen, commit)


def _index_work(figures: StageFigures, evidence: Evidence) -> str | None:
    """Commits that take far longer than syncing does, while the engine computes: not durability."""
    ceiling = evidence.ceiling(f"commit:{figures.stage.place}")
    spec = evidence.place(figures.stage.place).spec
    if ceiling is None or ceiling.latency_s is None or (figures.cpu_share or 0.0) < MOSTLY:
        return None
    rows = spec.batch if isinstance(spec, DatabaseSpec) and spec.commit is Commit.ROW else 1
    each_s = figures.finish_s / (figures.operations * rows)
    if each_s <= SYNCS * ceiling.latency_s:
        return None
    return "the rest of a commit is the engine's own work, such as keeping its index"


def lookup_limit(figures: StageFigures, evidence: Evidence, span: Span) -> Limit:
    """The engine's CPU, else the disk under it."""
    if (way := far_way_limit(figures, evidence, span, figures.stage.place)) is not None:
        return way
    seen = (f"a query takes {per_operation(figures.elapsed_s, figures.operations)} on average",)
    return _engine_limit(figures, evidence, span, seen, 0.0)


def model_limit(figures: StageFigures, flow: Flow, evidence: Evidence, span: Span) -> Limit:
    """Of generate, embed and deliver: by what the model's server does meanwhile, where it can be seen."""
    model = evidence.model_place(flow, figures.stage.index)
    mean = f"an operation takes {per_operation(figures.elapsed_s, figures.operations)} on average"
    if model is None:
        return own_cpu_limit(evidence, span, (mean,)) or unknown(
            (mean, "no model on this path"), "measure each place of this path alone"
        )
    spec = evidence.place(model).spec
    if isinstance(spec, InferenceSpec) and spec.url is None:
        return own_cpu_limit(evidence, span, (mean,)) or unknown(
            (mean, "a stand-in answers"), "name the model server's `url`"
        )
    if (way := far_way_limit(figures, evidence, span, model)) is not None:
        return way
    server = evidence.server_during(model, figures)
    if server is None:
        return Limit(f"model:{model}", (mean, "its process cannot be seen from here"))
    return _visible_model(figures, evidence, span, server, model)


def _visible_model(
    figures: StageFigures, evidence: Evidence, span: Span, server: ServerUse, model: str
) -> Limit:
    cores = server.cpu_s / figures.active_s if figures.active_s else 0.0
    mean = f"an operation takes {per_operation(figures.elapsed_s, figures.operations)} on average"
    seen = (f"the server behind {model} uses {cores_text(cores)}", mean)
    if cores >= MOSTLY:
        return Limit(f"model:{model}", seen, utilisation=min(1.0, cores / evidence.cores))
    if (paging := _paging(figures, evidence, span, server, model, seen)) is not None:
        return paging
    if (anew := _loads_anew(figures, evidence, model)) is not None:
        return Limit(f"model:{model}", (*seen, anew), utilisation=min(1.0, cores / evidence.cores))
    host = evidence.host(evidence.place(model).host)
    if host is not None and host.gpus:
        return Limit(f"model:{model}", (*seen, f"{', '.join(host.gpus)}: what it does cannot be seen yet"))
    if cores < SLIGHT or is_fixed(figures.idle):
        return wait_limit(figures, model, seen, cores)
    return unknown(seen, f"watch the threads of the server behind {model} during one request")


def _loads_anew(figures: StageFigures, evidence: Evidence, model: str) -> str | None:
    """Its server reads the weights, from memory, each time that it is asked."""
    size = evidence.weights_bytes(model)
    read = evidence.server_read_during(model, figures)
    if not size or read is None or read < WHOLE * size * figures.operations:
        return None
    each = format_bytes(read / figures.operations)
    return f"its server read {each} at each operation: the weights are loaded anew, from this host's memory"


def _paging(
    figures: StageFigures,
    evidence: Evidence,
    span: Span,
    server: ServerUse,
    model: str,
    seen: tuple[str, ...],
) -> Limit | None:
    """Weights that come off the disk while people wait: too little memory, or read anew each time."""
    weights = evidence.weights_of(model)
    disk = evidence.disk_during(weights, figures) if weights else None
    busy = disk.busy_share(figures.active_s) if disk else None
    if not server.device_bytes or busy is None or busy < MOSTLY:
        return None
    taken = format_bytes(server.device_bytes)
    text = f"its server took {taken} off the disk meanwhile, which was busy {format_ratio(busy)} of the time"
    available = evidence.available_share(span)
    if available is not None and available < LOW_MEMORY:
        return Limit(f"memory:{evidence.place(model).host}", (*seen, text), utilisation=1 - available)
    return Limit(f"disk:{weights}", (*seen, text), utilisation=busy)


def _engine_limit(
    figures: StageFigures, evidence: Evidence, span: Span, seen: tuple[str, ...], commit: float
) -> Limit:
    place, cpu = figures.stage.place, figures.cpu_share
    spec = evidence.place(place).spec
    if cpu is None and isinstance(spec, DatabaseSpec) and not spec.url.startswith("sqlite"):
        return database_server_limit(figures, evidence, span, seen, commit)
    share = cpu or 0.0
    seen = (*seen, f"the engine computes {format_ratio(min(1.0, share))} of the time")
    if share >= FULL or (commit + share >= EXPLAINED and share > commit):
        also = (f"commit:{place}",) if commit and abs(commit - share) <= TIE * share else ()
        also = (*also, TRACER) if own_cpu_limit(evidence, span, seen) else also
        return Limit(f"database:{place}", seen, also, utilisation=min(1.0, share))
    if share >= MOSTLY and _fills_process(figures, evidence, span):
        own = evidence.own_cores(span) or 0.0
        text = f"pathtrace's process uses {cores_text(own)}, most of it for the engine inside it"
        return Limit(f"database:{place}", (*seen, text), utilisation=min(1.0, share))
    disk = evidence.disk(place, span)
    busy = disk.busy_share(figures.active_s) if disk else None
    if disk is not None and busy is not None and busy >= FULL and disk.read_bytes + disk.write_bytes:
        text = f"{disk.name} busy {format_ratio(busy)} of the time"
        return Limit(f"disk:{place}", (*seen, text), utilisation=busy)
    return own_cpu_limit(evidence, span, seen) or unknown(
        seen, "feed the database from memory, with one worker and nothing else running"
    )


def _fills_process(figures: StageFigures, evidence: Evidence, span: Span) -> bool:
    """True if an engine inside pathtrace's process (SQLite) is what that process computes for."""
    own = evidence.own_cores(span)
    return own is not None and (figures.cpu_s or 0.0) >= MOSTLY * own * span.wall_s


def _commit_texts(figures: StageFigures, evidence: Evidence) -> tuple[str, ...]:
    commit = per_operation(figures.finish_s, figures.operations)
    whole = per_operation(figures.elapsed_s, figures.operations)
    text = f"commits take {commit} of {whole} per operation ({format_ratio(min(1.0, figures.finish_share))})"
    ceiling = evidence.ceiling(f"commit:{figures.stage.place}")
    if ceiling is None or ceiling.latency_s is None:
        return (text,)
    return text, f"one sync on that disk takes {format_duration(ceiling.latency_s)} alone"
