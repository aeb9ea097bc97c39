"""What to do about a resource, in one sentence; a setting or a cache before anything that costs money."""

from __future__ import annotations

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.limiting.limits import Judged
from pathtrace.analysis.network_advice import Advice, far_advice, link_advice, trips_advice
from pathtrace.analysis.study import FlowStudy
from pathtrace.model.scenario import Action, Commit, DatabaseSpec, Place
from pathtrace.units import format_duration

GOOD_BATCH = 500
"""Rows per commit beyond which a larger batch hardly helps."""
IDLE_MACHINE = 0.7
"""Below this share of all cores in use, more workers find a core."""


def advice(
    resource: str, saved_s: float, study: FlowStudy, judged: Judged | None, evidence: Evidence
) -> Advice:
    """``saved_s``: seconds a day if the resource took no time at all, the bound of any purchase."""
    bound = f"at most {format_duration(saved_s)} a day"
    kind, _, subject = resource.partition(":")
    match kind:
        case "commit":
            return _commit(evidence.place(subject), bound)
        case "link" | "loss" | "mtu":
            return link_advice(kind, subject, bound, study, evidence)
        case "cpu" | "disk" | "server" if evidence.is_far(subject):
            return far_advice(kind, subject, bound, study, judged, evidence)
        case "cpu":
            return _cpu(evidence.place(subject), bound, study, evidence)
        case "wait":
            return _wait(subject, bound, judged)
        case "disk":
            return Advice(f"a faster disk under {subject} saves {bound}", False)
        case "round-trips":
            return trips_advice(evidence.place(subject), bound)
        case "database":
            return Advice(f"larger batches or a leaner index at {subject} save {bound}", True)
        case "model":
            return Advice(f"a smaller or more coarsely quantised model, or a GPU, saves {bound}", False)
        case "memory":
            return Advice(f"more or faster memory on {subject}, or a smaller model, saves {bound}", False)
        case "server":
            return Advice(f"look at the server behind {subject} first: it holds {bound}", True)
        case "tracer":
            return Advice(
                "pathtrace itself is the limit here: nothing to buy, the real thing may be faster", True
            )
        case _:
            return Advice(_unknown(judged), True)


def keep_loaded(model: str, saved_s: float, remedy: str | None = None) -> Advice:
    """Against weights that are read again at each request; ``remedy`` where the reason is known."""
    what = remedy or f"keep the model at {model} loaded (keep-alive, one model at a time, unchanged options)"
    return Advice(f"{what}: saves at most {format_duration(saved_s)} a day", True)


def _commit(place: Place, bound: str) -> Advice:
    spec = place.spec
    if isinstance(spec, DatabaseSpec) and spec.commit is Commit.ROW:
        return Advice(f"`commit: batch` at {place.name} instead of a commit per row saves {bound}", True)
    if isinstance(spec, DatabaseSpec) and spec.batch < GOOD_BATCH and spec.commit is Commit.BATCH:
        return Advice(f"`batch: {GOOD_BATCH}` at {place.name} commits less often and saves {bound}", True)
    return Advice(f"a disk under {place.name} that syncs faster saves {bound}", False)


def _cpu(place: Place, bound: str, study: FlowStudy, evidence: Evidence) -> Advice:
    used = evidence.host_share(study.span)
    here = place.host == evidence.run.scenario.here.name
    if here and place.workers < evidence.cores and (used is None or used < IDLE_MACHINE):
        return Advice(
            f"`workers: {evidence.cores}` at {place.name} uses cores that are idle, saves {bound}", True
        )
    return Advice(f"a leaner program, or more and faster cores for {place.name}, saves {bound}", False)


def _wait(subject: str, bound: str, judged: Judged | None) -> Advice:
    pause = judged.figures.idle if judged is not None else None
    each = f" ({format_duration(pause.p50_s)} at each call)" if pause is not None else ""
    return Advice(
        f"find what {subject} waits for{each}: no hardware shortens it, removing it saves {bound}", True
    )


def _unknown(judged: Judged | None) -> str:
    following = judged.limit.next_measurement if judged is not None else None
    what = judged.figures.stage.action if judged is not None else Action.READ
    return f"find out what limits {what} before buying: {following or 'measure it alone'}"
