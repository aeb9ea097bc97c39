from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.analysis import analyse
from pathtrace.analysis.executions import executions
from pathtrace.analysis.frequency.reloads import Calls, calls_of, told_by
from pathtrace.model.report import Report
from pathtrace.model.sample import Sample
from tests.unit.analysis.builders import MS, asked, reached, run_of, scenario
from tests.unit.analysis.planted import ANSWER, Details, answer_run, hop

OLLAMA = ANSWER.replace("model: x}", "model: x, api: ollama}")
LOAD = 2100 * MS
DELIVER = 1


def loading(*requests: int, took: int = LOAD) -> Details:
    """The server says at the end of each answer what it loaded: for these requests its model."""

    def details(sample: Sample) -> Mapping[str, int]:
        return {"load_ns": took * (sample.request in requests)} if sample.stage == DELIVER else {}

    return details


def analysed(*requests: int, text: str = OLLAMA, took: int = LOAD) -> Report:
    return analyse(answer_run(text=text, visible=False, details=loading(*requests, took=took)))


def test_loads_that_the_server_tells_of_at_nearly_every_request_are_said_first() -> None:
    report = analysed(*range(2, 20))
    frequency = hop(report, "load", "weights->model").frequency
    assert (frequency.declared, frequency.observed, frequency.bytes_per_request) == (
        "per-load",
        "per-request",
        None,
    )
    assert frequency.evidence == (
        "declared per-load, observed at every request: Ollama's own load_duration: "
        "18 of 20 requests waited for the model to load, 2.1 s each"
    )
    assert report.verdict.lines[0] == f"weights->model: {frequency.evidence}; keep the model loaded (free)."
    assert report.findings[0].evidence == (
        "Ollama's own load_duration",
        "loading takes 6 min 38 s a day",
    )


def test_loads_replace_what_was_declared_in_seconds_a_day() -> None:
    report = analysed(*range(1, 20, 2))
    frequency = hop(report, "load", "weights->model").frequency
    assert frequency.evidence.startswith("declared per-load, observed at 53 % of requests: Ollama's own")
    load = next(flow for flow in report.flows if flow.name == "load")
    assert load.executions_per_day == pytest.approx(200 * 10 / 19)
    assert {entry.advice for entry in report.ranking if entry.flow == "load"} == {
        entry.advice for entry in report.ranking if entry.flow == "load" and entry.free
    }


@pytest.mark.parametrize(
    ("requests", "said"),
    [
        ((), "none of 20 requests waited for the model to load"),
        ((0,), "1 of 20 requests waited for the model to load, 2.1 s"),
    ],
)
def test_a_model_that_is_loaded_at_most_for_the_first_request_stays(
    requests: tuple[int, ...], said: str
) -> None:
    report = analysed(*requests)
    frequency = hop(report, "load", "weights->model").frequency
    assert (frequency.observed, frequency.evidence) == ("per-load", f"Ollama's own load_duration: {said}")
    assert [finding for finding in report.findings if finding.code == "frequency"] == []


def test_a_server_that_says_nothing_proves_nothing() -> None:
    report = analyse(answer_run(text=OLLAMA, visible=False))
    assert hop(report, "load", "weights->model").frequency.observed is None


def test_without_a_flow_that_loads_the_answers_tell_of_it_and_nobody_is_kept_loaded() -> None:
    text = OLLAMA.replace("  load: {path: [weights, model], frequency: per-load}\n", "")
    answers = asked(20, (200 * MS, 800 * MS), details=loading(*range(20)))
    report = analyse(run_of(scenario(text), [answers], places=(reached("model"), reached("people"))))
    assert report.verdict.lines[0] == (
        "model->people: model is loaded anew while answer runs: Ollama's own load_duration: "
        "20 of 20 requests waited for the model to load, 2.1 s each; keep the model loaded (free)."
    )
    assert [entry.advice for entry in report.ranking if "people loaded" in entry.advice] == []
    with_load = analyse(answer_run(text=OLLAMA, visible=False, details=loading(*range(20))))
    assert len([finding for finding in with_load.findings if finding.code == "frequency"]) == 1


def calls(*loads: list[int], idle_s: float = 0.0) -> list[Calls]:
    return [Calls("model", "answer", True, idle_s, np.array(each, dtype=np.int64)) for each in loads]


def test_a_load_after_a_pause_is_told_with_the_pause() -> None:
    both = [*calls([0, 0, 0]), *calls([LOAD], idle_s=360.0)]
    told = told_by("model", both, scenario(OLLAMA))
    assert told is not None
    assert (told.share, told.text) == (
        0.0,
        "Ollama's own load_duration: 1 of 4 requests waited for the model to load, 2.1 s; "
        "also after 6 min without a call",
    )


def test_people_who_ask_while_the_model_is_loaded_for_the_first_wait_for_the_same_load() -> None:
    samples, window = asked(9, (200 * MS, 800 * MS), users=3, flow=1, details=loading(0, 1, 2))
    run = run_of(scenario(OLLAMA), [(samples, window)])
    [execution] = executions(run)
    [found] = calls_of(execution, run.scenario.flows[1], run.scenario)
    assert (found.first, found.loads_ns.tolist()) == (3, [LOAD] * 3 + [0] * 6)


def test_one_call_tells_nothing() -> None:
    assert told_by("model", calls([LOAD]), scenario(OLLAMA)) is None


@given(st.lists(st.lists(st.integers(0, 10**10), min_size=1, max_size=30), min_size=2, max_size=5))
def test_shares_are_of_calls_that_were_not_the_first(loads: list[list[int]]) -> None:
    told = told_by("model", calls(*loads), scenario(OLLAMA))
    assert told is not None
    assert told.calls - told.later == len(loads)
    assert 0.0 <= told.share <= 1.0
    assert told.later_loads <= told.loads <= told.calls
