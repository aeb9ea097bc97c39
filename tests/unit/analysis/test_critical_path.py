from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.analysis.critical_path import Stretch, critical_path, stream_lanes
from pathtrace.analysis.executions import Execution, executions
from pathtrace.analysis.timeuse import identity_error, stage_time
from pathtrace.model.sample import Sample, Window
from tests.unit.analysis.builders import MS, Desk, Simulator, asked, operation, run_of, scenario, stream

THREE_STAGES = """
pathtrace: 1
places:
  archive: {kind: files, path: /data}
  indexer: {kind: process, command: [extract]}
  library: {kind: database, url: "sqlite:///x.db"}
flows:
  index: {path: [archive, indexer, library], frequency: every 24 h}
"""

THREE = scenario(THREE_STAGES)

desks = st.builds(
    Desk,
    workers=st.integers(1, 4),
    queue=st.integers(1, 5),
    batch=st.sampled_from([1, 1, 2, 7]),
    burst=st.sampled_from([1, 1, 3, 8]),
)


def one(samples: list[Sample], window: Window) -> Execution:
    return next(executions(run_of(THREE, [(samples, window)])))


def path(samples: list[Sample], window: Window) -> tuple[Stretch, ...]:
    execution = one(samples, window)
    return critical_path(execution, stream_lanes(execution))


@settings(deadline=None, max_examples=150)
@given(st.lists(desks, min_size=3, max_size=3), st.integers(1, 60), st.integers(0, 10**9), st.integers(0, 3))
def test_the_path_tiles_the_duration_exactly_and_the_simulator_needs_no_handover(
    three: list[Desk], items: int, seed: int, longest_exponent: int
) -> None:
    rng = random.Random(seed)
    simulated = stream(three, lambda stage, k: rng.randint(0, 10**longest_exponent * MS), items)
    stretches = path(*simulated)
    execution = one(*simulated)
    assert sum(s.working_ns + s.handover_ns for s in stretches) == execution.wall_ns
    assert sum(s.handover_ns for s in stretches) == 0


@settings(deadline=None, max_examples=60)
@given(st.lists(desks, min_size=3, max_size=3), st.integers(1, 60), st.integers(0, 10**9))
def test_busy_starved_and_blocked_are_what_the_simulator_kept(
    three: list[Desk], items: int, seed: int
) -> None:
    rng = random.Random(seed)
    draws: dict[tuple[int, int], int] = {}

    def service(stage: int, k: int) -> int:
        return draws.setdefault((stage, k), rng.randint(1, 50 * MS))

    truth = Simulator(three, service, items).run()
    execution = one(*stream(three, service, items))
    for stage, desk in enumerate(three):
        time = stage_time(execution, stage, desk.workers)
        assert time.starved_s == pytest.approx(truth.starved[stage] / 1e9, abs=1e-9)
        assert identity_error(time, execution.wall_ns / 1e9, desk.workers) == pytest.approx(0, abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(st.lists(desks, min_size=3, max_size=3), st.integers(1, 40), st.integers(0, 10**9), st.randoms())
def test_the_order_of_samples_changes_nothing(
    three: list[Desk], items: int, seed: int, shuffler: random.Random
) -> None:
    rng = random.Random(seed)
    samples, window = stream(three, lambda stage, k: rng.randint(0, 5 * MS), items)
    before = path(samples, window)
    shuffler.shuffle(samples)
    assert path(samples, window) == before


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(*(st.integers(-3, 40) for _ in range(6)), st.integers(0, 2), st.integers(0, 2)),
        min_size=1,
        max_size=30,
    )
)
def test_also_nonsense_is_tiled_and_ends(rows: list[tuple[int, ...]]) -> None:
    samples = [
        operation(
            operation=row[0] % 12,
            cause=row[1],
            intended_ns=row[2],
            start_ns=row[3],
            elapsed_ns=max(0, row[4]),
            blocked_ns=max(0, row[5]),
            stage=row[6],
            worker=row[7],
        )
        for row in rows
    ]
    execution = one(samples, Window(0, 0, 0, 0, 0, 1, False, (1, 1, 1)))
    stretches = critical_path(execution, stream_lanes(execution))
    assert sum(s.working_ns + s.handover_ns for s in stretches) == execution.wall_ns


def test_a_slow_last_stage_owns_the_path_although_the_first_was_blocked_most() -> None:
    took = (1 * MS, 1 * MS, 10 * MS)
    stretches = path(*stream([Desk(), Desk(), Desk()], lambda stage, k: took[stage], 50))
    assert stretches == (Stretch(0, 1 * MS, 0), Stretch(1, 1 * MS, 0), Stretch(2, 500 * MS, 0))


def test_a_slow_first_stage_owns_the_path() -> None:
    took = (10 * MS, 1 * MS, 2 * MS)
    stretches = path(*stream([Desk(), Desk(), Desk()], lambda stage, k: took[stage], 50))
    assert stretches == (Stretch(0, 500 * MS, 0), Stretch(1, 1 * MS, 0), Stretch(2, 2 * MS, 0))


def test_reads_handed_on_in_one_go_are_blocked_by_the_stage_behind_them() -> None:
    took = (1 * MS, 10 * MS, 0)
    stretches = path(*stream([Desk(burst=8), Desk(), Desk()], lambda stage, k: took[stage], 64))
    assert stretches == (Stretch(0, 8 * MS, 0), Stretch(1, 640 * MS, 0))


def test_time_between_an_item_and_its_start_that_nothing_explains_is_handover() -> None:
    samples = [
        operation(elapsed_ns=10, operation=0),
        operation(stage=1, operation=1, cause=0, intended_ns=12, start_ns=15, elapsed_ns=5),
    ]
    assert path(samples, Window(0, 0, 0, 0, 0, 20, True, (1, 1, 1))) == (Stretch(0, 10, 0), Stretch(1, 5, 5))


def test_a_request_is_followed_through_its_users_operations() -> None:
    samples, window = asked(4, (1 * MS, 5 * MS, 2 * MS), users=2)
    execution = one(samples, window)
    assert critical_path(execution, execution.worker) == (
        Stretch(0, 2 * MS, 0),
        Stretch(1, 10 * MS, 0),
        Stretch(2, 4 * MS, 0),
    )


def test_lanes_are_one_for_each_worker_of_a_stage() -> None:
    execution = one(*stream([Desk(2), Desk(3), Desk()], lambda stage, k: MS, 12))
    assert len(np.unique(stream_lanes(execution))) == 6
