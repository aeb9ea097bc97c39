"""How long a prediction takes: recorded operations played again, as they were and with a change."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from pathtrace.analysis import analyse
from pathtrace.analysis.executions import execution
from pathtrace.analysis.predicting.altering import altered, operations_in
from pathtrace.analysis.predicting.questions import Question, answer
from pathtrace.analysis.predicting.resimulation import replay_stream
from pathtrace.model.run import Run
from pathtrace.model.sample import SampleTable
from tests.bench.ledger import Ledger
from tests.bench.test_size import STAGES, pipeline
from tests.unit.analysis.builders import run_of, scenario

pytestmark = pytest.mark.bench

OPERATIONS = 100_000
ROUNDS = 3
INDEX = """
pathtrace: 1
places:
  archive: {kind: files, path: /data}
  chunker: {kind: process, run: chunk}
flows: {index: {path: [archive, chunker], frequency: every 24 h}}
"""


def recorded() -> Run:
    rows, window = pipeline(0, OPERATIONS // STAGES)
    rows.setflags(write=False)
    return replace(run_of(scenario(INDEX), ()), samples=SampleTable(rows), windows=(window,))


def times(work: Callable[[], object]) -> list[float]:
    took = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return took


def test_100_000_operations_are_played_again_in_seconds(ledger: Ledger) -> None:
    run = recorded()
    report = analyse(run)
    part = execution(run, 0, 0, 0)

    def again() -> None:
        course = altered(part, (2, 2), []).better
        replay_stream(operations_in(course, part), course.workers, [16, 16])

    ledger.at_most(f"playing {len(run.samples):,} operations again", times(again), 5, " s")

    def asked() -> None:
        found = answer(run, report, Question(("chunker.workers=4", "archive.depth=2")))
        assert abs(found.self_check.error) < 0.05

    note = "with analysis, self-check and both courses of a change"
    ledger.at_most(f"a prediction from {len(run.samples):,} operations", times(asked), 10, " s", note)
