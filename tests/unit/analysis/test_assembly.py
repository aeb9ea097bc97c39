from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.analysis import analyse
from pathtrace.analysis.summary import HopFigures, throughput
from pathtrace.model.report import First, LimitedBy
from pathtrace.model.run import StartCondition
from pathtrace.model.sample import Sample, SampleTable, Window
from pathtrace.model.work import LayerState
from tests.unit.analysis.builders import MS, Desk, reached, run_of, scenario, stream
from tests.unit.analysis.planted import ANSWER, INDEX, answer_run, hop, index_run

TOOK = (2 * MS, 5 * MS, 3 * MS)


def _repeats(*milliseconds: int) -> list[tuple[list[Sample], Window]]:
    """One document per repeat, which lasts so long in all."""
    at, executions = 0, []
    for repeat, took in enumerate(milliseconds):

        def service(stage: int, k: int, each: int = took * MS // 3) -> int:
            return each

        executions.append(stream([Desk()] * 3, service, 1, offset=at, repeat=repeat, details=_kilobyte))
        at += took * MS + MS
    return executions


def _kilobyte(sample: Sample) -> Mapping[str, int]:
    return {"bytes": 1000}


def test_figures_are_the_median_repeats_with_the_interval_over_all() -> None:
    report = analyse(run_of(scenario(INDEX), _repeats(90, 30, 60)))
    duration = report.flows[0].duration_s
    assert duration is not None
    assert (duration.value, duration.low, duration.high, duration.n) == (0.06, 0.03, 0.09, 3)
    first = report.hops[0]
    assert (first.bytes, first.operations, first.duration_s) == (1000, 1, 0.02)
    assert (first.throughput.bytes_per_s, first.throughput.low, first.throughput.high) == pytest.approx(
        (50_000, 1000 / 0.03, 100_000)
    )


def test_a_hops_interval_holds_what_the_flows_median_repeat_gave_of_it() -> None:
    repeats = tuple(HopFigures(10, 0, 1000, took_s, took_s) for took_s in (0.1, *(0.05,) * 9))
    found = throughput(repeats[0], repeats)
    assert (found.bytes_per_s, found.low, found.high) == pytest.approx((10_000, 10_000, 20_000))


def test_the_critical_path_adds_up_to_the_duration_that_is_shown() -> None:
    for run in (index_run(TOOK), answer_run()):
        for flow in analyse(run).flows:
            assert flow.duration_s is not None
            assert sum(part.seconds for part in flow.critical_path) == pytest.approx(flow.duration_s.value)


def test_time_of_each_stage_is_wall_times_workers() -> None:
    desks = (Desk(2), Desk(3), Desk())
    report = analyse(index_run(TOOK, desks=desks))
    wall = report.flows[0].duration_s
    assert wall is not None
    for each in report.hops:
        for stage in each.stages:
            total = stage.time.busy_s + stage.time.starved_s + stage.time.blocked_s
            assert total == pytest.approx(wall.value * stage.workers)


def test_warm_ups_are_ignored() -> None:
    run = index_run(TOOK)
    warm = run.samples.rows.copy()
    warm["repeat"] -= 1
    assert [repeat.index for repeat in analyse(replace(run, samples=SampleTable(warm))).repeats] == [0, 1]


def test_the_first_repeat_of_a_cold_run_is_shown_apart() -> None:
    run = run_of(
        scenario(INDEX),
        _repeats(90, 30, 60),
        starts=tuple(StartCondition(repeat, "cold", ()) for repeat in range(3)),
    )
    assert analyse(run).hops[0].first == First(0.03, 1000 / 0.03)
    assert analyse(replace(run, starts=())).hops[0].first is None


def test_a_flow_whose_place_failed_is_reported_as_not_measured_with_the_reason() -> None:
    run = answer_run()
    kept = run.samples.rows[run.samples.rows["flow"] == 0]
    places = (*run.reached[:1], reached("model", fault="connection refused"))
    report = analyse(replace(run, samples=SampleTable(kept), reached=places, status="partial"))
    lost = hop(report, "answer", "model->people")
    assert (lost.duration_s, lost.time, lost.operations) == (None, None, 0)
    assert lost.limited_by == LimitedBy(
        *("unknown", (), "unknown", ("model: connection refused",)),
        "repair what is named, then run again",
    )
    assert report.flows[1].duration_s is None
    assert [caveat.code for caveat in lost.caveats] == ["not-measured"]
    assert hop(report, "load", "weights->model").duration_s is not None


def test_an_execution_that_was_cut_short_has_figures_but_no_duration() -> None:
    run = index_run(TOOK, repeats=1)
    run = replace(run, windows=tuple(replace(window, complete=False) for window in run.windows))
    report = analyse(run)
    assert report.flows[0].duration_s is None
    assert report.hops[0].duration_s is not None
    assert {caveat.code for caveat in report.caveats} == {"one-repeat", "incomplete"}


def test_a_run_without_a_single_sample_is_analysed() -> None:
    for text in (INDEX, ANSWER):
        report = analyse(run_of(scenario(text), []))
        assert all(each.duration_s is None for each in report.hops)
        assert (report.ranking, report.repeats, report.requests) == ((), (), ())


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_whatever_part_of_a_run_is_left_can_be_analysed(data: st.DataObject) -> None:
    run = data.draw(st.sampled_from([_INDEX_RUN, _ANSWER_RUN]))
    rows = run.samples.rows
    kept = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=12, unique=True))
    windows = data.draw(st.sampled_from([run.windows, ()]))
    report = analyse(replace(run, samples=SampleTable(rows[kept]), windows=windows, status="interrupted"))
    assert len(report.hops) == sum(len(flow.hops) for flow in run.scenario.flows)
    assert report.verdict.lines


@settings(deadline=None, max_examples=15)
@given(st.permutations(range(120)))
def test_the_order_of_samples_changes_nothing(order: list[int]) -> None:
    one = index_run(TOOK, repeats=1)
    assert analyse(replace(one, samples=SampleTable(one.samples.rows[order]))) == analyse(one)


def test_doubts_travel_with_the_hop_they_are_about() -> None:
    start = StartCondition(0, "cold", (LayerState("server_cache", "archive", "unknown", "no ssh"),))
    report = analyse(replace(index_run(TOOK), starts=(start,)))
    assert [(each.name, [caveat.code for caveat in each.caveats]) for each in report.hops] == [
        ("archive->indexer", ["start-unknown"]),
        ("indexer->library", []),
    ]


def test_defaults_that_the_ranking_rests_on_are_caveats() -> None:
    report = analyse(answer_run(text=ANSWER.replace("requests_per_day: 200, ", "")))
    assert [(caveat.code, caveat.subject) for caveat in report.caveats] == [
        ("assumed", "requests_per_day"),
        ("one-repeat", None),
        ("closed-loop", "answer"),
    ]


_INDEX_RUN, _ANSWER_RUN = index_run(TOOK), answer_run()
