"""What several people at once and a pause bring to light."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pathtrace.analysis import analyse
from pathtrace.model.report import Report
from pathtrace.model.run import CheckResult
from pathtrace.model.sample import Sample
from tests.unit.analysis.builders import MB, MS, asked, host, reached, run_of, scenario, steady
from tests.unit.analysis.planted import ANSWER

WEIGHTS = 400 * MB


def some_tokens(sample: Sample) -> Mapping[str, int]:
    return {"tokens": 8 if sample.stage else -1}


def evidence(report: Report, code: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(found.text, found.evidence) for found in report.findings if found.code == code]


def levels(each_ms: dict[int, int]) -> Report:
    """The same questions asked by more and more people, an answer taking as long as said."""
    text = ANSWER.replace("acceptable_wait: 3 s", f"users: {list(each_ms)}")
    executions, at = [], 0
    for number, (users, took) in enumerate(each_ms.items()):
        samples, window = asked(20, (took * MS, took * MS), users=users, offset=at, flow=1)
        samples = [sample._replace(execution=number) for sample in samples]
        executions.append((samples, replace(window, execution=number, users=users)))
        at = window.end_ns + 1000 * MS
    places = (reached("model"), reached("people"))
    return analyse(run_of(scenario(text), executions, places=places, hosts=(host(),)))


def test_more_in_all_and_a_longer_wait_for_each_are_said_together() -> None:
    assert evidence(levels({1: 100, 4: 200}), "load-levels") == [
        (
            "answer with 4 people at once instead of 1: "
            "2.0 times as much in all, each waits 2.0 times as long",
            ("1: 5/s, an answer takes 200 ms", "4: 10/s, an answer takes 400 ms"),
        )
    ]


def test_a_server_that_is_full_gives_no_more_in_all() -> None:
    (found,) = evidence(levels({1: 100, 2: 200}), "load-levels")
    assert found[0].endswith("no more in all, each waits 2.0 times as long")


def test_one_load_level_has_nothing_to_be_held_against() -> None:
    assert evidence(levels({2: 100}), "load-levels") == []


def after_idle(first_ms: int, read: float, metric: str = "rchar_bytes") -> Report:
    """Twenty questions, then one after a pause of 30 s for which the server reads so much."""
    text = ANSWER + "idle_gaps: [30 s]\n"
    answers, window = asked(20, (100 * MS, 100 * MS), flow=1, details=some_tokens)
    later = window.end_ns + 30_000 * MS
    one, after = asked(1, (first_ms * MS, 100 * MS), offset=later, flow=1, details=some_tokens)
    one = [sample._replace(execution=1) for sample in one]
    return analyse(
        run_of(
            scenario(text),
            [(answers, window), (one, replace(after, execution=1, idle_s=30.0))],
            readings=steady(
                "process", "model", cpu_s=(0, after.end_ns, 0.0), **{metric: (later, after.end_ns, read)}
            ),
            places=(reached("weights", bytes=WEIGHTS), reached("model", pid=42), reached("people")),
            hosts=(host(),),
        )
    )


def test_weights_read_again_after_a_pause_are_told_with_what_the_first_answer_costs() -> None:
    assert evidence(after_idle(900, WEIGHTS), "frequency") == [
        (
            "weights->model: loaded again after 30 s without requests: 381 MiB re-read in 1 of 1 pauses",
            (
                "I/O counters of the server behind model",
                "the first answer waits at least 990 ms for it: 1.98 s a day",
                "the first answer begins after 900 ms instead of 100 ms: 800 ms more, 1.6 s a day",
            ),
        )
    ]


def test_memory_that_grows_by_the_weights_after_a_pause_shows_a_load_too() -> None:
    (found,) = evidence(after_idle(900, WEIGHTS, "rss_bytes"), "frequency")
    assert "mapped anew, from this host's memory, in 1 of 1 pauses" in found[0]


def test_a_late_first_answer_is_told_also_where_nothing_was_seen_to_load() -> None:
    (found,) = evidence(after_idle(900, 0.0), "after-idle")
    assert found[0].startswith("answer: after 30 s without requests the first answer begins after 900 ms")


def test_a_first_answer_like_the_others_is_nothing_to_tell() -> None:
    report = after_idle(100, 0.0)
    assert evidence(report, "after-idle") + evidence(report, "frequency") == []


def test_checks_are_told_with_what_was_not_found() -> None:
    answers = asked(4, (100 * MS, 100 * MS), flow=1)
    run = run_of(scenario(ANSWER), [answers], places=(reached("model"), reached("people")), hosts=(host(),))
    results = (CheckResult("who?", True, ()), CheckResult("when?", False, ("1987",)))
    assert evidence(analyse(replace(run, checks=results)), "checks") == [
        ("1 of 2 checks passed (50 %)", ("'when?': not found: 1987",))
    ]
