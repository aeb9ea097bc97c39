"""The run's resources and what each can do at most; what lay where."""

from __future__ import annotations

from collections.abc import Sequence

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.limiting.limit import BEYOND, UNKNOWN
from pathtrace.analysis.limiting.link_use import link_uses
from pathtrace.analysis.study import FlowStudy
from pathtrace.model.report import DatasetReport, ResourceReport
from pathtrace.model.run import Ceiling, Run
from pathtrace.model.scenario import Action, PlaceKind


def resource_reports(evidence: Evidence, studies: Sequence[FlowStudy]) -> tuple[ResourceReport, ...]:
    """Those with a ceiling first, then declared links, then what limits a stage without a ceiling.

    A link has one entry for each direction that was measured.
    """
    run, used = evidence.run, _utilisation(studies)
    full = _link_shares(evidence, studies)
    reports = {
        (ceiling.resource, ceiling.direction): _of_ceiling(ceiling, used, full, studies)
        for ceiling in run.ceilings
    }
    named = {name for name, _ in reports}
    for link in run.scenario.links:
        name = f"link:{link.name}"
        if name not in named:
            source = "declared" if link.speed_bytes_per_s else None
            share = max((each for (of, _), each in full.items() if of == name), default=None)
            reports[name, None] = ResourceReport(
                name, "link", link.speed_bytes_per_s, None, None, source, share, None
            )
    named = {name for name, _ in reports}
    for name, (share, why) in used.items():
        if name != UNKNOWN and name not in named:
            kind = name.partition(":")[0]
            reports[name, None] = ResourceReport(name, kind, None, None, None, None, share, why)
    return tuple(reports.values())


def _link_shares(evidence: Evidence, studies: Sequence[FlowStudy]) -> dict[tuple[str, str], float]:
    """How full each direction of a link was at most, where its ceiling is known."""
    shares: dict[tuple[str, str], float] = {}
    for study in studies:
        for judged in study.stages.values():
            place = judged.figures.stage.place
            if not evidence.is_far(place):
                continue
            for use in link_uses(judged.figures, evidence, study.span, place):
                if use.share is not None:
                    key = (use.link, use.direction)
                    shares[key] = max(shares.get(key, 0.0), use.share)
    return shares


def dataset_reports(run: Run) -> tuple[DatasetReport, ...]:
    """Of every files place that was reached."""
    return tuple(
        DatasetReport(
            place=reached.place,
            files=reached.facts.files,
            bytes=reached.facts.bytes,
            fingerprint=reached.facts.fingerprint,
            sparse_bytes=reached.facts.sparse_bytes,
            listing_s=reached.facts.listing_s,
        )
        for reached in run.reached
        if reached.facts is not None and run.scenario.place(reached.place).kind is PlaceKind.FILES
    )


def _of_ceiling(
    ceiling: Ceiling,
    used: dict[str, tuple[float | None, str]],
    full: dict[tuple[str, str], float],
    studies: Sequence[FlowStudy],
) -> ResourceReport:
    kind, _, subject = ceiling.resource.partition(":")
    if kind == "link":
        share = full.get((ceiling.resource, ceiling.direction or ""))
    elif (share := used.get(ceiling.resource, (None, ""))[0]) is None:
        share = _rate_share(ceiling, kind, subject, studies)
    if share is not None and share > BEYOND:
        share = None  # that was no ceiling: something else served it, or other work was measured
    return ResourceReport(
        name=ceiling.resource,
        kind=kind,
        ceiling_bytes_per_s=ceiling.bytes_per_s,
        ceiling_operations_per_s=ceiling.operations_per_s,
        ceiling_latency_s=ceiling.latency_s,
        ceiling_source=ceiling.source,
        utilisation=share,
        evidence=ceiling.evidence,
        direction=ceiling.direction,
    )


def _rate_share(ceiling: Ceiling, kind: str, subject: str, studies: Sequence[FlowStudy]) -> float | None:
    """The rate while busy, held against the ceiling; for the tracer also operations."""
    shares = []
    for study in studies:
        for judged in study.stages.values():
            figures = judged.figures
            names = (
                (figures.stage.place,) if kind == "disk" else (f"{study.flow.name}/{figures.stage.index}",)
            )
            moves = kind != "disk" or figures.stage.action is Action.READ
            if subject not in names or not moves:
                continue
            if ceiling.bytes_per_s and figures.bytes:
                shares.append(figures.rate / ceiling.bytes_per_s)
            elif ceiling.operations_per_s:
                shares.append(figures.operation_rate / ceiling.operations_per_s)
    return max(shares) if shares else None


def _utilisation(studies: Sequence[FlowStudy]) -> dict[str, tuple[float | None, str]]:
    """Per limiting resource: how full it was at most, and the first evidence for it."""
    found: dict[str, tuple[float | None, str]] = {}
    for study in studies:
        for judged in study.stages.values():
            limit = judged.limit
            before = found.get(limit.resource, (None, ""))[0]
            share = max((each for each in (before, limit.utilisation) if each is not None), default=None)
            if limit.resource not in found or share != before:
                found[limit.resource] = (share, "; ".join(limit.evidence))
    return found
