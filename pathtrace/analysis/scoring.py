"""A prediction beside the fact: which of those kept was about this change, and how far off it was.

Only one that was made before the later run began counts, and only of the change that really came.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pathtrace.model.comparison import (
    Compared,
    Difference,
    Foretold,
    ForetoldChange,
    Prediction,
    StoredPrediction,
)
from pathtrace.model.run import Run

UNCHANGED = 0.01
"""A flow that was predicted to stay as it is has nothing to be scored."""
SAME_TIME = 0.05
"""A prediction starts from the same run: its time before is the comparison's, or it is of something else."""


def scored(
    predictions: Sequence[StoredPrediction],
    differences: Sequence[Difference],
    changed: Sequence[str],
    after: Run,
    flows: Sequence[Compared],
) -> tuple[Prediction, ...]:
    """Of the latest prediction that fits, by flow, the largest predicted change first."""
    fitting = [
        each
        for each in predictions
        if each.at < after.started_at
        and each.changes
        and all(_came(change, differences, changed, after) for change in each.changes)
    ]
    if not fitting:
        return ()
    foretold = sorted(fitting[-1].flows, key=lambda flow: -abs(flow.before_s - flow.expected_s))
    actual = {flow.name: flow for flow in flows}
    pairs = ((each, actual[each.flow]) for each in foretold if each.flow in actual)
    return tuple(found for each, flow in pairs if (found := _beside(each, flow)) is not None)


def _beside(foretold: Foretold, flow: Compared) -> Prediction | None:
    if not flow.after_s or not flow.before_s or foretold.expected_s <= 0:
        return None
    if math.isclose(foretold.before_s, foretold.expected_s, rel_tol=UNCHANGED):
        return None
    if not math.isclose(foretold.before_s, flow.before_s, rel_tol=SAME_TIME):
        return None
    error = flow.after_s / foretold.expected_s - 1
    return Prediction(flow.name, foretold.expected_s, foretold.low, foretold.high, flow.after_s, error)


def _came(
    change: ForetoldChange, differences: Sequence[Difference], changed: Sequence[str], after: Run
) -> bool:
    """True if what was predicted about differs now (or was said to), and to the value that was asked for."""
    kind, _, name = change.resource.rpartition(":")
    if not kind:
        return any(each.what == name and each.after == f"{change.after:g}" for each in differences)
    subject, _, part = name.partition(".")
    if kind == "link" and not part and not _has_speed(after, subject, change.after):
        return False
    causes = {each.cause for each in differences if each.matters}
    owners = {each.what.partition(".")[0] for each in differences if each.matters and kind == "disk"}
    said = {subject, change.resource, f"{kind}:{subject}"}
    return bool(said & {*causes, *owners, *changed})


def _has_speed(after: Run, link: str, bytes_per_s: float) -> bool:
    """False where the later run's scenario declares another speed than was predicted with."""
    declared = [each.speed_bytes_per_s for each in after.scenario.links if each.name == link]
    return all(speed is None or math.isclose(speed, bytes_per_s, rel_tol=1e-3) for speed in declared)
