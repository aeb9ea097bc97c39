from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.analysis import analyse
from pathtrace.analysis.frequency.rereading import slope
from pathtrace.model.sample import Reading
from tests.unit.analysis.builders import MB, MS
from tests.unit.analysis.planted import ANSWER, answer_run, hop, index_run, server

WEIGHTS = 400 * MB


def loaded_once(start: int, end: int) -> list[Reading]:
    """The server reads its weights at the first of twenty requests and never again."""
    moments = ((start, 0.0), (start + 100 * MS, WEIGHTS), (end, WEIGHTS))
    cpu = [Reading(at, "process", "model", "cpu_s", 0.0) for at in (start, end)]
    return cpu + [Reading(at, "process", "model", "rchar_bytes", value) for at, value in moments]


def test_weights_read_again_at_each_request_are_said_first_with_their_bytes() -> None:
    report = analyse(answer_run(readings=lambda a, b: server(a, b, cores=0.9, read=20 * WEIGHTS)))
    frequency = hop(report, "load", "weights->model").frequency
    assert (frequency.declared, frequency.observed) == ("per-load", "per-request")
    assert frequency.bytes_per_request == pytest.approx(WEIGHTS)
    assert frequency.evidence == (
        "declared per-load, observed at every request: 381 MiB re-read each time (7.45 GiB over 20 requests)"
    )
    assert report.verdict.lines[0] == f"weights->model: {frequency.evidence}; keep the model loaded (free)."
    assert report.findings[0].code == "frequency"


def test_observed_frequency_replaces_the_declared_one_in_seconds_a_day() -> None:
    report = analyse(answer_run(readings=lambda a, b: server(a, b, cores=0.9, read=20 * WEIGHTS)))
    load = next(flow for flow in report.flows if flow.name == "load")
    entries = [entry for entry in report.ranking if entry.flow == "load"]
    assert load.executions_per_day == 200
    assert sum(entry.seconds_per_day for entry in entries) == pytest.approx(0.401 * 200)
    assert {(entry.frequency, entry.waits, entry.free) for entry in entries} == {
        ("per-request", "people", True)
    }


def test_weights_that_are_read_once_stay_per_load() -> None:
    report = analyse(answer_run(readings=loaded_once))
    frequency = hop(report, "load", "weights->model").frequency
    assert (frequency.observed, frequency.bytes_per_request) == ("per-load", 0.0)
    assert [finding.code for finding in report.findings if finding.code == "frequency"] == []


def test_a_part_of_the_weights_read_at_requests_counts_by_its_share() -> None:
    report = analyse(answer_run(readings=lambda a, b: server(a, b, cores=0.9, read=20 * 100 * MB)))
    load = next(flow for flow in report.flows if flow.name == "load")
    assert load.executions_per_day == pytest.approx(200 * 0.25)


def test_a_server_that_cannot_be_seen_leaves_it_open() -> None:
    frequency = hop(analyse(answer_run(visible=False)), "load", "weights->model").frequency
    assert (frequency.observed, frequency.evidence) == (
        None,
        "driven by the replay; the process of its server cannot be seen from here",
    )


def test_what_pathtrace_reads_itself_proves_nothing() -> None:
    frequency = hop(analyse(index_run()), "index", "archive->indexer").frequency
    assert (frequency.observed, frequency.evidence) == (None, "driven by the replay")


def test_a_stand_in_for_the_server_proves_nothing() -> None:
    text = ANSWER.replace('url: "http://localhost:1", model: x', "workers: 1").replace(
        "  answer: {path: [model, people], frequency: per-request}\n", ""
    )
    run = answer_run(text=text, requests=0)
    assert hop(analyse(run), "load", "weights->model").frequency.observed is None


@given(st.floats(0, 1e10), st.floats(0, 1e9), st.integers(2, 50))
def test_the_slope_is_what_each_request_adds_whatever_came_before(
    first: float, each: float, count: int
) -> None:
    read = first + each * np.arange(count, dtype=np.float64)
    assert slope(read) == pytest.approx(each, abs=1e-3)


def test_weights_that_are_loaded_at_some_requests_are_not_said_to_be_read_at_every_one() -> None:
    def now_and_then(start: int, end: int) -> list[Reading]:
        """Twenty requests of a second each; the sixth and the fifteenth load."""
        heights = ((0.0, 0), (5.0, 0), (5.1, 1), (14.0, 1), (14.1, 2), (20.0, 2))
        return [
            Reading(start + round(at * 1000) * MS, "process", "model", metric, height * WEIGHTS)
            for at, height in heights
            for metric in ("cpu_s", "rchar_bytes")
        ]

    report = analyse(answer_run(readings=now_and_then))
    frequency = hop(report, "load", "weights->model").frequency
    assert (frequency.observed, frequency.evidence) == (
        "per-request",
        "declared per-load, loaded again at 2 of 19 later requests: 381 MiB re-read each time",
    )
    load = next(flow for flow in report.flows if flow.name == "load")
    assert load.executions_per_day == pytest.approx(200 * 2 / 19)
