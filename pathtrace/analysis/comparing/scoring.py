"""A prediction beside the fact: which of those kept was about this change, and how far off it was.

Only one that was made before the later run began counts, and only of the change that really came.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from pathtrace.model.comparison import (
    Compared,
    Difference,
    Foretold,
    ForetoldChange,
    Prediction,
    StoredPrediction,
)
from pathtrace.model.run import Run
from pathtrace.model.scenario import Link

UNCHANGED = 0.01
"""A flow that was predicted to stay as it is has nothing to be scored."""
SAME_TIME = 0.05
"""A prediction starts from the same run: its time before is the comparison's, or it is of something else."""
SAME_SPEED = 1e-3


def fitting(
    predictions: Sequence[StoredPrediction],
    differences: Sequence[Difference],
    changed: Sequence[str],
    after: Run,
) -> StoredPrediction | None:
    """Of those whose every change came, the one with the most changes; of several the latest."""
    found = [
        each
        for each in predictions
        if each.at < after.started_at
        and each.changes
        and all(_came(change, differences, changed, after) for change in each.changes)
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
    """True if what was predicted about differs now (or was said to), and to the value that was asked for.

    A setting of a place is its own cause, and says nothing of the disk below: ``library.batch``.
    """
    kind, _, name = change.resource.rpartition(":")
    if not kind:
        value = change.after if isinstance(change.after, str) else f"{change.after:g}"
        return any(each.what == name and each.after == value for each in differences)
    if isinstance(change.after, str):
        return False
    subject, _, part = name.partition(".")
    matter = [each for each in differences if each.matters]
    said = {subject, change.resource, f"{kind}:{subject}"}
    if kind == "link":
        fresh = {each.what.removesuffix(".hosts") for each in matter if each.before is None}
        said.update(
            link.name for link in after.scenario.links if link.name in fresh and _joins(link, subject)
        )
        if not (_is_of_latency(said, matter) if part else _has_speed(after, said, change.after)):
            return False
    moved = {each.what.partition(".")[0] for each in matter if kind == "disk" and each.cause != each.what}
    return bool(said & {*(each.cause for each in matter), *moved, *changed})


def _joins(link: Link, subject: str) -> bool:
    """True of a link between the two hosts by which one that was not there yet was called."""
    return subject in ("-".join(link.hosts), "-".join(reversed(link.hosts)))


def _is_of_latency(links: set[str], matter: Sequence[Difference]) -> bool:
    """False where one of these links carries more or less than it did: that is another change."""
    return not any(each.cause in links and each.what.endswith(".speed") for each in matter)


def _has_speed(after: Run, links: set[str], bytes_per_s: float) -> bool:
    """False where the later run's scenario, or else the card, has another speed than was predicted with."""
    mine = [link for link in after.scenario.links if link.name in links]
    declared = [link.speed_bytes_per_s for link in mine if link.speed_bytes_per_s is not None]
    speeds = declared or [speed for link in mine for speed in _negotiated(after, link)]
    return all(math.isclose(speed, bytes_per_s, rel_tol=SAME_SPEED) for speed in speeds)


def _negotiated(run: Run, link: Link) -> Iterator[float]:
    """Of the cards of this host by which the link's other hosts are reached."""
    here = next((host for host in run.environment.hosts if host.name == run.scenario.here.name), None)
    used = {route.interface for route in run.routes if route.host in link.hosts}
    for interface in here.interfaces if here is not None else ():
        if interface.name in used and interface.speed_bytes_per_s is not None:
            yield interface.speed_bytes_per_s
