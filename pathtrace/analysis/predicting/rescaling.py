"""What a faster or slower link, round trip or disk does to the stages that use it, and what holds then.

How much of a stage's time is the link's follows from how full it was and how many operations shared it:
with one at a time it is that share; a full link is all of it. Where what stands behind is not known, the
steps say so and the range is wide.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.limiting.limit import LINK_FULL
from pathtrace.analysis.limiting.limits import Judged
from pathtrace.analysis.limiting.link_use import link_ceiling, link_use
from pathtrace.analysis.limiting.links import link_name
from pathtrace.analysis.limiting.network_evidence import efficiency, route_of, sockets_of
from pathtrace.analysis.limiting.round_trips import requests_sent, trip_time
from pathtrace.analysis.predicting.altering import Hide, Hold, Rescale, Step
from pathtrace.analysis.predicting.next_measurements import (
    RUN,
    crossing_told,
    disk_told,
    link_told,
    trip_told,
)
from pathtrace.analysis.study import FlowStudy
from pathtrace.model.prediction import Change, Unknown
from pathtrace.model.scenario import Action

MOVES = (Action.READ, Action.WRITE)


@dataclass(slots=True)
class Plan:
    """What changes take of one flow. ``changed``: resources that are given another ceiling."""

    changed: frozenset[str] = frozenset()
    steps: list[Step] = field(default_factory=list)
    unknowns: list[Unknown] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    hidden: dict[int, list[Unknown]] = field(default_factory=dict)
    """What nobody knows of stages, and what would show it; forgotten where it makes no difference."""

    def hide(self, stage: int, what: str, measure: str, most_s: float | None = None) -> None:
        self.steps.append(Hide(stage, most_s))
        self.leave_open(stage, Unknown(what, measure))

    def leave_open(self, stage: int, unknown: Unknown) -> None:
        """Without hiding: the steps hold a range themselves."""
        self.hidden.setdefault(stage, []).append(unknown)

    @property
    def not_known(self) -> list[Unknown]:
        return [*(each for found in self.hidden.values() for each in found), *self.unknowns]


@dataclass(frozen=True, slots=True)
class Use:
    """A stage's use of a link. Bytes are payload that crossed."""

    share: float
    """Of the time in which it was busy the link was full, 0 to 1."""
    at_once: float
    """Operations in progress on average."""
    bytes: float
    ceiling_bytes_per_s: float
    raw_share: float = 1.0
    """Of its ceiling; above 1: the ceiling was none."""

    @property
    def full(self) -> bool:
        return self.share >= LINK_FULL

    @property
    def alone(self) -> float:
        """Of an operation's time, what its bytes would take on the link with nobody else there."""
        return self.share / self.at_once

    @property
    def queued(self) -> float:
        """The same with waiting for the others (mean value analysis of a closed queue, Schweitzer)."""
        return min(1.0, self.alone / max(self.alone, 1.0 - self.share * (1.0 - 1.0 / self.at_once)))


def link_steps(
    study: FlowStudy, evidence: Evidence, change: Change, plan: Plan, done: frozenset[int]
) -> None:
    """Of every stage whose place is reached over the link."""
    for index, judged in crossing_stages(study, evidence, change.subject):
        if index in done:
            continue
        place = judged.figures.stage.place
        if judged.figures.stage.action is Action.READ and not judged.figures.elapsed_s:
            _read_by_the_next(index, study, change, plan)
            continue
        use = use_of_link(judged, study, evidence)
        route = route_of(evidence, place)
        after = change.after * efficiency(route.mtu_bytes if route else None)
        if use is None:
            if judged.figures.stage.action in MOVES:
                plan.steps.append(Hold(index, judged.figures.bytes / after, change.resource))
            plan.steps.append(Rescale(index, 1.0, 0.0, _ratio(change.before, after)))
            plan.hide(
                index,
                f"how much of {place} crosses {change.resource}",
                crossing_told(place, evidence),
            )
            continue
        plan.steps.append(Hold(index, use.bytes / after, change.resource))
        ratio = use.ceiling_bytes_per_s / after
        if ratio > 1.0:  # at best what is slower now goes on beside the rest
            most = use.queued if not use.full else 1.0
            plan.steps.append(Rescale(index, 1.0 if use.full else 0.0, most, ratio))
            continue
        plan.steps.append(Rescale(index, *_saved(use, judged), ratio))
        if use.full:
            behind(index, judged, evidence, plan)


def _read_by_the_next(index: int, study: FlowStudy, change: Change, plan: Plan) -> None:
    """A command that opens the documents itself: it reads somewhere in the time that it does not compute."""
    following = study.stages.get(index + 1)
    if following is None or not change.before:
        return
    place = following.figures.stage.place
    waits = 1.0 - min(1.0, following.figures.cpu_share or 0.0)
    shares = (waits, 0.0) if change.after >= change.before else (0.0, waits)
    plan.steps.append(Rescale(index + 1, *shares, change.before / change.after))
    unknown = Unknown(
        f"how long {place} waits for what it reads over {change.resource}",
        f"{RUN}, with a command of {place} that takes the document on standard input",
    )
    plan.leave_open(index + 1, unknown)


def _saved(use: Use, judged: Judged) -> tuple[float, float]:
    """The link's share of the stage's time, at best and at worst. Beside something else that is busy the
    bytes may cross unseen; and while that is busy nobody waits for the link."""
    if use.full:
        return 1.0, use.queued
    if judged.limit.resource.partition(":")[0] == "round-trips":
        return max(use.queued, use.share), use.alone
    return min(max(use.queued, use.share), 1.0 - (judged.limit.utilisation or 0.0)), 0.0


def behind(index: int, judged: Judged, evidence: Evidence, plan: Plan) -> None:
    """A full link hides what stands behind it: its own disk may be known from a measurement alone."""
    place = judged.figures.stage.place
    if not hold_by_disk(index, judged, evidence, plan):
        plan.hide(
            index,
            f"how fast the disk and the server of {place} are: the full link hides them",
            disk_told(place, judged.figures.stage.action, evidence),
        )


def hold_by_disk(index: int, judged: Judged, evidence: Evidence, plan: Plan) -> bool:
    """True if it is known what the disk under the stage's place does at most."""
    place, figures = judged.figures.stage.place, judged.figures
    alone = evidence.ceiling(f"disk:{place}")
    if f"disk:{place}" in plan.changed:
        return True
    if figures.stage.action not in MOVES or alone is None or not alone.bytes_per_s:
        return False
    most = max(alone.bytes_per_s, figures.rate)
    plan.steps.append(Hold(index, figures.bytes / most, alone.resource))
    return True


def hold_by_link(index: int, judged: Judged, study: FlowStudy, evidence: Evidence, plan: Plan) -> bool:
    """True if the stage crosses no link, or it is known what its link carries."""
    place = judged.figures.stage.place
    if not evidence.is_far(place):
        return True
    if link_name(evidence, place) in plan.changed:
        return True
    use = use_of_link(judged, study, evidence)
    if use is None:
        return False
    most = use.ceiling_bytes_per_s * max(1.0, use.share)
    plan.steps.append(Hold(index, use.bytes / most, link_name(evidence, place)))
    return True


def latency_steps(study: FlowStudy, evidence: Evidence, change: Change, plan: Plan) -> None:
    """Round trips that an operation waits for take as much less as one does."""
    for index, judged in crossing_stages(study, evidence, change.subject):
        figures = judged.figures
        place = figures.stage.place
        sockets = sockets_of(evidence, place, study.span)
        trip_s = trip_time(evidence, place, sockets)
        if not trip_s or not figures.operations or not figures.elapsed_s:
            plan.unknowns.append(Unknown(f"the round trip to {place}", trip_told(place, evidence)))
            plan.remarks.append(f"{study.flow.name}: {change.resource} is not taken into account")
            continue
        each = trip_s * figures.operations / figures.elapsed_s
        ratio = change.after / trip_s
        alone = evidence.ceiling(f"query:{place}")
        if alone is not None and alone.latency_s and figures.stage.action is Action.LOOKUP:
            share = _whole_trips(min(1.0, alone.latency_s * figures.operations / figures.elapsed_s), each)
            plan.steps.append(Rescale(index, share, share, ratio))
            continue
        if judged.limit.resource.partition(":")[0] == "round-trips":
            share = _whole_trips(judged.limit.utilisation or 1.0, each)
            plan.steps.append(Rescale(index, share, share, ratio))
            continue
        asked = (requests_sent(evidence, place, sockets, trip_s) or figures.operations) / figures.operations
        shares = min(1.0, each), min(1.0, each * max(1.0, asked))
        better, worse = (max(shares), min(shares)) if ratio <= 1.0 else (min(shares), max(shares))
        plan.steps.append(Rescale(index, better, worse, ratio))


def _whole_trips(share: float, each: float) -> float:
    """The share of an operation that its round trips take; ``each``: one of them. There are no half ones."""
    return min(1.0, max(1, round(share / each)) * each)


def disk_steps(
    study: FlowStudy, evidence: Evidence, change: Change, plan: Plan, done: frozenset[int]
) -> None:
    """Of stages that read from or write to the place. A faster one helps only where it held."""
    for index, judged in study.stages.items():
        figures, limit = judged.figures, judged.limit
        if index in done or figures.stage.place != change.subject or not figures.rate:
            continue
        before = change.before or figures.rate
        ratio = before / change.after
        limited = limit.resource == change.resource
        if figures.stage.action in MOVES:
            plan.steps.append(Hold(index, figures.bytes / change.after, change.resource))
        if ratio > 1.0:
            share = 1.0 if limited else min(1.0, figures.rate / before)
            plan.steps.append(Rescale(index, 1.0 if limited else 0.0, share, ratio))
        elif limited:
            share = min(1.0, limit.utilisation or 1.0)
            plan.steps.append(Rescale(index, 1.0, share, ratio))
            if not hold_by_link(index, judged, study, evidence, plan):
                what = f"what {link_name(evidence, change.subject)} carries"
                plan.hide(index, what, link_told(change.subject, evidence))
        elif limit.resource == "unknown":
            plan.steps.append(Rescale(index, 1.0, 0.0, ratio))
            measure = limit.next_measurement or disk_told(change.subject, figures.stage.action, evidence)
            plan.hide(index, f"what limits {change.subject}", measure)
        elif limit.resource not in plan.changed and limit.resource != f"commit:{change.subject}":
            plan.remarks.append(f"{change.resource} does not hold {study.flow.name}: {limit.resource} does")


def crossing_stages(study: FlowStudy, evidence: Evidence, link: str) -> list[tuple[int, Judged]]:
    """Stages that work on a place on another host which is reached over ``link``; people are not."""
    return [
        (index, judged)
        for index, judged in study.stages.items()
        if judged.figures.stage.action is not Action.DELIVER
        and evidence.is_far(judged.figures.stage.place)
        and link_name(evidence, judged.figures.stage.place) == f"link:{link}"
    ]


def use_of_link(judged: Judged, study: FlowStudy, evidence: Evidence) -> Use | None:
    """By counters; else by the bytes that were read or written. None if neither or no ceiling is known."""
    figures, place = judged.figures, judged.figures.stage.place
    at_once = max(1.0, figures.elapsed_s / figures.active_s) if figures.active_s else 1.0
    seen = link_use(figures, evidence, study.span, place)
    if seen is not None and seen.ceiling is not None and seen.ceiling.bytes_per_s:
        crossed = seen.own_bytes_per_s * figures.active_s
        share = seen.share or 0.0
        return Use(min(1.0, share), at_once, crossed, seen.ceiling.bytes_per_s, share)
    far, here = evidence.place(place).host, evidence.run.scenario.here.name
    way = f"{here}->{far}" if figures.stage.action is Action.WRITE else f"{far}->{here}"
    ceiling = link_ceiling(evidence, place, way)
    if figures.stage.action not in MOVES or ceiling is None or not ceiling.bytes_per_s:
        return None
    share = figures.rate / ceiling.bytes_per_s
    return Use(min(1.0, share), at_once, float(figures.bytes), ceiling.bytes_per_s, share)


def _ratio(before: float | None, after: float) -> float:
    return before / after if before else 1.0
