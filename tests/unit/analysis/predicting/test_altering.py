"""What dividing and joining does to recorded operations, whatever they took."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.analysis.executions import Execution, execution
from pathtrace.analysis.predicting.altering import Divide, Join, altered, operations_in
from pathtrace.analysis.predicting.resimulation import Operations, replay_stream
from tests.unit.analysis.builders import MS, Desk, run_of, scenario, stream
from tests.unit.analysis.predicting.test_prediction import INDEX

WORKERS, QUEUES, STAGE = (1, 2, 1), [16, 16, 16], 2


def recorded(took_ms: list[int], commit_ms: int) -> Execution:
    """A document each, inserted one by one; ``commit_ms`` of each insert is its commit."""
    made = stream(
        [Desk(1), Desk(2, 16), Desk(1, 16)],
        lambda stage, k: (took_ms[k % len(took_ms)] + commit_ms if stage == STAGE else 1) * MS,
        len(took_ms),
        details=lambda s: {"bytes": 1000, "finish_ns": commit_ms * MS if s.stage == STAGE else 0},
    )
    return execution(run_of(scenario(INDEX), [made]), 0, 0, 0)


def with_step(part: Execution, step: Divide | Join) -> tuple[Operations, Operations]:
    """In the better and the worse course."""
    found = altered(part, WORKERS, [step])
    return operations_in(found.better, part), operations_in(found.worse, part)


def inserting_ms(operations: Operations) -> float:
    return (
        sum(took for took, stage in zip(operations.took_ns, operations.stage, strict=True) if stage == STAGE)
        / MS
    )


TOOK = st.lists(st.integers(1, 30), min_size=1, max_size=20)


@settings(deadline=None, max_examples=50)
@given(took=TOOK, commit=st.integers(0, 20), count=st.integers(1, 9))
def test_dividing_adds_a_commit_for_each_further_part_at_worst_and_nothing_at_best(
    took: list[int], commit: int, count: int
) -> None:
    part = recorded(took, commit)
    better, worse = with_step(part, Divide(STAGE, count, most=0.0, least_s=0.0))
    whole = sum(took) + commit * len(took)
    assert inserting_ms(better) == pytest.approx(whole)
    assert inserting_ms(worse) == pytest.approx(whole + commit * len(took) * (count - 1))
    for course in (better, worse):
        assert course.stage.count(STAGE) == len(took) * count
        busy = replay_stream(course, WORKERS, QUEUES).busy_s[STAGE]
        assert busy == pytest.approx(inserting_ms(course) / 1000)  # every part is played


@settings(deadline=None, max_examples=50)
@given(took=TOOK, commit=st.integers(0, 20), count=st.integers(1, 30))
def test_joining_keeps_the_rows_and_leaves_one_commit_for_each_batch(
    took: list[int], commit: int, count: int
) -> None:
    part = recorded(took, commit)
    better, worse = with_step(part, Join(STAGE, count, least=0.0, most=0.0))
    batches = -(-len(took) // count)
    assert inserting_ms(worse) == pytest.approx(sum(took) + commit * batches)
    assert inserting_ms(better) == inserting_ms(worse)
    busy = replay_stream(worse, WORKERS, QUEUES).busy_s[STAGE]
    assert busy == pytest.approx(inserting_ms(worse) / 1000)
