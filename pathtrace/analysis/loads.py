"""What loads bring to light: several people at once, a model after an idle time, unchanged documents again.

Findings only; the figures themselves are other modules'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pathtrace.analysis.evidence import Evidence, Span
from pathtrace.analysis.executions import Execution, executions
from pathtrace.analysis.rereading import WHOLE
from pathtrace.analysis.study import FlowStudy
from pathtrace.model.report import Finding, RequestsReport
from pathtrace.model.scenario import FrequencyKind, ProcessSpec
from pathtrace.units import format_bytes, format_count_rate, format_duration, format_ratio

MORE = 1.1
"""Above this ratio two load levels differ by more than their noise, roughly."""


def load_findings(
    evidence: Evidence, studies: Sequence[FlowStudy], requests: Sequence[RequestsReport]
) -> tuple[Finding, ...]:
    """In the order in which they matter."""
    return (
        *_read_again(evidence, studies),
        *_after_idle(evidence),
        *_levels(requests),
        *_checks(evidence),
    )


def _levels(requests: Sequence[RequestsReport]) -> Iterator[Finding]:
    """The least against the most people at once, flow by flow."""
    for flow in dict.fromkeys(report.flow for report in requests):
        mine = sorted((each for each in requests if each.flow == flow), key=lambda each: each.users)
        few, many = mine[0], mine[-1]
        if few.users == many.users or not (few.per_s and many.per_s):
            continue
        if few.latency.p50_s is None or many.latency.p50_s is None:
            continue
        more, longer = many.per_s / few.per_s, many.latency.p50_s / few.latency.p50_s
        yield Finding(
            "load-levels",
            f"{flow} with {many.users} people at once instead of {few.users}: "
            f"{_in_all(more)}, {_each(longer)}",
            tuple(_level_text(each) for each in mine),
        )


def _in_all(ratio: float) -> str:
    return f"{ratio:.1f} times as much in all" if ratio >= MORE else "no more in all"


def _each(ratio: float) -> str:
    return f"each waits {ratio:.1f} times as long" if ratio >= MORE else "nobody waits longer"


def _level_text(report: RequestsReport) -> str:
    rate = format_count_rate(report.per_s or 0.0)
    return f"{report.users}: {rate}, an answer takes {format_duration(report.latency.p50_s or 0.0)}"


def _after_idle(evidence: Evidence) -> Iterator[Finding]:
    """Weights that a model's server read again at the first request after a pause."""
    run = evidence.run
    for index, flow in enumerate(run.scenario.flows):
        model = evidence.model_place(flow, len(flow.stages) - 1)
        weights = evidence.weights_of(model) if model else None
        reached = evidence.reached(weights) if weights else None
        size = reached.facts.bytes if reached and reached.facts else None
        if model is None or not size:
            continue
        for idle_s in sorted({w.idle_s for w in run.windows if w.flow == index and w.idle_s}):
            spans = [
                Span(w.start_ns, w.end_ns)
                for w in run.windows
                if w.flow == index and w.idle_s == idle_s and w.repeat >= 0
            ]
            read = [taken for span in spans if (taken := evidence.server_read(model, span)) is not None]
            again = [taken for taken in read if taken >= WHOLE * size]
            if read and 2 * len(again) > len(read):
                yield Finding(
                    "frequency",
                    f"{weights}->{model}: loaded again after {format_duration(idle_s)} without requests: "
                    f"{format_bytes(float(np.median(again)))} re-read, in {len(again)} of {len(read)} pauses",
                    (f"I/O counters of the server behind {model}",),
                )


def _read_again(evidence: Evidence, studies: Sequence[FlowStudy]) -> Iterator[Finding]:
    """A command that is given unchanged documents again, and reads all of them again."""
    scenario = evidence.run.scenario
    for study in studies:
        spec = scenario.place(study.flow.stages[1].place).spec
        reads = isinstance(spec, ProcessSpec) and spec.command is not None
        if study.flow.frequency.kind is not FrequencyKind.PER_DOCUMENT or not reads:
            continue
        shares = _shares_read(evidence, study)
        if len(shares) < 2 or shares[0] < WHOLE or min(shares[1:]) < WHOLE:
            continue
        place = study.flow.stages[1].place
        yield Finding(
            "frequency",
            f"{study.flow.name}: declared {study.flow.frequency.text}, observed at every run: "
            f"{place} read the same {format_bytes(study.stages[0].figures.bytes)} again each time",
            (
                f"its own I/O counters over {len(shares)} runs of unchanged documents: "
                + ", ".join(format_ratio(min(1.0, share)) for share in shares),
            ),
        )


def _shares_read(evidence: Evidence, study: FlowStudy) -> list[float]:
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


def _checks(evidence: Evidence) -> Iterator[Finding]:
    results = evidence.run.checks
    if not results:
        return
    passed = sum(result.passed for result in results)
    text = f"{passed} of {len(results)} checks passed ({format_ratio(passed / len(results))})"
    failed = tuple(
        f"{result.ask!r}: not found: {', '.join(result.missing)}" for result in results if not result.passed
    )
    yield Finding("checks", text, failed or ("every expected document or word was found",))
