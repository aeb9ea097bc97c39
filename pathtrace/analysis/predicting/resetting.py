"""What another number of workers, a deeper queue, a larger batch or a loaded model does to stages.

More at once only helps until the next thing is full: where it is known what that is, it holds; where not,
the steps say so.
"""

from __future__ import annotations

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.executions import Execution, execution
from pathtrace.analysis.limiting.limits import Judged
from pathtrace.analysis.predicting.altering import Divide, Hold, Join, Relieve, Staff, Unload, loading_ns
from pathtrace.analysis.predicting.batch_parts import once
from pathtrace.analysis.predicting.next_measurements import RUN, setting_told
from pathtrace.analysis.predicting.rescaling import MOVES, Plan, hold_by_disk, hold_by_link
from pathtrace.analysis.study import FlowStudy
from pathtrace.model.prediction import Change, Changed, Unknown
from pathtrace.model.scenario import Action, Commit, DatabaseSpec, FilesSpec, FrequencyKind
from pathtrace.units import format_count


def staff_steps(
    study: FlowStudy, evidence: Evidence, change: Change, plan: Plan, done: frozenset[int]
) -> None:
    """Of ``workers`` and ``depth``. For requests there are as many at work as people ask."""
    for index, judged in study.stages.items():
        stage, now = judged.figures.stage, judged.figures.workers
        if stage.place != change.subject or not change.before:
            continue
        if study.flow.frequency.kind is FrequencyKind.PER_REQUEST:
            plan.remarks.append(
                f"{study.flow.name}: as many at once as people ask, whatever {change.resource} is"
            )
            continue
        after = workers_after(change, now, evidence, stage.action)
        if index in done and after != now:
            continue
        if after == now:
            plan.remarks.append(
                f"{stage.action} at {stage.place} has {format_count(now, 'worker')} either way"
            )
            continue
        plan.steps.append(Staff(index, after))
        if after < now:
            plan.steps.append(Relieve(index, after / now))
        elif not _held(index, judged, study, evidence, plan):
            plan.hide(
                index,
                f"what holds {stage.action} at {stage.place} when more is asked of it at once",
                setting_told(stage.place, f"{change.kind}: {change.after:.0f}"),
            )


def workers_after(change: Change, now: int, evidence: Evidence, action: Action) -> int:
    """Files are read by workers times depth, one file by its depth alone; SQLite has one writer."""
    place = evidence.place(change.subject)
    depth = place.spec.depth if isinstance(place.spec, FilesSpec) and action is Action.READ else 1
    if change.kind is Changed.WORKERS:
        return round(change.after) * depth if now == place.workers * depth else now
    if now == place.workers * depth:
        return round(change.after) * place.workers
    return round(change.after) if now == depth else now


def _held(index: int, judged: Judged, study: FlowStudy, evidence: Evidence, plan: Plan) -> bool:
    """True if everything is known that more work at once could fill."""
    figures, action = judged.figures, judged.figures.stage.action
    if action in MOVES:
        by_link = hold_by_link(index, judged, study, evidence, plan)
        return hold_by_disk(index, judged, evidence, plan) and by_link
    if action is Action.PROCESS and figures.cpu_s is not None and not evidence.is_far(figures.stage.place):
        resource = f"cpu:{figures.stage.place}"
        plan.steps.append(Hold(index, figures.cpu_s / evidence.cores, resource))
        return True
    return False


def batch_steps(study: FlowStudy, evidence: Evidence, change: Change, plan: Plan) -> None:
    """Larger batches: what there is once for each, its set-up and commit, is there less often; smaller ones:
    more often."""
    for index, judged in study.stages.items():
        stage = judged.figures.stage
        if stage.place != change.subject or stage.action is not Action.INSERT:
            continue
        spec = evidence.place(stage.place).spec
        if isinstance(spec, DatabaseSpec) and spec.commit is Commit.ROW:
            plan.remarks.append(f"every row of {stage.place} is committed alone, whatever the batch")
            continue
        plan.steps.append(_rebatched(index, judged, study, evidence, change))
        unknown = Unknown(
            f"how much of an insert into {stage.place} is there once a batch, how much for each row",
            setting_told(stage.place, f"batch: {change.after:.0f}"),
        )
        plan.leave_open(index, unknown)


def _rebatched(
    index: int, judged: Judged, study: FlowStudy, evidence: Evidence, change: Change
) -> Join | Divide:
    before = change.before or 1.0
    part = execution(evidence.run, study.chosen.repeat, study.index, study.chosen.number)
    apart = once(judged, evidence, part, before)
    if change.after >= before:
        return Join(index, max(1, round(change.after / before)), apart.least, apart.most)
    sync = evidence.ceiling(f"commit:{judged.figures.stage.place}")
    least_s = (sync.latency_s if sync else None) or 0.0
    return Divide(index, max(1, round(before / change.after)), apart.most, least_s)


def loaded_steps(study: FlowStudy, change: Change, part: Execution, plan: Plan) -> None:
    """``part``: the execution that is looked at, for what the server told of loading."""
    for index, judged in study.stages.items():
        figures = judged.figures
        answers = figures.stage.action in (Action.GENERATE, Action.EMBED)
        if figures.stage.place != change.subject or not answers:
            continue
        told = loading_ns(part, index)
        if not (told >= 0).any():
            measure = f"{RUN}, against a server that tells how long it loaded (`api: ollama`)"
            plan.unknowns.append(Unknown(f"how long {change.subject} loaded its model", measure))
        elif not (told > 0).any():
            plan.remarks.append(f"{change.subject} had its model in memory at every request already")
        else:
            plan.steps.append(Unload(index))
