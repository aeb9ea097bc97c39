"""The recipe behind ``compare``: finds the runs, their history, and holds each against the first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pathtrace.errors import IncomparableError, UsageError
from pathtrace.model.comparison import Comparison


def compare_runs(store: Path, before: str, afters: Sequence[str], changed: Sequence[str]) -> list[Comparison]:
    """IncomparableError, with every reason, if any of the runs cannot be held against the first."""
    from pathtrace.analysis import analyse
    from pathtrace.analysis.comparability import start_of
    from pathtrace.analysis.comparison import Measured, compare
    from pathtrace.store.find import resolve
    from pathtrace.store.foretold import stored_predictions
    from pathtrace.store.history import like_times
    from pathtrace.store.runs import load

    def measured(name: str) -> Measured:
        run = load(resolve(store, name))
        return Measured(run, analyse(run))

    first = measured(before)
    history = like_times(store, first.run, start_of(first.run))
    predictions = stored_predictions(resolve(store, before))
    found = [
        compare(first, measured(name), changed=changed, history=history, predictions=predictions)
        for name in afters
    ]
    reasons = [(each.after.id, reason) for each in found for reason in each.reasons]
    if reasons:
        raise IncomparableError(
            tuple(
                UsageError(f"cannot be compared with {first.run.id}: {reason}", where=after)
                for after, reason in reasons
            )
        )
    return found
