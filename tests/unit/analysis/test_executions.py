from __future__ import annotations

import numpy as np

from pathtrace.analysis.executions import execution, executions
from tests.unit.analysis.builders import MS, operation, run_of, scenario
from tests.unit.analysis.planted import answer_run, index_run
from tests.unit.analysis.test_critical_path import THREE_STAGES


def test_each_repeat_and_flow_comes_as_one_execution_in_order_of_start() -> None:
    found = list(executions(answer_run()))
    assert [(part.repeat, part.flow, part.number, len(part)) for part in found] == [
        (0, 0, 0, 80),
        (0, 1, 0, 40),
    ]
    assert all(bool(np.all(np.diff(part.start) >= 0)) for part in found)


def test_a_damaged_flow_or_stage_number_is_left_out() -> None:
    run = run_of(scenario(THREE_STAGES), [])
    samples = [operation(elapsed_ns=MS), operation(stage=9), operation(flow=7), operation(stage=-1)]
    run = run_of(run.scenario, [(samples, index_run().windows[0])])
    assert [len(part) for part in executions(run)] == [1]


def test_one_execution_can_be_had_again() -> None:
    run = index_run()
    again, first = execution(run, 1, 0, 0), list(executions(run))[1]
    assert (again.repeat, again.window, again.start.tolist()) == (1, first.window, first.start.tolist())
