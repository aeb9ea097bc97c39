"""The recipe behind ``compare`` and the before/after page: finds the runs, their history, and holds each
against the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pathtrace.analysis.comparing.comparison import Measured
from pathtrace.errors import IncomparableError, UsageError
from pathtrace.model.comparison import Comparison


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """Each later run beside the first. ``damaged``: runs of which a part is lost."""

    before: Measured
    afters: tuple[Measured, ...]
    comparisons: tuple[Comparison, ...]
    """One for each of ``afters``."""
    damaged: tuple[str, ...]


def compare_runs(
    store: Path, before: str, afters: Sequence[str], changed: Sequence[str], prices: Sequence[str] = ()
) -> ComparedRuns:
    """IncomparableError, with every reason, if any of the runs cannot be held against the first."""
    from pathtrace.analysis import analyse
    from pathtrace.analysis.comparing.comparability import start_of
    from pathtrace.analysis.comparing.comparison import compare
    from pathtrace.store.find import resolve
    from pathtrace.store.foretold import stored_predictions
    from pathtrace.store.history import like_times
    from pathtrace.store.runs import DAMAGED, load

    def measured(name: str) -> Measured:
        run = load(resolve(store, name))
        return Measured(run, analyse(run))

    first, others = measured(before), [measured(name) for name in afters]
    start, apart = start_of(first.run), {other.run.id for other in others}
    predictions = stored_predictions(resolve(store, before))
    found = [
        compare(
            first,
            other,
            changed=changed,
            history=like_times(store, first.run, start, until=other.run.id, apart=apart),
            predictions=predictions,
            prices=prices,
        )
        for other in others
    ]
    _require_comparable(first.run.id, found)
    lost = [
        each.run.id
        for each in (first, *others)
        if any(caveat.code == DAMAGED for caveat in each.report.caveats)
    ]
    return ComparedRuns(first, tuple(others), tuple(found), tuple(dict.fromkeys(lost)))


def _require_comparable(before: str, found: Sequence[Comparison]) -> None:
    reasons = [(each.after.id, reason) for each in found for reason in each.reasons]
    if reasons:
        raise IncomparableError(
            tuple(
                UsageError(f"cannot be compared with {before}: {reason}", where=after)
                for after, reason in reasons
            )
        )
