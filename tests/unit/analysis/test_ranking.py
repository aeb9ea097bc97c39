from __future__ import annotations

from dataclasses import replace

import pytest

from pathtrace.analysis import analyse
from pathtrace.model.report import RankingEntry
from pathtrace.model.scenario import Frequency, FrequencyKind
from tests.unit.analysis.builders import MS
from tests.unit.analysis.limiting.test_limits import SLOW_INSERT, SLOW_PROCESS, shares
from tests.unit.analysis.planted import ANSWER, INDEX, answer_run, index_run, machine, server


def first(entries: tuple[RankingEntry, ...], resource: str) -> RankingEntry:
    return next(entry for entry in entries if entry.resource == resource)


@pytest.mark.parametrize(
    ("kind", "period_s", "per_day"),
    [
        (FrequencyKind.ONCE, None, 1 / 365),
        (FrequencyKind.PER_LOAD, None, 2),
        (FrequencyKind.PER_DOCUMENT, None, 10),
        (FrequencyKind.EVERY, 6 * 3600, 4),
    ],
)
def test_seconds_a_day_are_seconds_times_executions_a_day(
    kind: FrequencyKind, period_s: float | None, per_day: float
) -> None:
    run = index_run()
    flow = replace(run.scenario.flows[0], frequency=Frequency(kind, period_s, False, str(kind)))
    report = analyse(replace(run, scenario=replace(run.scenario, flows=(flow,))))
    documents = 40 if kind is FrequencyKind.PER_DOCUMENT else 1
    total = report.flows[0].duration_s
    assert total is not None
    assert report.flows[0].executions_per_day == pytest.approx(per_day)
    assert sum(entry.seconds_per_day for entry in report.ranking) == pytest.approx(
        total.value / documents * per_day
    )


def test_a_request_counts_with_its_mean_seconds_in_each_stage() -> None:
    report = analyse(answer_run(readings=lambda a, b: server(a, b, cores=1.0)))
    entries = [entry for entry in report.ranking if entry.flow == "answer"]
    assert [entry.stage for entry in entries] == ["deliver@people", "generate@model"]
    assert [entry.seconds_per_execution for entry in entries] == pytest.approx([0.8, 0.2])
    assert [entry.seconds_per_day for entry in entries] == pytest.approx([160, 40])


def test_what_people_wait_for_comes_before_what_nobody_waits_for() -> None:
    ranked = analyse(answer_run((1 * MS, 1 * MS))).ranking
    waits = [entry.waits for entry in ranked]
    assert waits == sorted(waits, key=lambda who: who != "people")
    assert [entry.rank for entry in ranked] == list(range(1, len(ranked) + 1))
    assert (
        max(entry.seconds_per_day for entry in ranked if entry.waits == "nobody") > ranked[0].seconds_per_day
    )


def test_a_commit_per_batch_is_advised_to_take_larger_batches_free_of_charge() -> None:
    entry = first(analyse(index_run(SLOW_INSERT, shares(2, finish=0.9))).ranking, "commit:library")
    assert entry.rank == 1
    assert entry.advice == "`batch: 500` at library commits less often and saves at most 1.44 s a day"
    assert entry.free


def test_a_commit_per_row_is_advised_to_commit_per_batch() -> None:
    text = INDEX.replace("batch: 100", "batch: 100, commit: row")
    entry = first(analyse(index_run(SLOW_INSERT, shares(2, finish=0.9), text=text)).ranking, "commit:library")
    assert entry.advice.startswith("`commit: batch` at library")


@pytest.mark.parametrize(("cores", "free"), [(1.0, True), (3.9, False)])
def test_more_workers_are_advised_only_where_cores_are_idle(cores: float, free: bool) -> None:
    run = index_run(SLOW_PROCESS, shares(1, cpu=0.95), readings=lambda a, b: machine(a, b, cores))
    entry = first(analyse(run).ranking, "cpu:indexer")
    assert (entry.free, "workers: 4" in entry.advice) == (free, free)


def test_answers_within_the_acceptable_wait_need_no_purchase() -> None:
    report = analyse(answer_run(readings=lambda a, b: server(a, b, cores=1.0)))
    assert {entry.advice for entry in report.ranking if entry.flow == "answer"} == {
        "nothing needs buying: answers come within 3 s"
    }
    assert report.verdict.lines[-1] == (
        '"answer" comes within the acceptable wait: nothing needs buying for it.'
    )


def test_answers_beyond_the_acceptable_wait_are_advised_about() -> None:
    text = ANSWER.replace("acceptable_wait: 3 s", "acceptable_wait: 500 ms")
    report = analyse(answer_run(text=text, readings=lambda a, b: server(a, b, cores=1.0)))
    assert first(report.ranking, "model:model").advice == (
        "a smaller or more coarsely quantised model, or a GPU, saves at most 3 min 20 s a day"
    )


def test_the_shares_of_a_flow_add_up_to_one() -> None:
    report = analyse(answer_run())
    for flow in ("load", "answer"):
        assert sum(e.share for e in report.ranking if e.flow == flow) == pytest.approx(1)


def test_an_entry_rests_on_a_stand_in_if_an_end_of_its_hop_is_one() -> None:
    text = INDEX.replace("path: /data", "make: {files: 3, bytes: 3 MiB, kind: text}")
    stand_ins = {entry.hop: entry.stand_in for entry in analyse(index_run(text=text)).ranking}
    assert stand_ins["archive->indexer"] is True
    assert stand_ins["indexer->library"] is False


def test_what_takes_less_than_a_second_a_day_is_not_worth_advice() -> None:
    report = analyse(index_run((10 * MS, 1 * MS, 1 * MS)))
    assert {entry.advice for entry in report.ranking} == {"nothing to gain: less than a second a day"}
