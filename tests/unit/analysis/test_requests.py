from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from pathtrace.analysis import analyse
from pathtrace.model.sample import Sample
from tests.unit.analysis.builders import MS, asked, run_of, scenario
from tests.unit.analysis.planted import ANSWER, answer_run

ONLY_ANSWERS = ANSWER.replace("  load: {path: [weights, model], frequency: per-load}\n", "").replace(
    "  weights: {kind: files, path: /models/x.gguf, data: weights}\n", ""
)


def eleven_tokens(sample: Sample) -> Mapping[str, int]:
    return {"tokens": 11} if sample.stage == 1 else {}


def test_first_token_and_tokens_per_second_are_what_was_set() -> None:
    report = analyse(answer_run((200 * MS, 10 * 20 * MS), details=eleven_tokens)).requests[0]
    assert (report.time_to_first_token_s, report.tokens_per_s) == pytest.approx((0.2, 50))


def test_an_empty_answer_has_no_first_token() -> None:
    report = analyse(answer_run(details=lambda sample: {"bytes": 0})).requests[0]
    assert (report.count, report.time_to_first_token_s, report.tokens_per_s) == (20, None, None)


def test_latency_covers_all_stages_of_a_request() -> None:
    report = analyse(answer_run((200 * MS, 300 * MS), requests=10)).requests[0]
    assert (
        report.count,
        report.errors,
        report.latency.p50_s,
        report.latency.p90_s,
        report.latency.p99_s,
    ) == pytest.approx((10, 0, 0.5, 0.5, None))
    assert (report.per_s, report.within_acceptable_wait) == pytest.approx((2, 1.0))


def test_a_failed_request_counts_as_one_that_was_not_answered_in_time() -> None:
    def details(sample: Sample) -> Mapping[str, int]:
        return {"outcome": 1} if sample.request == 3 and sample.stage == 0 else {}

    report = analyse(answer_run(requests=10, details=details)).requests[0]
    assert (report.count, report.errors, report.within_acceptable_wait) == (10, 1, 0.9)


def test_in_an_open_loop_latency_counts_from_when_a_request_should_have_begun() -> None:
    late, window = asked(
        10, (100 * MS, 100 * MS), details=lambda sample: {"intended_ns": sample.start_ns - 50 * MS}
    )
    report = analyse(run_of(scenario(ONLY_ANSWERS), [(late, window)])).requests[0]
    assert report.latency.p50_s == pytest.approx(0.25)


def test_each_load_level_has_its_own_report() -> None:
    one, two = (asked(10, (100 * MS, 100 * MS), users=users, offset=users * 10_000 * MS) for users in (1, 2))
    second = ([sample._replace(execution=1) for sample in two[0]], replace(two[1], execution=1))
    reports = analyse(run_of(scenario(ONLY_ANSWERS), [one, second])).requests
    assert [report.users for report in reports] == [1, 2]
    assert [report.per_s for report in reports] == pytest.approx([5, 10])


def test_answers_come_within_the_acceptable_wait_only_if_they_do_at_every_load_level() -> None:
    quick = asked(10, (100 * MS, 100 * MS))
    slow = asked(10, (2000 * MS, 2000 * MS), users=4, offset=10_000 * MS)
    crowded = ([sample._replace(execution=1) for sample in slow[0]], replace(slow[1], execution=1))
    for levels, expected in (([quick], True), ([quick, crowded], False)):
        report = analyse(run_of(scenario(ONLY_ANSWERS), levels))
        assert report.flows[0].within_acceptable_wait is expected
        assert any("nothing needs buying" in entry.advice for entry in report.ranking) is expected
