"""Flows of which a part was measured: through a sample of their files, or cut short. They say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.study import FlowStudy
from pathtrace.model.report import Finding
from pathtrace.model.scenario import FilesSpec, Flow, FrequencyKind
from pathtrace.units import format_bytes, format_ratio


def share_of_files(evidence: Evidence, source: str) -> float | None:
    """Of all bytes, what a sample reads; None where everything is read."""
    spec, reached = evidence.place(source).spec, evidence.reached(source)
    facts = reached.facts if reached else None
    if not isinstance(spec, FilesSpec) or spec.sample is None or facts is None:
        return None
    if not facts.bytes or not facts.whole_bytes or facts.bytes >= facts.whole_bytes:
        return None
    return facts.bytes / facts.whole_bytes


def share_of_pass(evidence: Evidence, flow: Flow) -> float | None:
    """Of a whole pass, what was measured; None where all was, or where a flow counts single documents."""
    if flow.frequency.kind not in (FrequencyKind.ONCE, FrequencyKind.EVERY):
        return None
    return share_of_files(evidence, flow.path[0])


def was_cut_short(study: FlowStudy) -> bool:
    """True if a flow that is counted by whole passes never came to its end."""
    by_item = (FrequencyKind.PER_DOCUMENT, FrequencyKind.PER_REQUEST)
    return not study.chosen.complete and study.flow.frequency.kind not in by_item


def sampled(evidence: Evidence, studies: Sequence[FlowStudy]) -> Iterator[Finding]:
    """One for each flow whose seconds a day are those of a sample."""
    for study in studies:
        source, share = study.flow.path[0], share_of_pass(evidence, study.flow)
        reached = evidence.reached(source)
        if share is None or reached is None or reached.facts is None:
            continue
        text = (
            f"{study.flow.name} went through a sample of {source}, {format_ratio(share)} of its bytes: a "
            f"pass over all of them takes about {1 / share:,.1f} times as long, and as many seconds a day"
        )
        read, whole = format_bytes(reached.facts.bytes or 0), format_bytes(reached.facts.whole_bytes or 0)
        yield Finding("sampled", text, (f"{read} of {whole}",))
