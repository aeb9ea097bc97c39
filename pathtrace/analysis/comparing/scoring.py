"""A prediction beside the fact: which of those kept was about this change, and how far off it was.

Only one that was made before the later run began counts, and only of the change that really came.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from pathtrace.analysis.comparing.arrival import Missing, Seen, missing
from pathtrace.model.comparison import (
    Compared,
    Foretold,
    Prediction,
    StoredPrediction,
)
from pathtrace.units import format_duration

UNCHANGED = 0.01
"""A flow that was predicted to stay as it is has nothing to be scored."""
SAME_TIME = 0.05
"""A prediction starts from the same run: its time before is the comparison's, or it is of something else."""


def fitting(predictions: Sequence[StoredPrediction], seen: Seen) -> StoredPrediction | None:
    """Of those whose every change came, the one with the most changes; of several the latest."""
    found = [
        each
        for each in predictions
        if _in_time(each, seen)
        and each.changes
        and all(missing(change, seen) is None for change in each.changes)
    ]
    most = max((len(each.changes) for each in found), default=0)
    return next((each for each in reversed(found) if len(each.changes) == most), None)


def scored(prediction: StoredPrediction | None, flows: Sequence[Compared]) -> tuple[Prediction, ...]:
    """By flow, the largest predicted change first."""
    if prediction is None:
        return ()
    foretold = sorted(prediction.flows, key=lambda flow: -abs(flow.before_s - flow.expected_s))
    actual = {flow.name: flow for flow in flows}
    pairs = ((each, actual[each.flow]) for each in foretold if each.flow in actual)
    return tuple(found for each, flow in pairs if (found := _beside(each, flow)) is not None)


def unscored(
    predictions: Sequence[StoredPrediction],
    fits: StoredPrediction | None,
    flows: Sequence[Compared],
    seen: Seen,
) -> tuple[str, ...]:
    """Why none of those kept stands beside the fact, each reason once: of what did change first, the latest
    first. ``fits``: the one whose changes came."""
    if fits is not None:
        return tuple(_unlike_fact(fits, flows))
    touched: list[str] = []
    others: list[str] = []
    for each in reversed(predictions):
        found = _unfit(each, seen)
        (touched if found.touched else others).append(found.text)
    return tuple(dict.fromkeys((*touched, *others)))


def _unfit(prediction: StoredPrediction, seen: Seen) -> Missing:
    if not _in_time(prediction, seen):
        return Missing(f"that of {prediction.at} was made after the later run began", False)
    found = [why for change in prediction.changes if (why := missing(change, seen)) is not None]
    both = "; ".join(why.text for why in found)
    return Missing(both or f"that of {prediction.at} is about no change", any(why.touched for why in found))


def _unlike_fact(prediction: StoredPrediction, flows: Sequence[Compared]) -> Iterator[str]:
    actual = {flow.name: flow for flow in flows}
    for each in prediction.flows:
        yield f"{each.flow}: {_not_beside(each, actual.get(each.flow))}"
    if not prediction.flows:
        yield "of the change that came nothing could be told"


def _in_time(prediction: StoredPrediction, seen: Seen) -> bool:
    return prediction.at < seen.after.started_at


def _not_beside(foretold: Foretold, flow: Compared | None) -> str | None:
    """Why a flow has nothing to be scored; None if it has."""
    if flow is None or not flow.after_s or not flow.before_s or foretold.expected_s <= 0:
        return "was not measured in both runs"
    if math.isclose(foretold.before_s, foretold.expected_s, rel_tol=UNCHANGED):
        return "was predicted to stay as it is"
    if not math.isclose(foretold.before_s, flow.before_s, rel_tol=SAME_TIME):
        was, took = format_duration(foretold.before_s), format_duration(flow.before_s)
        return f"was predicted from {was}, and the earlier run took {took}"
    return None


def _beside(foretold: Foretold, flow: Compared) -> Prediction | None:
    if _not_beside(foretold, flow) is not None or flow.after_s is None:
        return None
    error = flow.after_s / foretold.expected_s - 1
    return Prediction(flow.name, foretold.expected_s, foretold.low, foretold.high, flow.after_s, error)
