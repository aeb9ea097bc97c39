"""A whole question: what is said of what stays, of what is not known, and whose word a value is."""

from __future__ import annotations

from dataclasses import replace

from pathtrace.analysis import analyse
from pathtrace.analysis.predicting.questions import Question, answer
from pathtrace.model.prediction import Prediction
from pathtrace.model.run import Run
from tests.unit.analysis import far
from tests.unit.analysis.predicting.test_prediction import abroad, answered, indexed


def asked(run: Run, *settings: str, sources: tuple[str, ...] = ()) -> Prediction:
    return answer(run, analyse(run), Question(settings, (), sources))


def test_what_a_change_does_not_touch_is_said_as_people_call_it() -> None:
    prediction = asked(abroad(), "lan=10GbE")
    assert "answer: generation unchanged" in prediction.unchanged
    assert "index: reading at archive, inserting at chunks unchanged" in prediction.unchanged


def test_a_round_trip_that_nobody_measured_leaves_the_flow_not_known() -> None:
    prediction = asked(abroad(), "lan.latency=0.1ms")
    _, answers = prediction.flows
    assert answers.after_s is None
    assert not any(text.startswith("answer: ") for text in prediction.unchanged)


def test_a_model_whose_server_does_not_tell_of_loading_leaves_the_answer_not_known() -> None:
    run = answered(0)
    silent = run.samples.rows.copy()
    silent["load_ns"] = -1
    silent.setflags(write=False)
    run = replace(run, samples=replace(run.samples, rows=silent))
    [flow] = asked(run, "model.loaded=true").flows
    assert flow.after_s is None


def test_a_source_goes_with_its_change() -> None:
    prediction = asked(
        far.run(far.Way(took_ms=86)),
        "lan=10GbE",
        "disk:weights=500MB/s",
        sources=("data sheet; 2026-03; vendor", "a review; 2025; independent"),
    )
    assert [change.source for change in prediction.changes] == [
        "data sheet; 2026-03; vendor",
        "a review; 2025; independent",
    ]


def test_a_question_without_a_change_changes_nothing() -> None:
    [flow] = asked(indexed((1, 40, 1))).flows
    assert flow.after_s is not None
    assert (flow.after_s.expected, flow.seconds_per_day_saved) == (flow.before_s, 0.0)


def test_stand_ins_that_the_flows_rest_on_are_named() -> None:
    assert asked(far.run(far.Way()), "lan=10GbE").stand_ins == ("model",)
    assert asked(indexed((1, 1, 1)), "archive.depth=4").stand_ins == ()
