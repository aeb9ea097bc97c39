"""Runs whose cause is planted: an indexing flow, a load and questions, each with its counters."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pathtrace.analysis import analyse
from pathtrace.model.report import HopReport, Report
from pathtrace.model.run import Ceiling, HostFacts, Reached, Run
from pathtrace.model.sample import Reading, Sample
from tests.unit.analysis.builders import MB, MS, Desk, asked, host, reached, run_of, scenario, steady, stream

INDEX = """
pathtrace: 1
question: What would make the re-index shorter?
workload: {requests_per_day: 200, loads_per_day: 2, documents_per_day: 10, acceptable_wait: 3 s}
places:
  archive: {kind: files, path: /data}
  indexer: {kind: process, command: [extract, "{path}"]}
  library: {kind: database, url: "sqlite:///x.db", batch: 100}
flows:
  index: {path: [archive, indexer, library], frequency: every 24 h}
"""
ANSWER = """
pathtrace: 1
workload: {requests_per_day: 200, loads_per_day: 2, acceptable_wait: 3 s}
places:
  weights: {kind: files, path: /models/x.gguf, data: weights}
  model: {kind: inference, url: "http://localhost:1", model: x}
  people: {kind: user}
flows:
  load: {path: [weights, model], frequency: per-load}
  answer: {path: [model, people], frequency: per-request}
"""
DOCUMENT = 1 * MB
DOCUMENTS = 40
Details = Callable[[Sample], Mapping[str, int]]


def nothing_more(sample: Sample) -> Mapping[str, int]:
    return {}


def index_run(
    took: tuple[int, int, int] = (2 * MS, 2 * MS, 2 * MS),
    details: Details = nothing_more,
    *,
    text: str = INDEX,
    readings: Callable[[int, int], list[Reading]] = lambda start, end: [],
    repeats: int = 3,
    ceilings: tuple[Ceiling, ...] = (),
    places: tuple[Reached, ...] = (reached("archive", disk="sda"), reached("library", disk="sdb")),
    hosts: tuple[HostFacts, ...] | None = None,
    desks: tuple[Desk, Desk, Desk] = (Desk(), Desk(), Desk()),
) -> Run:
    """``took``: nanoseconds per operation and stage; ``readings``: of each repeat's window."""
    executions, seen, at = [], [], 0
    for repeat in range(repeats):
        samples, window = stream(
            desks,
            lambda stage, k: took[stage],
            DOCUMENTS,
            offset=at,
            repeat=repeat,
            details=lambda sample: {"bytes": DOCUMENT, **details(sample)},
        )
        executions.append((samples, window))
        seen += readings(window.start_ns, window.end_ns)
        at = window.end_ns + 1000 * MS
    return run_of(scenario(text), executions, readings=seen, ceilings=ceilings, places=places, hosts=hosts)


def answer_run(
    stages: tuple[int, int] = (200 * MS, 800 * MS),
    *,
    requests: int = 20,
    text: str = ANSWER,
    readings: Callable[[int, int], list[Reading]] = lambda start, end: [],
    gpus: tuple[str, ...] = (),
    visible: bool = True,
    weights: int = 400 * MB,
    details: Details = nothing_more,
) -> Run:
    """One load of the weights in blocks, then questions; ``readings``: of the time of the questions."""
    blocks = 40
    load = stream(
        (Desk(), Desk()),
        lambda stage, k: (10 * MS, 1 * MS)[stage],
        blocks,
        details=lambda sample: {"bytes": weights // blocks},
    )
    start = load[1].end_ns + 1000 * MS
    answers = asked(requests, stages, offset=start, flow=1, details=details)
    return run_of(
        scenario(text),
        [load, answers],
        readings=readings(start, answers[1].end_ns),
        places=(
            reached("weights", disk="sda", bytes=weights),
            reached("model", pid=42 if visible else None),
            reached("people"),
        ),
        hosts=(host(gpus=gpus),),
    )


def hop(report: Report, flow: str, name: str) -> HopReport:
    return next(each for each in report.hops if (each.flow, each.name) == (flow, name))


def while_busy(run: Run, stage: str) -> str:
    """What limits ``action@place`` while it works, wherever it comes first."""
    return next(
        each.while_busy
        for every in analyse(run).hops
        for each in every.stages
        if f"{each.action}@{each.place}" == stage
    )


def disk(start: int, end: int, *, name: str = "sda", read: float = 0.0, busy: float = 0.0) -> list[Reading]:
    """A device's counters over a window."""
    return steady(
        "disk",
        name,
        read_bytes=(start, end, read),
        write_bytes=(start, end, 0.0),
        busy_s=(start, end, busy * (end - start) / 1e9),
    )


def own_cpu(start: int, end: int, cores: float) -> list[Reading]:
    return steady("self", "process", cpu_s=(start, end, cores * (end - start) / 1e9))


def machine(start: int, end: int, cores: float) -> list[Reading]:
    return steady("cpu", "all", busy_s=(start, end, cores * (end - start) / 1e9))


def server(
    start: int, end: int, *, place: str = "model", cores: float = 0.0, read: float = 0.0
) -> list[Reading]:
    return steady(
        "process",
        place,
        cpu_s=(start, end, cores * (end - start) / 1e9),
        read_bytes=(start, end, read),
        rchar_bytes=(start, end, 0.0),
        major_faults=(start, end, 0.0),
    )
