"""Whether a command that is given unchanged documents again reads them again.

Only of a command that opens its documents itself: what it read is then taken from its own counters.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.executions import Execution, executions
from pathtrace.analysis.frequency.frequency import Observed
from pathtrace.analysis.frequency.rereading import WHOLE
from pathtrace.analysis.study import FlowStudy, daily
from pathtrace.model.report import Finding, FrequencyReport
from pathtrace.model.scenario import FrequencyKind, ProcessSpec
from pathtrace.units import format_bytes, format_duration, format_ratio

EVERY_RUN = "every run"
READ_AGAIN = "read-again"
_DOCUMENTS = (FrequencyKind.PER_DOCUMENT, FrequencyKind.EVERY)


def documents_again(evidence: Evidence, study: FlowStudy) -> Observed | None:
    """Of the hop that hands documents to such a command; None of any other, or where it cannot be told."""
    spec = evidence.place(study.flow.stages[1].place).spec
    reads = isinstance(spec, ProcessSpec) and spec.command is not None
    if study.flow.frequency.kind not in _DOCUMENTS or not reads:
        return None
    shares = _shares_read(evidence, study)
    if len(shares) < 2 or shares[0] < WHOLE:
        return None
    counted = f"its own I/O counters over {len(shares)} runs of unchanged documents: " + ", ".join(
        format_ratio(min(1.0, share)) for share in shares
    )
    if max(shares[1:]) < WHOLE:
        report = FrequencyReport(study.flow.frequency.text, str(FrequencyKind.PER_DOCUMENT), counted)
        return Observed(report, None, None)
    if min(shares[1:]) < WHOLE:
        return Observed(FrequencyReport(study.flow.frequency.text, None, counted), None, None)
    return _every_run(evidence, study, counted)


def _every_run(evidence: Evidence, study: FlowStudy, counted: str) -> Observed:
    declared, place = study.flow.frequency.text, study.flow.stages[1].place
    text = (
        f"declared {declared}, observed at {EVERY_RUN}: {place} read the same "
        f"{format_bytes(study.stages[0].figures.bytes)} again each time"
    )
    took_s = sum(part.seconds for part in study.path)
    cost = (
        f"a run over unchanged documents takes {format_duration(took_s)}{_per_day(evidence, study, took_s)}"
    )
    finding = Finding(READ_AGAIN, f"{study.flow.name}: {text}", (counted, cost))
    return Observed(FrequencyReport(declared, EVERY_RUN, f"{text}; {counted}"), None, finding)


def _per_day(evidence: Evidence, study: FlowStudy, took_s: float) -> str:
    """As often as the whole flow runs; of documents that come one by one that is not known."""
    if study.flow.frequency.kind is not FrequencyKind.EVERY:
        return f": {format_duration(took_s)} a day if it runs every night"
    per_day_s = took_s * daily(evidence.run.scenario, study.flow, ()).executions
    return f": {format_duration(per_day_s)} a day"


def _shares_read(evidence: Evidence, study: FlowStudy) -> Sequence[float]:
    """Per repeat: bytes read per byte of document, whatever the command's program reads besides."""
    return [
        share
        for part in executions(evidence.run)
        if part.flow == study.index and part.repeat >= 0 and (share := _share_read(part)) is not None
    ]


def _share_read(part: Execution) -> float | None:
    """Slope of bytes read by a command over the size of its document; None if it cannot be told."""
    first = part.stage == 0
    if not first.any() or part.elapsed[first].any():
        return None  # read by us, so that nothing is known of what the command would read
    sizes = dict(zip(part.operation[first].tolist(), part.bytes[first].tolist(), strict=True))
    mine = (part.stage == 1) & (part.io_bytes >= 0) & part.ok
    given = np.array([float(sizes.get(cause, 0)) for cause in part.cause[mine].tolist()])
    read = part.io_bytes[mine].astype(np.float64)
    if len(given) < 2 or not np.ptp(given):
        return None
    return max(0.0, float(np.polyfit(given, read, 1)[0]))
