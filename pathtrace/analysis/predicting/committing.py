"""What commits take on another disk: of operations that insert or write, each with its end on the disk.

A rate in bytes per second does not tell it: a disk of 3 GB/s may sync in 20 µs or in 5 ms. A commit latency
does. How much of a recorded commit is syncing and how much other work (keeping an index, sending data) is
bounded by what one sync took alone and by what the engine computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.executions import execution
from pathtrace.analysis.limiting.limit import UNKNOWN
from pathtrace.analysis.limiting.limits import Judged
from pathtrace.analysis.limiting.round_trips import trip_time
from pathtrace.analysis.limiting.serving import SYNCS
from pathtrace.analysis.predicting.altering import Recommit, Rescale
from pathtrace.analysis.predicting.next_measurements import PROBES, RUN
from pathtrace.analysis.predicting.rescaling import Plan
from pathtrace.analysis.study import FlowStudy
from pathtrace.model.prediction import Change, Unknown
from pathtrace.model.scenario import Action, Commit, DatabaseSpec

COMMITS = (Action.INSERT, Action.WRITE)
ON_THAT_DISK = "how long a commit takes on that disk"
QUICKEST_S = 20e-6
"""A sync on a solid-state disk whose memory outlives a power cut."""
SLIGHT = 0.01
"""Of the operations' time: commits that take less need not be known."""


@dataclass(frozen=True, slots=True)
class Commits:
    """What is known of a stage's commits. Without ``apart`` the operations' whole time stands for them."""

    each_s: float
    """Mean time of one."""
    sync_s: float | None
    """What one takes alone, as a probe found; None: not measured."""
    syncs: int
    """As many at most as one commit waits for, one after the other."""
    computed: float
    """The share of it that the engine may have computed, 0 to 1."""
    apart: bool

    @property
    def waits(self) -> float:
        """At least this share of each is syncing."""
        if not self.apart:
            return 0.0
        if self.sync_s is None:
            return 1.0 - self.computed
        one = min(1.0, self.sync_s / self.each_s)
        return one if self.each_s > self.syncs * self.sync_s else max(one, 1.0 - self.computed)


def commit_steps(study: FlowStudy, evidence: Evidence, change: Change, plan: Plan) -> None:
    """Another latency of a sync: commits take as much less or longer as far as they are syncing."""
    for index, judged in study.stages.items():
        figures = judged.figures
        if figures.stage.place != change.subject or figures.stage.action not in COMMITS:
            continue
        known = commits_of(judged, study, evidence)
        if known is None:
            continue
        after = change.after
        if known.sync_s is not None:
            least = most = after / min(known.sync_s, known.each_s)
        else:
            least, most = after / known.each_s, known.syncs * after / known.each_s
            most = min(1.0, most) if least <= 1.0 else most
        courses = [(share, ratio) for share in (1.0, known.waits) for ratio in (least, most)]
        better, worse = min(courses, key=_longer_by), max(courses, key=_longer_by)
        if known.apart:
            plan.steps.append(Recommit(index, better, worse))
        else:
            plan.steps.append(Rescale(index, better[0], worse[0], better[1], worse[1]))
        plan.leave_open(index, _parts_unknown(change.subject, known))


def disk_under_commits(
    study: FlowStudy, evidence: Evidence, change: Change, plan: Plan, done: frozenset[int]
) -> None:
    """Of another disk only its rate is given: commits may take next to nothing there, or as long as now."""
    if f"commit:{change.subject}" in plan.changed:
        return
    for index, judged in study.stages.items():
        figures = judged.figures
        if figures.stage.place != change.subject or figures.stage.action not in COMMITS:
            continue
        taken = judged.limit.resource in (change.resource, UNKNOWN) and index not in done
        known = commits_of(judged, study, evidence)
        if taken or known is None or not known.apart or figures.finish_share < SLIGHT:
            continue
        slower = (change.before or 0.0) / change.after
        trip_s = (
            (trip_time(evidence, change.subject, None) or 0.0) if evidence.is_far(change.subject) else 0.0
        )
        least = min(1.0, max(QUICKEST_S, trip_s) / known.each_s) if slower <= 1.0 else 1.0
        plan.steps.append(Recommit(index, (1.0, least), (1.0, max(1.0, slower))))
        plan.leave_open(index, Unknown(ON_THAT_DISK, _from_elsewhere(change.subject)))


def commits_of(judged: Judged, study: FlowStudy, evidence: Evidence) -> Commits | None:
    """None of a stage that did nothing."""
    figures, spec = judged.figures, evidence.place(judged.figures.stage.place).spec
    if not figures.operations or not figures.elapsed_s:
        return None
    part = execution(evidence.run, study.chosen.repeat, study.index, study.chosen.number)
    ends = part.finish[part.stage == figures.stage.index]
    rows = spec.batch if isinstance(spec, DatabaseSpec) and spec.commit is Commit.ROW else 1
    apart = bool(ends.any())
    whole_s = figures.finish_s if apart else figures.elapsed_s
    count = (int(np.count_nonzero(ends)) if apart else figures.operations) * rows
    alone = evidence.ceiling(f"commit:{figures.stage.place}")
    server = isinstance(spec, DatabaseSpec) and not spec.url.startswith("sqlite")
    return Commits(
        each_s=whole_s / count,
        sync_s=(alone.latency_s or None) if alone else None,
        syncs=1 if server else SYNCS,
        computed=min(1.0, (figures.cpu_s or 0.0) / whole_s),
        apart=apart,
    )


def _longer_by(course: tuple[float, float]) -> float:
    share, ratio = course
    return share * (ratio - 1.0)


def _parts_unknown(place: str, known: Commits) -> Unknown:
    if not known.apart:
        return Unknown(f"how much of an operation at {place} is its commit", _there(place))
    if known.sync_s is None and known.syncs > 1:
        return Unknown(
            f"how often a commit of {place} syncs",
            PROBES,
        )
    return Unknown(f"how much of a commit of {place} is syncing, how much other work", _there(place))


def _there(place: str) -> str:
    return f"{RUN}, with {place} on such a disk"


def _from_elsewhere(place: str) -> str:
    return f"--set commit:{place}=…, by its data sheet or by pathtrace probe SCENARIO on such a disk"
