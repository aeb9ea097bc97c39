from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from pathtrace.analysis import analyse
from pathtrace.model.sample import SAMPLE_COLUMNS, SampleTable, Window
from tests.unit.analysis.builders import run_of, scenario
from tests.unit.analysis.test_critical_path import THREE_STAGES

SAMPLES = 1_000_000
STAGES = 2
TOOK_NS = 10_000


def _chain(count: int) -> SampleTable:
    """Two stages in lock step, all in one repeat: the path leads through every second operation."""
    rows = np.zeros(count, dtype=[(name, f"<{code}") for name, code in SAMPLE_COLUMNS])
    number = np.arange(count)
    rows["stage"] = number % STAGES
    rows["operation"] = number
    rows["cause"] = np.where(number % STAGES == 0, -1, number - 1)
    rows["start_ns"] = number * TOOK_NS
    rows["intended_ns"] = rows["start_ns"]
    rows["elapsed_ns"] = TOOK_NS
    rows["bytes"] = 1000
    rows["cpu_ns"] = -1
    rows["io_bytes"] = -1
    rows["request"] = -1
    return SampleTable(rows)


def test_a_million_samples_take_less_than_twenty_seconds() -> None:
    run = run_of(scenario(THREE_STAGES), [])
    window = Window(0, 0, 0, 0, 0, SAMPLES * TOOK_NS, True, (1, 1, 1))
    table = _chain(SAMPLES)
    started = time.perf_counter()
    report = analyse(replace(run, samples=table, windows=(window,)))
    took = time.perf_counter() - started
    assert sum(part.seconds for part in report.flows[0].critical_path) == SAMPLES * TOOK_NS / 1e9
    assert took < 20
