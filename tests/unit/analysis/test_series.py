from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.analysis import analyse
from pathtrace.analysis.executions import execution
from pathtrace.analysis.series import POINTS, Operations, sawtooth, series
from pathtrace.model.report import Report
from pathtrace.model.sample import Sample, Window
from tests.unit.analysis.builders import MB, MS, Desk, operation, run_of, scenario, stream

COPY = scenario(
    "pathtrace: 1\n"
    "places:\n"
    "  archive: {kind: files, path: /data}\n"
    "  chunker: {kind: process, run: chunk}\n"
    "flows: {index: {path: [archive, chunker], frequency: every 24 h}}\n"
)
SECOND = 1000 * MS


def reads(
    took: Sequence[int], size: int = MB, repeat: int = 0, offset: int = 0
) -> tuple[list[Sample], Window]:
    """One worker that reads one thing after the other."""
    samples, at = [], offset
    for number, duration in enumerate(took):
        samples.append(
            operation(repeat=repeat, operation=number, start_ns=at, elapsed_ns=duration, bytes=size)
        )
        at += duration
    return samples, Window(repeat, 0, 0, 0, offset, at, True, (1, 1))


def of(took: Sequence[int]):
    part = execution(run_of(COPY, [reads(took)]), 0, 0, 0)
    return part, COPY.flows[0].hops[0]


def analysed(*executions: tuple[list[Sample], Window]) -> Report:
    return analyse(run_of(COPY, executions))


@given(
    st.lists(st.tuples(st.integers(0, 10**10), st.integers(0, 10**9), st.integers(0, 2**30)), min_size=1),
    st.integers(1, 100),
)
def test_every_byte_and_operation_is_credited_once(made: list[tuple[int, int, int]], bins: int) -> None:
    start, took, moved = (np.array(column) for column in zip(*made, strict=True))
    end = int((start + took).max())
    credited, done = Operations(start, start + took, moved).within(np.linspace(0, max(end, 1), bins + 1))
    # What an operation of a nanosecond moved is a difference of numbers as large as its rate × its time.
    rounding = 4 * np.finfo(np.float64).eps * float(moved.max()) * end
    assert float(credited.sum()) == pytest.approx(int(moved.sum()), rel=1e-6, abs=max(1.0, rounding))
    assert float(done.sum()) == pytest.approx(len(made), rel=1e-6)


def test_a_steady_hop_has_the_same_rate_at_every_point() -> None:
    points = series(*of([5 * MS] * 480))
    assert len(points) == POINTS
    assert [round(point.bytes_per_s / MB, 6) for point in points] == [200.0] * POINTS
    assert [round(point.operations_per_s, 6) for point in points] == [200.0] * POINTS
    assert [round(point.t_s, 6) for point in points[:2]] == [0.025, 0.075]


def test_where_nothing_moved_the_rate_is_nothing_and_no_rest_of_rounding() -> None:
    draw = np.random.default_rng(26)  # of thirty seeds the one whose rest is above nothing
    start, took = draw.integers(0, 10**9, 40_000), draw.integers(1, 10**5, 40_000)  # several at the same time
    start[20_000:] += 10**10  # after a pause of nine seconds
    credited, _ = Operations(start, start + took, draw.integers(0, 2**20, 40_000)).within(
        np.linspace(0, 11 * 10**9, 111)
    )
    assert credited[11:100].tolist() == [0.0] * 89


def test_one_long_operation_is_a_low_rate_all_along() -> None:
    points = series(*of([24 * SECOND, 24 * SECOND]))
    assert {round(point.bytes_per_s) for point in points} == {round(MB / 24)}


def stalling(period: int, stall: int, count: int = 2000) -> list[int]:
    """Every ``period`` operations of 1 ms one that takes ``stall`` ms."""
    return [stall * MS if number % period == period - 1 else MS for number in range(count)]


@pytest.mark.parametrize(("period", "stall"), [(200, 200), (400, 800), (20, 30)])
def test_stalls_at_even_intervals_are_a_saw(period: int, stall: int) -> None:
    found = sawtooth(*of(stalling(period, stall, 4000)))
    assert found is not None
    assert found.period_s == pytest.approx((period - 1 + stall) / 1000, rel=0.1)
    assert found.low_share == pytest.approx(stall / (period - 1 + stall), abs=0.2)


def test_what_is_steady_or_irregular_or_has_few_operations_is_no_saw() -> None:
    rng = np.random.default_rng(1)
    assert sawtooth(*of([MS] * 2000)) is None
    assert sawtooth(*of([int(ms * MS) for ms in rng.lognormal(0, 1, 2000)])) is None
    assert sawtooth(*of([MS, 50 * MS] * 20)) is None
    assert sawtooth(*of([MS] * 1000 + [900 * MS] + [MS] * 1000)) is None


def test_large_files_between_small_ones_are_no_stalls() -> None:
    samples, window = reads(stalling(200, 200))
    sized = [sample._replace(bytes=sample.elapsed_ns) for sample in samples]
    part = execution(run_of(COPY, [(sized, window)]), 0, 0, 0)
    assert sawtooth(part, COPY.flows[0].hops[0]) is None


def test_a_stall_is_found_where_it_is_and_not_where_others_wait_for_it() -> None:
    """The chunker stalls; reading is then blocked, and shows the same swing, but not by its own work."""

    def service(stage: int, before: int) -> int:
        return MS if stage == 0 or before % 100 != 99 else 150 * MS

    def sized(sample: Sample) -> dict[str, int]:
        return {"bytes": MB}

    made, offset = [], 0
    for repeat in range(3):
        samples, window = stream(
            [Desk(queue=4), Desk(queue=4)], service, 1000, offset=offset, repeat=repeat, details=sized
        )
        made.append((samples, window))
        offset = window.end_ns + SECOND
    assert [each for each in analysed(*made).findings if each.code == "sawtooth"] == []
    part = execution(run_of(COPY, made), 0, 0, 0)
    swings = [point.operations_per_s for point in series(part, COPY.flows[0].hops[0])]
    assert min(swings) < 0.3 * max(swings)


def test_a_saw_in_most_repeats_is_told_once_with_its_pace() -> None:
    made, offset = [], 0
    for repeat, took in enumerate([stalling(200, 200), stalling(200, 200), [MS] * 2000]):
        made.append(reads(took, repeat=repeat, offset=offset))
        offset = made[-1][1].end_ns + SECOND
    report = analysed(*made)
    (found,) = [each for each in report.findings if each.code == "sawtooth"]
    assert found.text == ("archive->chunker stalls about every 397 ms: its rate rises and falls like a saw")
    assert len(report.hops[0].series) == POINTS
    assert [each.code for each in analysed(made[0], made[2]).findings if each.code == "sawtooth"] == []
