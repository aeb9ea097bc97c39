"""What a server computes, of which a full link hides how much is for its packets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pathtrace.analysis import analyse
from pathtrace.analysis.assembly import measured_flows
from pathtrace.analysis.predicting.disk_bounds import Bounds
from pathtrace.analysis.predicting.prediction import predict
from pathtrace.analysis.predicting.server_bounds import server_bounds
from pathtrace.model.prediction import FlowPrediction, Prediction
from pathtrace.model.sample import Reading
from tests.unit.analysis import far
from tests.unit.analysis.builders import MB, steady

EACH_S = 0.09
FULL = far.Way(
    took_ms=90,
    repeats=3,
    ceilings=(*far.line(), far.ceiling("disk:weights", 4000 * MB)),
)
"""40 blocks of 10 MB, one at a time, on a link that they nearly fill."""


def served(cores: float, packets: float) -> far.Way:
    """The server's share of a core, and that of the kernel for packets."""

    def more(start: int, end: int) -> list[Reading]:
        softirq = steady("far_cpu", "nas/all", softirq_s=(start, end, packets * (end - start) / 1e9))
        return [*far.process(start, end, "smbd[7]", cores), *softirq]

    return replace(FULL, more=more)


def bounds(way: far.Way, *, full: bool, then_s: float = 0.035) -> Bounds:
    evidence, [study] = measured_flows(far.run(way))
    return server_bounds(study.stages[0], study, evidence, then_s, full)


def about(share: float) -> object:
    return pytest.approx(share * EACH_S, rel=0.03)


def test_what_the_kernel_did_for_packets_of_a_full_link_may_be_the_links() -> None:
    found = bounds(served(0.9, 0.7), full=True)
    assert (found.least_s, found.most_s) == (about(0.2), about(0.9))


def test_packets_cost_what_they_cost_where_the_link_was_not_full() -> None:
    found = bounds(served(0.9, 0.7), full=False)
    assert (found.least_s, found.most_s) == (about(0.9), about(0.9))


def test_what_is_shorter_than_the_link_afterwards_need_not_be_known() -> None:
    assert bounds(served(0.3, 0.2), full=True).known


def test_a_server_that_nobody_saw_computes_nothing_that_is_known() -> None:
    assert bounds(FULL, full=True) == Bounds(0.0, 0.0)


def predicted(way: far.Way) -> tuple[Prediction, FlowPrediction]:
    run = far.run(way)
    prediction = predict(run, analyse(run), ["lan=10GbE"])
    return prediction, prediction.flows[0]


def test_a_prediction_names_what_it_cannot_know_of_the_server_and_its_range_holds_both() -> None:
    prediction, flow = predicted(served(0.9, 0.7))
    assert flow.after_s.low < 0.3 * flow.before_s < 0.9 * flow.before_s < flow.after_s.high
    [unknown] = prediction.unknowns
    assert "server of weights" in unknown.what
    assert "faster link to nas" in unknown.measure


def test_a_server_that_computes_for_little_else_than_its_files_is_known() -> None:
    prediction, flow = predicted(served(0.5, 0.0))
    assert prediction.unknowns == ()
    assert flow.after_s.high <= 1.3 * flow.after_s.low
