"""What another link, disk or number of readers does to stages that read or write files.

An operation takes its turn at the link and at the disk, and a time of its own besides (round trips, the
server's work); the rest of it waited for turns. Afterwards the turns are as long as they then are, and
waiting for them comes of playing the operations again. What is not known (a disk that nobody measured, the
own time behind something full) is taken both ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.limiting.far_host import busiest_program
from pathtrace.analysis.limiting.limit import LINK_FULL, MOSTLY, MOSTLY_FULL, TRACER
from pathtrace.analysis.limiting.limits import Judged
from pathtrace.analysis.limiting.links import link_name
from pathtrace.analysis.limiting.network_evidence import efficiency, route_of
from pathtrace.analysis.limiting.round_trips import is_mapped, trip_time
from pathtrace.analysis.predicting.altering import Hold, Rescale, Staff
from pathtrace.analysis.predicting.disk_bounds import ALONE, Bounds, disk_bounds, disk_time
from pathtrace.analysis.predicting.mapped_chain import mapped_chain
from pathtrace.analysis.predicting.marginal_time import marginal_time
from pathtrace.analysis.predicting.next_measurements import disk_told, server_told, setting_told
from pathtrace.analysis.predicting.rescaling import MOVES, Plan, Use, use_of_link
from pathtrace.analysis.predicting.resetting import workers_after
from pathtrace.analysis.predicting.server_bounds import server_bounds
from pathtrace.analysis.study import FlowStudy
from pathtrace.model.prediction import Change, Changed, Unknown
from pathtrace.model.scenario import FrequencyKind

_BUSY = ("cpu", "database", "memory", TRACER)
_LATE = 0.15
"""Of the shorter of two that go on side by side, for which the longer may wait: they do not run evenly."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Seconds of a mean operation: at the link, at the disk; ``at_once``: how many are in progress."""

    link_s: float
    disk_s: float
    at_once: float

    @property
    def turns_s(self) -> float:
        return self.at_once * max(self.link_s, self.disk_s)

    def queued(self, each_s: float) -> float:
        """Turns with the waiting for them: mean value analysis of a closed queue (Schweitzer)."""
        others = 1.0 - 1.0 / self.at_once
        busy = [(part, min(1.0, self.at_once * part / each_s)) for part in (self.link_s, self.disk_s)]
        return sum(part / (1.0 - share * others) for part, share in busy)


@dataclass(frozen=True, slots=True)
class _Course:
    own_s: float
    then_s: float


def moving_steps(
    study: FlowStudy, evidence: Evidence, changes: Sequence[Change], plan: Plan
) -> frozenset[int]:
    """Steps of all changes together; returns the stages that they are of."""
    done: set[int] = set()
    for index, judged in study.stages.items():
        figures = judged.figures
        if figures.stage.action in MOVES and figures.rate and figures.elapsed_s:
            mine = [each for each in changes if _concerns(each, judged, study, evidence)]
            if mine and _steps(index, judged, study, evidence, mine, plan):
                done.add(index)
    return frozenset(done)


def _concerns(change: Change, judged: Judged, study: FlowStudy, evidence: Evidence) -> bool:
    place = judged.figures.stage.place
    match change.kind:
        case Changed.LINK:
            return evidence.is_far(place) and link_name(evidence, place) == change.resource
        case Changed.DISK:
            return change.subject == place
        case Changed.WORKERS | Changed.DEPTH:
            asks = study.flow.frequency.kind is FrequencyKind.PER_REQUEST
            return change.subject == place and not asks
        case _:
            return False


def _steps(
    index: int, judged: Judged, study: FlowStudy, evidence: Evidence, changes: Sequence[Change], plan: Plan
) -> bool:
    """False if nothing is known of the link, or a disk that does not hold is all that changes."""
    figures, place = judged.figures, judged.figures.stage.place
    use = use_of_link(judged, study, evidence) if evidence.is_far(place) else None
    known = disk_time(judged, evidence, study.span)
    faster = changes[0].kind is Changed.DISK and changes[0].after >= figures.bytes / (
        known or figures.active_s
    )
    if (evidence.is_far(place) and use is None) or (known is None and len(changes) == 1 and faster):
        return False
    rates = {change.kind: change.after for change in changes}
    given, link_s = rates.get(Changed.DISK), 0.0
    if use is not None:
        link_s = use.bytes / _carries(place, evidence, use, rates.get(Changed.LINK))
        plan.steps.append(Hold(index, link_s, link_name(evidence, place)))
    disk_s = figures.bytes / given if given else known
    if disk_s is not None:
        plan.steps.append(Hold(index, disk_s, f"disk:{place}"))
    workers = _workers(changes, judged, evidence)
    if workers != figures.workers:
        plan.steps.append(Staff(index, workers))
    _hold_by_the_rest(index, judged, plan)
    _hold_by_the_client(index, judged, study, evidence, plan)
    _hide_mapped(index, judged, study, evidence, use, plan)
    disk = _rescale(index, judged, study, evidence, use, (link_s, given), plan)
    if disk_s is None:
        plan.steps.append(Hold(index, disk.most_s * figures.operations, f"disk:{place}", worse_only=True))
        plan.leave_open(index, _unknown_disk(judged, evidence, use is not None and use.full))
    return True


def _rescale(
    index: int,
    judged: Judged,
    study: FlowStudy,
    evidence: Evidence,
    use: Use | None,
    then: tuple[float, float | None],
    plan: Plan,
) -> Bounds:
    """What becomes of a mean operation; returns what its disk takes now. ``then``: seconds of all operations
    at the link afterwards, and bytes per second of the disk if that is given."""
    figures, place = judged.figures, judged.figures.stage.place
    link_s, given = then
    count, each_s = figures.operations, figures.elapsed_s / figures.operations
    now_s = use.bytes / _carries(place, evidence, use, None) / count if use else 0.0
    now_s, crossing_s = _without_bursts(judged, study, evidence, now_s, link_s / count)
    trip_s = (trip_time(evidence, place, None) or 0.0) if use else 0.0
    full = use is not None and use.full
    disk = disk_bounds(judged, study, evidence, now_s, trip_s, full)
    server = server_bounds(judged, study, evidence, crossing_s, full)
    then_s = (given and figures.bytes / count / given, crossing_s)
    better, worse = _extremes(judged, trip_s, now_s, disk, then_s, server)
    shares = (1.0 - better.own_s / each_s, 1.0 - worse.own_s / each_s)
    ratios = _ratio(better, each_s), _ratio(worse, each_s)
    plan.steps.append(Rescale(index, *shares, *ratios, figures.elapsed_s))
    if not server.known:
        plan.leave_open(index, _unknown_server(judged, evidence))
    return disk


def _without_bursts(
    judged: Judged, study: FlowStudy, evidence: Evidence, now_s: float, then_s: float
) -> tuple[float, float]:
    """What the link takes of a mean operation, now and afterwards, if its bytes pass no faster than they were
    seen to. What passes at once on a slower link is not known: there all takes its time."""
    if not now_s or (each_s := marginal_time(judged, study, evidence)) is None:
        return now_s, then_s
    seen_s = min(now_s, each_s * judged.figures.bytes / judged.figures.operations)
    return seen_s, min(then_s, seen_s) if then_s <= now_s else then_s


def _hold_by_the_rest(index: int, judged: Judged, plan: Plan) -> None:
    """What was busy besides link and disk (a core, a server, pathtrace itself) is so for as long afterwards;
    if it was full, it may be that nothing else was waited for."""
    limit, active_s = judged.limit, judged.figures.active_s
    if limit.resource.partition(":")[0] not in _BUSY or not limit.utilisation:
        return
    plan.steps.append(Hold(index, active_s * min(1.0, limit.utilisation), limit.resource))
    if limit.utilisation >= MOSTLY_FULL:
        plan.steps.append(Hold(index, active_s, limit.resource, worse_only=True))


def _hold_by_the_client(index: int, judged: Judged, study: FlowStudy, evidence: Evidence, plan: Plan) -> None:
    """The program under a mount of this host (ssh under sshfs) computes as long again for the same bytes."""
    figures, place = judged.figures, judged.figures.stage.place
    busiest = busiest_program(figures, evidence, study.span, place) if evidence.is_far(place) else None
    if busiest is not None and busiest[0] == evidence.run.scenario.here.name:
        plan.steps.append(Hold(index, figures.active_s * min(1.0, busiest[2]), f"cpu:{place}"))


def _hide_mapped(
    index: int, judged: Judged, study: FlowStudy, evidence: Evidence, use: Use | None, plan: Plan
) -> None:
    """Pages are asked for a few at a time: a busy link may hide what the server and the mount do for each."""
    place = judged.figures.stage.place
    if use is not None and use.share >= MOSTLY and is_mapped(evidence.place(place).spec):
        what = f"how much of what is done for mapped pages of {place} goes on beside the busy link"
        most_s = mapped_chain(judged, study, evidence)
        plan.hide(index, what, setting_told(place, "access: read"), most_s)


def _carries(place: str, evidence: Evidence, use: Use, given: float | None) -> float:
    """What the link carries afterwards; what was seen of it where it is not changed."""
    if given is None:
        return use.ceiling_bytes_per_s * max(1.0, use.raw_share)
    route = route_of(evidence, place)
    return given * efficiency(route.mtu_bytes if route else None)


def _extremes(
    judged: Judged,
    trip_s: float,
    now_s: float,
    disk: Bounds,
    then: tuple[float | None, float],
    server: Bounds,
) -> tuple[_Course, _Course]:
    """The shortest and the longest operation that there may be, without waiting for turns.

    ``now_s``: at the link; ``then``: afterwards, at the disk if that is given, and at the link; ``server``:
    what it computes, which reads ahead and sends as it goes.
    """
    figures = judged.figures
    each_s, at_once = figures.elapsed_s / figures.operations, max(1.0, figures.elapsed_s / figures.active_s)
    given_s, link_s = then

    def courses(disk_s: float, server_s: float) -> list[_Course]:
        after_s = max(server_s, disk_s if given_s is None else given_s)
        parts = Parts(now_s, max(server_s, disk_s), at_once), Parts(link_s, after_s, at_once)
        return _courses(each_s, trip_s, *parts, disk.known or disk.least_s > 0)

    least, most = courses(disk.least_s, server.least_s), courses(disk.most_s, server.most_s)
    both = [*least, *most] if given_s is not None else []
    return min(both or least, key=_then), max(both or most, key=_then)


def _then(course: _Course) -> float:
    return course.then_s


def _courses(each_s: float, trip_s: float, now: Parts, then: Parts, known: bool) -> list[_Course]:
    """With the least and the most time of its own that it may have. ``known``: its disk, or nearly so."""
    whole = now.link_s + now.disk_s
    if whole > each_s:
        return _side_by_side(each_s, trip_s, now, then, known)
    most = max(0.0, each_s - whole)
    owns = {most}
    if now.at_once > ALONE:
        least = min(most, trip_s)
        full = now.turns_s >= LINK_FULL * each_s
        owns = {least} if full else {max(least, each_s - now.queued(each_s)), most}
    return [_Course(own_s, own_s + then.link_s + then.disk_s) for own_s in sorted(owns)]


def _side_by_side(each_s: float, trip_s: float, now: Parts, then: Parts, known: bool) -> list[_Course]:
    """Of parts that together take longer than the operation: the longer one hides so much of the shorter."""
    shorter_s, longest_s = min(now.link_s, now.disk_s), max(now.link_s, now.disk_s)
    hidden = (now.link_s + now.disk_s - each_s) / shorter_s if shorter_s else 1.0
    afterwards_s = then.link_s + then.disk_s - min(1.0, hidden) * min(then.link_s, then.disk_s)
    if hidden < MOSTLY:  # hardly any: two timings differ by as much
        return [_Course(0.0, afterwards_s)]
    beside_s, most_s = max(0.0, each_s - longest_s), max(then.link_s, then.disk_s)
    least_s = max(min(beside_s, trip_s), beside_s - _LATE * shorter_s)
    late_s = _LATE * min(then.link_s, then.disk_s) if known else 0.0
    return [
        _Course(least_s, least_s + most_s),
        _Course(beside_s, max(afterwards_s, beside_s + most_s + late_s)),
    ]


def _ratio(course: _Course, each_s: float) -> float:
    """Of the part of an operation that is not its own time."""
    rest = each_s - course.own_s
    return max(0.0, course.then_s - course.own_s) / rest if rest > 0 else 1.0


def _workers(changes: Sequence[Change], judged: Judged, evidence: Evidence) -> int:
    workers = judged.figures.workers
    for change in changes:
        if change.kind in (Changed.WORKERS, Changed.DEPTH):
            workers = workers_after(change, workers, evidence, judged.figures.stage.action)
    return workers


def _unknown_disk(judged: Judged, evidence: Evidence, hidden: bool) -> Unknown:
    place = judged.figures.stage.place
    measure = disk_told(place, judged.figures.stage.action, evidence)
    if not evidence.is_far(place):
        return Unknown(f"how fast the disk of {place} is", measure)
    what = f"how fast the disk and the server of {place} are"
    return Unknown(f"{what}: the full link hides them" if hidden else what, measure)


def _unknown_server(judged: Judged, evidence: Evidence) -> Unknown:
    place = judged.figures.stage.place
    what = f"how much of what the server of {place} computes is for its packets: the full link hides it"
    return Unknown(what, server_told(place, evidence))
