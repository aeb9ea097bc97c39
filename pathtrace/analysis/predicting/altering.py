"""What a change does to recorded operations: steps that are applied to one execution after the other.

Two courses are kept side by side. In the *better* one everything that is not known turns out well, in the
*worse* one badly; where all is known they are the same. Which steps a change takes, and on what
evidence, is for ``rescaling`` and ``resetting``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pathtrace.analysis.executions import Execution, Ints
from pathtrace.analysis.predicting.resimulation import Operations, operations_of
from pathtrace.units import NANOSECONDS_PER_SECOND

Times = npt.NDArray[np.float64]


@dataclass(slots=True)
class Course:
    """``took`` and ``held`` in nanoseconds per operation; ``workers`` per stage."""

    took: Times
    held: Times
    workers: list[int]
    finish: Times
    """Of ``took``, the commits."""
    joined: dict[int, tuple[int, Times]] = field(default_factory=dict)
    """Per stage: how many of its operations become one, and what of each is then there once."""
    divided: dict[int, tuple[int, Times]] = field(default_factory=dict)
    """Per stage: into how many each of its operations is divided, and what is then there for each."""


@dataclass(slots=True)
class Altered:
    """One execution, on its way to what it would be."""

    part: Execution
    better: Course
    worse: Course

    @classmethod
    def of(cls, part: Execution, workers: tuple[int, ...]) -> Altered:
        took = part.elapsed.astype(np.float64)
        held, finish = np.zeros(len(part)), part.finish.astype(np.float64)
        return cls(
            part,
            Course(took.copy(), held.copy(), list(workers), finish.copy()),
            Course(took.copy(), held.copy(), list(workers), finish.copy()),
        )

    def rows(self, stage: int) -> Ints:
        return np.flatnonzero(self.part.stage == stage)

    def by_bytes(self, rows: Ints) -> Times:
        """Each operation's part of its stage's bytes; of its time where no bytes are known."""
        weight = self.part.bytes[rows].astype(np.float64)
        if not weight.any():
            weight = self.part.elapsed[rows].astype(np.float64)
        total = float(weight.sum())
        return weight / total if total else weight


class Step(Protocol):
    """A step of one stage. Steps are taken in order of ``rank``: what hides comes last."""

    @property
    def stage(self) -> int: ...

    @property
    def rank(self) -> int: ...

    def apply(self, altered: Altered) -> None: ...


@dataclass(frozen=True, slots=True)
class Rescale:
    """A share of the stage's time changes by a ratio, an operation's part of it by its bytes."""

    stage: int
    better: float
    """The share, 0 to 1."""
    worse: float
    ratio: float
    """New time of that part / old time."""
    worse_ratio: float | None = None
    """None: the same."""
    whole_s: float | None = None
    """What the shares are of at most, where the part becomes longer: in a repeat that took longer with the
    same bytes something stalled, which does not. None: all of a repeat's time."""
    rank: int = 0

    def apply(self, altered: Altered) -> None:
        rows = altered.rows(self.stage)
        took = altered.part.elapsed[rows].astype(np.float64)
        most = took.sum() if self.whole_s is None else self.whole_s * NANOSECONDS_PER_SECOND
        worse = self.ratio if self.worse_ratio is None else self.worse_ratio
        for course, share, ratio in (
            (altered.better, self.better, self.ratio),
            (altered.worse, self.worse, worse),
        ):
            changed = share * float(min(took.sum(), most) if ratio > 1.0 else took.sum())
            mine = np.minimum(took, changed * altered.by_bytes(rows))
            # What the bytes of some operations would take beyond their time lies in the others.
            rest = changed - mine.sum()
            room = took - mine
            mine += room * (rest / room.sum() if room.sum() > 0 else 0.0)
            course.took[rows] = np.maximum(0.0, course.took[rows] + mine * (ratio - 1.0))


@dataclass(frozen=True, slots=True)
class Hold:
    """Something that the stage's workers share takes so long for all its operations together."""

    stage: int
    total_s: float
    resource: str
    worse_only: bool = False
    """True: nobody knows whether it does."""
    rank: int = 1

    def apply(self, altered: Altered) -> None:
        rows = altered.rows(self.stage)
        held = self.total_s * NANOSECONDS_PER_SECOND * altered.by_bytes(rows)
        for course in (altered.worse,) if self.worse_only else (altered.better, altered.worse):
            course.held[rows] = np.maximum(course.held[rows], held)


@dataclass(frozen=True, slots=True)
class Staff:
    """Another number of workers."""

    stage: int
    workers: int
    rank: int = 0

    def apply(self, altered: Altered) -> None:
        for course in (altered.better, altered.worse):
            course.workers[self.stage] = self.workers


@dataclass(frozen=True, slots=True)
class Relieve:
    """With fewer at once each may, at best, be as much faster as there are fewer."""

    stage: int
    ratio: float
    rank: int = 0

    def apply(self, altered: Altered) -> None:
        altered.better.took[altered.rows(self.stage)] *= self.ratio


@dataclass(frozen=True, slots=True)
class Join:
    """So many operations of a stage become one; what each has apart from its rows is then there once: set-up
    and commit, and of the time between a share from ``least`` to ``most``."""

    stage: int
    count: int
    least: float
    most: float
    rank: int = 0

    def apply(self, altered: Altered) -> None:
        for course, share in ((altered.better, self.most), (altered.worse, self.least)):
            course.joined[self.stage] = (self.count, _apart_from_rows(altered.part, course, share))


@dataclass(frozen=True, slots=True)
class Divide:
    """Each operation of a stage becomes so many. Each of them has at worst all that was there once (set-up,
    commit, and the share ``most`` of the time between), at best as little of it as ``least_s``: a commit of
    fewer rows is shorter, down to what one sync takes."""

    stage: int
    count: int
    most: float
    least_s: float
    rank: int = 0

    def apply(self, altered: Altered) -> None:
        most = _apart_from_rows(altered.part, altered.better, self.most)
        least: Times = np.minimum(most, self.least_s * NANOSECONDS_PER_SECOND)
        altered.better.divided[self.stage] = (self.count, least)
        worst = _apart_from_rows(altered.part, altered.worse, self.most)
        altered.worse.divided[self.stage] = (self.count, worst)


def _apart_from_rows(part: Execution, course: Course, share: float) -> Times:
    """Nanoseconds of each operation: its set-up and commit, and a share of the time between."""
    ends = np.minimum(part.setup + part.finish, part.elapsed).astype(np.float64)
    apart: Times = ends + share * (part.elapsed - ends) + (course.finish - part.finish)
    return np.maximum(0.0, apart)


@dataclass(frozen=True, slots=True)
class Recommit:
    """A share of each operation's commit changes by a ratio; both as (share, ratio)."""

    stage: int
    better: tuple[float, float]
    worse: tuple[float, float]
    rank: int = -1
    """Joining and dividing look at what commits then take."""

    def apply(self, altered: Altered) -> None:
        rows = altered.rows(self.stage)
        for course, (share, ratio) in ((altered.better, self.better), (altered.worse, self.worse)):
            grown = course.finish[rows] * share * (ratio - 1.0)
            course.finish[rows] += grown
            course.took[rows] = np.maximum(0.0, course.took[rows] + grown)


@dataclass(frozen=True, slots=True)
class Unload:
    """The loading of a model, as its server told of it, leaves the request in which it was."""

    stage: int
    rank: int = 0

    def apply(self, altered: Altered) -> None:
        part, rows = altered.part, altered.rows(self.stage)
        loading = np.maximum(0, loading_ns(part, self.stage))
        for course in (altered.better, altered.worse):
            course.took[rows] = np.maximum(0.0, course.took[rows] - loading)


def loading_ns(part: Execution, stage: int) -> Ints:
    """Per operation of a stage, how long its server loaded the model for it; -1: it did not tell.

    Of a streamed answer that stands with the operation that it hands on to.
    """
    rows = np.flatnonzero(part.stage == stage)
    later = np.flatnonzero((part.stage == stage + 1) & (part.load >= 0))
    told = dict(zip(part.cause[later].tolist(), part.load[later].tolist(), strict=True))
    found = [
        own if own >= 0 else told.get(number, -1)
        for number, own in zip(part.operation[rows].tolist(), part.load[rows].tolist(), strict=True)
    ]
    return np.array(found, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Hide:
    """Of a stage whose next ceiling nobody knows it may be that nothing changes at all."""

    stage: int
    most_s: float | None = None
    """What all of it takes at most; None: that is not known either."""
    rank: int = 9

    def apply(self, altered: Altered) -> None:
        rows = altered.rows(self.stage)
        window = altered.part.window
        as_now = altered.part.elapsed[rows].astype(np.float64)
        if self.most_s is not None and as_now.sum() > 0:
            share = min(1.0, self.most_s * NANOSECONDS_PER_SECOND / as_now.sum())
            as_now = np.minimum(as_now, np.maximum(altered.worse.took[rows], share * as_now))
        altered.worse.took[rows] = as_now
        if window is not None:
            altered.worse.workers[self.stage] = window.workers[self.stage]


def altered(part: Execution, workers: tuple[int, ...], steps: list[Step]) -> Altered:
    """An execution after all steps."""
    result = Altered.of(part, workers)
    for step in sorted(steps, key=lambda each: each.rank):
        step.apply(result)
    return result


def operations_in(course: Course, part: Execution) -> Operations:
    """The operations of a course, ready to be played again."""
    operations = operations_of(part, len(course.workers))
    operations = replace(operations, took_ns=course.took.tolist(), held_ns=course.held.tolist())
    for stage, (count, once) in course.joined.items():
        operations = _joined(operations, stage, count, once)
    for stage, (count, each) in course.divided.items():
        operations = _divided(operations, stage, _shares(part, stage, count), each)
    return operations


def _shares(part: Execution, stage: int, count: int) -> dict[int, int]:
    """Into how many operations each is divided: one with fewer bytes than is usual had fewer rows."""
    rows = np.flatnonzero(part.stage == stage)
    usual = float(np.median(part.bytes[rows])) if len(rows) else 0.0
    filled = np.minimum(1.0, part.bytes[rows] / usual) if usual else np.ones(len(rows))
    shares = np.maximum(1, np.ceil(count * filled)).astype(np.int64)
    return dict(zip(rows.tolist(), shares.tolist(), strict=True))


def _divided(operations: Operations, stage: int, shares: dict[int, int], each: Times) -> Operations:
    """The parts of an operation come as its results did; the last of them keeps its number."""
    took, held, stages = list(operations.took_ns), list(operations.held_ns), list(operations.stage)
    wanted, had = [], 0
    for needs, row in operations.wanted[stage] or _as_wanted(operations, stage):
        count = shares[row]
        once = min(float(each[row]), took[row])
        of_part, held_part = once + (took[row] - once) / count, held[row] / count
        for at in range(1, count):
            wanted.append((had + math.ceil((needs - had) * at / count), len(took)))
            took.append(of_part)
            held.append(held_part)
            stages.append(stage)
        took[row], held[row], had = of_part, held_part, needs
        wanted.append((needs, row))
    all_wanted = tuple(tuple(wanted) if at == stage else pairs for at, pairs in enumerate(operations.wanted))
    handed = {by: rows for by, rows in operations.handed.items() if operations.stage[by] != stage - 1}
    return replace(operations, took_ns=took, held_ns=held, stage=stages, wanted=all_wanted, handed=handed)


def _joined(operations: Operations, stage: int, count: int, once: Times) -> Operations:
    """``count`` operations as one, which comes with the last of them: each one's own rows take what they
    took, and what is there ``once`` for each is there once."""
    pairs = operations.wanted[stage] or _as_wanted(operations, stage)
    took, held, wanted = list(operations.took_ns), list(operations.held_ns), []
    for at in range(0, len(pairs), count):
        group = [row for _, row in pairs[at : at + count]]
        last = group[-1]
        spared = float(once[group].sum() - once[group].max())
        took[last] = max(0.0, sum(operations.took_ns[row] for row in group) - spared)
        held[last] = sum(operations.held_ns[row] for row in group)
        wanted.append((pairs[min(at + count, len(pairs)) - 1][0], last))
    stages = tuple(tuple(wanted) if at == stage else each for at, each in enumerate(operations.wanted))
    handed = {by: rows for by, rows in operations.handed.items() if operations.stage[by] != stage - 1}
    kept = {row for _, row in wanted}
    dropped = {row for _, row in pairs} - kept
    return _without(replace(operations, took_ns=took, held_ns=held, wanted=stages, handed=handed), dropped)


def _as_wanted(operations: Operations, stage: int) -> tuple[tuple[int, int], ...]:
    """Of a stage that was not joined: each operation by how many results had come."""
    before = [row for row, at in enumerate(operations.stage) if at == stage - 1]
    return tuple(
        (number, row) for number, by in enumerate(before, 1) for row in operations.handed.get(by, ())
    )


def _without(operations: Operations, dropped: set[int]) -> Operations:
    """Operations that became part of another keep their number and never come."""
    sources = tuple(row for row in operations.source if row not in dropped)
    stage = [-1 if row in dropped else at for row, at in enumerate(operations.stage)]
    return replace(operations, source=sources, stage=stage)
