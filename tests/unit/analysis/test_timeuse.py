from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.analysis.timeuse import added, identity_error, merged, stage_time, union_ns, workers_of
from pathtrace.model.report import TimeUse
from pathtrace.model.sample import Window
from tests.unit.analysis.builders import MS, Desk, operation, stream
from tests.unit.analysis.test_critical_path import one

intervals = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=20)


@given(intervals)
def test_the_union_is_what_counting_moments_gives(pairs: list[tuple[int, int]]) -> None:
    start = np.array(sorted(at for at, _ in pairs), dtype=np.int64)
    length = np.array([took for _, took in sorted(pairs)], dtype=np.int64)
    moments = {at for s, n in zip(start, length, strict=True) for at in range(int(s), int(s + n))}
    assert union_ns(start, start + length) == len(moments)
    starts, ends = merged(start, start + length)
    assert int((ends - starts).sum()) == len(moments)
    assert bool(np.all(starts[1:] > ends[:-1]))


def test_a_stage_without_work_was_starved_all_the_time() -> None:
    execution = one([operation(elapsed_ns=10 * MS)], Window(0, 0, 0, 0, 0, 10 * MS, True, (1, 3, 1)))
    assert stage_time(execution, 1, 3) == TimeUse(0.0, 0.03, 0.0)


def test_more_work_than_workers_have_time_for_shows_in_the_identity() -> None:
    samples = [operation(elapsed_ns=10 * MS), operation(elapsed_ns=10 * MS, operation=1)]
    time = stage_time(one(samples, Window(0, 0, 0, 0, 0, 10 * MS, True, (1, 1, 1))), 0, 1)
    assert identity_error(time, 0.01, 1) == 1.0


def test_without_a_window_the_workers_are_those_that_left_samples() -> None:
    samples, window = stream([Desk(2), Desk(3), Desk()], lambda stage, k: MS, 12)
    lost = Window(9, 0, 0, 0, 0, 0, True, ())
    assert [workers_of(one(samples, each), 1) for each in (window, lost)] == [3, 3]


def test_times_of_stages_add_up() -> None:
    assert added((TimeUse(1, 2, 3), TimeUse(4, 5, 6))) == TimeUse(5, 7, 9)
