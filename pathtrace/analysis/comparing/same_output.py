"""Whether two runs did the same work: bytes read, rows stored, requests answered, checks passed.

Speed is praised only after this. What a search finds or a model answers may vary in its length, so of
these the number of operations counts and not their bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pathtrace.model.comparison import Difference, Output, OutputDifference
from pathtrace.model.report import HopReport, Report, StageReport
from pathtrace.model.run import Run
from pathtrace.model.scenario import Action

_VARYING = {Action.LOOKUP, Action.GENERATE, Action.DELIVER}
_PARCELS = {Action.EMBED, Action.INSERT}
"""Their operations are batches, which change with the workers' turns; their bytes do not."""
_QUALITY = ("name", "revision", "precision", "format", "model", "insert", "command", "run")


def same_output(before: Run, old: Report, after: Run, new: Report, work: Sequence[Difference]) -> Output:
    """``work``: settings of the workload that were changed on purpose."""
    earlier = {(hop.flow, hop.name): hop for hop in old.hops if hop.duration_s is not None}
    pairs = [
        (was, hop)
        for hop in new.hops
        if hop.duration_s is not None and (was := earlier.get((hop.flow, hop.name))) is not None
    ]
    found = tuple(each for was, hop in pairs for each in _hop(was, hop))
    checks = (_passed(before), _passed(after))
    another = any(each.what.rpartition(".")[2] in _QUALITY for each in work)
    return Output(
        same=not found and checks[0] == checks[1] if pairs else None,
        differences=found,
        checks=checks,
        quality_unchecked=another and None in checks,
    )


def _hop(before: HopReport, after: HopReport) -> Iterator[OutputDifference]:
    for old, new in zip(before.stages, after.stages, strict=False):
        yield from _stage(after, old, new)


def _stage(hop: HopReport, old: StageReport, new: StageReport) -> Iterator[OutputDifference]:
    subject = f"{hop.flow}, {new.action}@{new.place}"
    if new.action not in _PARCELS and (old.operations - old.errors) != (new.operations - new.errors):
        done = (old.operations - old.errors, new.operations - new.errors)
        yield OutputDifference(subject, "operations that succeeded", *done)
    if new.action not in _VARYING and old.bytes != new.bytes:
        yield OutputDifference(subject, "bytes", old.bytes, new.bytes)


def _passed(run: Run) -> float | None:
    return sum(check.passed for check in run.checks) / len(run.checks) if run.checks else None
