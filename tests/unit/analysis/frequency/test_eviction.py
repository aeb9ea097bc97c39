"""Models that share a server: whose bytes are whose, and what a load coincides with."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pathtrace.analysis import analyse
from pathtrace.model.report import Report
from pathtrace.model.run import Run
from pathtrace.model.sample import Reading
from tests.unit.analysis.builders import MB, MS, Desk, asked, host, reached, run_of, scenario, stream
from tests.unit.analysis.planted import hop

TEXT = """
pathtrace: 1
workload: {requests_per_day: 200}
places:
  small: {kind: files, path: /models/small.gguf}
  large: {kind: files, path: /models/large.gguf}
  embedder: {kind: inference, task: embed, url: "http://localhost:1", MINE}
  model: {kind: inference, url: "http://localhost:1", OTHER}
  people: {kind: user}
flows:
  fetch: {path: [small, embedder], frequency: per-load}
  load: {path: [large, model], frequency: per-load}
  answer: {path: [embedder, model, people], frequency: per-request}
"""
SMALL, LARGE = 100 * MB, 400 * MB
EMBED, GENERATE, DELIVER = 200 * MS, 300 * MS, 500 * MS
WHOLE = EMBED + GENERATE + DELIVER
REQUESTS = 10


def in_turn(
    mine: str = "model: a",
    other: str = "model: b",
    *,
    metric: str = "rchar_bytes",
    loads: tuple[bool, bool] = (True, True),
) -> Run:
    """Each request loads the embedder's weights in the first 100 ms of its part, then the model's."""
    weights = [
        stream(
            (Desk(), Desk()),
            lambda stage, k: 1 * MS,
            4,
            flow=flow,
            offset=flow * 1000 * MS,
            details=lambda sample: {"bytes": (SMALL, LARGE)[sample.flow] // 4},
        )
        for flow in (0, 1)
    ]
    start = 3000 * MS
    answers = asked(REQUESTS, (EMBED, GENERATE, DELIVER), offset=start, flow=2)
    text = TEXT.replace("MINE", mine).replace("OTHER", other)
    return run_of(
        scenario(text),
        [*weights, answers],
        readings=[
            Reading(at, "process", place, name, value if name == metric else 0.0)
            for at, value in _read(start, loads)
            for place in ("embedder", "model")
            for name in ("cpu_s", "read_bytes", metric)
        ],
        places=(
            reached("small", disk="sda", bytes=SMALL),
            reached("large", disk="sda", bytes=LARGE),
            reached("embedder", pid=42),
            reached("model", pid=42),
            reached("people"),
        ),
        hosts=(host(),),
    )


def _read(start: int, loads: tuple[bool, bool]) -> Sequence[tuple[int, float]]:
    seen, total = [(start, 0.0)], 0.0
    for request in range(REQUESTS):
        at = start + request * WHOLE
        for begins, size, loaded in ((at, SMALL, loads[0]), (at + EMBED, LARGE, loads[1])):
            seen.append((begins, total))
            total += size if loaded or request == 0 else 0
            seen.append((begins + 100 * MS, total))
    return [*seen, (start + REQUESTS * WHOLE, total)]


def evidence(report: Report, about: str) -> tuple[str, ...]:
    (found,) = [f for f in report.findings if f.code == "frequency" and f.text.startswith(about)]
    return found.evidence


def advice(report: Report, stage: str) -> set[str]:
    return {entry.advice for entry in report.ranking if entry.stage == stage}


@pytest.mark.parametrize("name", ["fetch", "load"])
def test_each_of_two_models_at_one_server_is_charged_with_its_own_bytes(name: str) -> None:
    source, model, size = {"fetch": ("small", "embedder", SMALL), "load": ("large", "model", LARGE)}[name]
    frequency = hop(analyse(in_turn()), name, f"{source}->{model}").frequency
    assert frequency.observed == "per-request"
    assert frequency.bytes_per_request == pytest.approx(size, rel=0.01)


def test_two_models_that_take_turns_in_one_servers_memory_are_said_to_evict_each_other() -> None:
    report = analyse(in_turn())
    assert evidence(report, "large->model") == (
        "I/O counters of the server behind model",
        "embedder (a) and model (b) evict each other: loaded at 10 of 10 requests that came after one of "
        "embedder",
        "it takes at least 99 ms of each request: 19.8 s a day",
    )
    assert advice(report, "generate@model") == {
        "let the server hold both models of embedder and model at once: saves at most 19.8 s a day"
    }


def test_one_model_with_two_values_of_an_option_is_told_with_them() -> None:
    run = in_turn("model: a, options: {num_ctx: 2048}", "model: a, options: {num_ctx: 8192, seed: 1}")
    report = analyse(run)
    assert evidence(report, "large->model")[1] == (
        "it coincides with a changed option (num_ctx is 8192 at model and 2048 at embedder, seed is 1 at "
        "model and not set at embedder): loaded at 10 of 10 requests that came after one of embedder"
    )
    assert advice(report, "generate@model") == {
        "use the same `num_ctx`, `seed` at embedder and model: saves at most 19.8 s a day"
    }


def test_one_model_with_the_same_options_gives_no_reason_for_its_loads() -> None:
    report = analyse(in_turn("model: a", "model: a"))
    assert not [text for text in evidence(report, "large->model") if "evict" in text or "option" in text]


def test_weights_that_were_loaded_once_are_not_said_to_be_evicted() -> None:
    report = analyse(in_turn(loads=(False, False)))
    assert [finding.text for finding in report.findings if finding.code == "frequency"] == []
    assert hop(report, "load", "large->model").frequency.observed == "per-load"


def test_memory_that_grows_by_the_weights_at_each_request_shows_loads_without_reads() -> None:
    report = analyse(in_turn(metric="rss_bytes"))
    frequency = hop(report, "load", "large->model").frequency
    assert (frequency.observed, frequency.bytes_per_request) == (
        "per-request",
        pytest.approx(LARGE, rel=0.01),
    )
    assert "mapped anew, from this host's memory" in frequency.evidence
    assert evidence(report, "large->model")[0] == "resident memory of the server behind model"
