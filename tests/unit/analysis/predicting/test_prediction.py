"""What a change gives, held against runs whose truth is planted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.analysis import analyse
from pathtrace.analysis.predicting.prediction import predict
from pathtrace.errors import EvidenceError
from pathtrace.model.prediction import FlowPrediction, Prediction
from pathtrace.model.run import Run
from tests.unit.analysis import far
from tests.unit.analysis.builders import MB, MS, Desk, asked, reached, run_of, scenario, stream

FULL = far.Way(took_ms=86, repeats=3)
"""40 blocks of 10 MB on a link that they fill: 3.44 s."""
DISK = replace(FULL, ceilings=(*far.line(), far.ceiling("disk:weights", 200 * MB)))
HALF = far.Way(took_ms=170)


def predicted(run: Run, *texts: str) -> Prediction:
    return predict(run, analyse(run), texts)


def of_way(way: far.Way, *texts: str) -> Prediction:
    return predicted(far.run(way), *texts)


def only(prediction: Prediction) -> FlowPrediction:
    [flow] = prediction.flows
    return flow


def test_a_faster_link_is_held_by_the_disk_behind_it_where_that_is_known() -> None:
    for speed in ("2.5GbE", "10GbE"):
        prediction = of_way(DISK, f"lan={speed}")
        flow = only(prediction)
        assert 2.0 <= flow.after_s.expected <= 2.0 * 1.08  # link and disk side by side, if not quite evenly
        assert flow.after_s.high / flow.after_s.low <= 1.3
        assert flow.bottleneck_after == "disk:weights"
        assert prediction.unknowns == ()
        assert flow.seconds_per_day_saved == pytest.approx(100 * (3.44 - flow.after_s.expected), rel=0.01)


def test_what_a_full_link_hides_is_named_and_the_range_holds_all_that_may_be() -> None:
    prediction = of_way(FULL, "lan=2.5GbE")
    flow = only(prediction)
    assert flow.after_s.low == pytest.approx(3.44 * 0.4, rel=0.02)
    assert flow.after_s.high == pytest.approx(3.44, rel=0.01)
    assert flow.bottleneck_after == "unknown"
    [unknown] = prediction.unknowns
    assert unknown.what == "how fast the disk and the server of weights are: the full link hides them"
    assert unknown.measure == (
        "pathtrace run SCENARIO, with `ssh:` of host nas and `there:` of weights, or --set disk:weights=…"
    )


def test_a_disk_that_is_given_with_the_link_narrows_the_range() -> None:
    """What remains open is whether disk and link work side by side: 0.8 s, or one after the other: 1.16 s."""
    flow = only(of_way(FULL, "lan=10GbE", "disk:weights=500MB/s"))
    assert flow.after_s.low == pytest.approx(0.8, rel=0.02)
    assert flow.after_s.high == pytest.approx(1.16, rel=0.02)
    assert flow.bottleneck_after == "disk:weights"


def test_a_slower_link_takes_as_much_longer() -> None:
    flow = only(of_way(FULL, "lan=100Mbit/s"))
    assert flow.after_s.expected == pytest.approx(34.4, rel=0.02)
    assert flow.bottleneck_after == "link:lan"
    assert flow.seconds_per_day_saved < 0


def test_a_link_that_is_half_full_saves_its_part_at_the_very_most() -> None:
    flow = only(of_way(HALF, "lan=10GbE"))
    assert flow.after_s.low >= 6.8 * 0.45
    assert flow.after_s.high <= 6.8 * 1.001


def test_a_faster_disk_behind_a_full_link_changes_nothing_and_says_so() -> None:
    prediction = of_way(FULL, "disk:weights=500MB/s")
    assert only(prediction).after_s.expected == pytest.approx(3.44, rel=0.001)
    assert "disk:weights does not hold load: link:lan does" in prediction.unchanged


def test_more_at_once_on_a_full_link_gives_nothing() -> None:
    assert only(of_way(DISK, "weights.depth=8")).speedup == pytest.approx(1.0, abs=0.02)


def test_more_at_once_and_a_faster_link_are_held_by_the_new_link() -> None:
    flow = only(of_way(FULL, "weights.depth=64", "lan=2.5GbE", "disk:weights=5000MB/s"))
    assert flow.after_s.expected == pytest.approx(400 / (2.5 * far.LINE / MB), rel=0.02)


RATES = st.sampled_from(["1.5", "2", "2.5", "5", "10", "25", "40"])


@settings(deadline=None, max_examples=15)
@given(way=st.sampled_from([FULL, DISK, HALF]), rate=RATES, faster=RATES)
def test_a_faster_link_never_predicts_a_slower_flow(way: far.Way, rate: str, faster: str) -> None:
    slow, fast = sorted((rate, faster), key=float)
    first, second = only(of_way(way, f"lan={slow}GbE")), only(of_way(way, f"lan={fast}GbE"))
    assert second.after_s.expected <= first.after_s.expected * (1 + 1e-9)
    assert first.after_s.expected <= first.before_s


INDEX = """
pathtrace: 1
places:
  archive: {kind: files, path: /data, depth: 1, workers: 1}
  indexer: {kind: process, command: [extract], workers: 2}
  library: {kind: database, url: "postgresql://localhost/lab", batch: 1, workers: 1}
flows:
  index: {path: [archive, indexer, library], frequency: every 24 h}
links: {lan: {hosts: [nas, workstation], speed: 1 Gbit/s}}
"""


def indexed(times_ms: Sequence[int], finish_ms: int = 0, cpu: float = -1.0) -> Run:
    """100 documents: read, processed by two, inserted one by one."""
    passes = [
        stream(
            [Desk(1), Desk(2, 16), Desk(1, 16)],
            lambda stage, k: times_ms[stage] * MS,
            100,
            repeat=repeat,
            offset=repeat * 20_000 * MS,
            details=lambda s: {
                "bytes": 1000,
                "cpu_ns": round(cpu * s.elapsed_ns) if s.stage == 1 and cpu > 0 else -1,
                "finish_ns": finish_ms * MS if s.stage == 2 else 0,
            },
        )
        for repeat in range(3)
    ]
    return run_of(scenario(INDEX), passes, places=(reached("archive"), reached("library")))


def test_twice_the_workers_of_what_computes_halve_its_time_until_the_cores_are_full() -> None:
    run = indexed((1, 40, 1), cpu=1.0)
    assert only(predicted(run, "indexer.workers=4")).speedup == pytest.approx(2.0, rel=0.05)
    eight = only(predicted(run, "indexer.workers=8"))
    assert eight.speedup == pytest.approx(2.0, rel=0.05)  # of four cores
    assert eight.bottleneck_after == "cpu:indexer"


def test_workers_of_what_waits_for_something_unseen_give_a_range() -> None:
    prediction = predicted(indexed((1, 40, 1)), "indexer.workers=4")
    flow = only(prediction)
    assert flow.after_s.low == pytest.approx(flow.before_s / 2, rel=0.05)
    assert flow.after_s.high == pytest.approx(flow.before_s, rel=0.05)
    assert [each.measure for each in prediction.unknowns] == [
        "pathtrace run SCENARIO, with `workers: 4` at indexer"
    ]


def test_larger_batches_commit_less_often() -> None:
    """At worst 50 reads, twice 50 rows of 1 ms and two commits; at best the second batch waits for 100 reads,
    and of a row's time only a tenth is its own."""
    flow = only(predicted(indexed((1, 1, 20), finish_ms=19), "library.batch=50"))
    assert flow.before_s == pytest.approx(2.0, rel=0.01)
    assert flow.after_s.low == pytest.approx(0.1 + 0.02 + 0.05 / 11, rel=0.02)
    assert flow.after_s.high == pytest.approx(0.05 + 2 * 0.019 + 0.1, rel=0.05)


def test_batches_whose_commit_is_not_told_apart_give_a_range() -> None:
    prediction = predicted(indexed((1, 1, 20)), "library.batch=50")
    flow = only(prediction)
    assert flow.after_s.low < 0.3
    assert flow.after_s.high == pytest.approx(2.0, rel=0.01)
    assert [each.measure for each in prediction.unknowns] == [
        "pathtrace run SCENARIO, with `batch: 50` at library"
    ]


def test_of_large_batches_hardly_anything_but_the_commit_is_there_once() -> None:
    flow = only(predicted(of_hundred(indexed((1, 1, 20), finish_ms=10)), "library.batch=200"))
    assert flow.after_s.high / flow.after_s.low < 1.07 / 0.93 + 0.01  # what predictions are off by anyway
    assert flow.after_s.expected == pytest.approx(1.5, rel=0.05)


def of_hundred(run: Run) -> Run:
    """The same, as if each of its inserts had been a batch of a hundred."""
    return replace(run, scenario=scenario(INDEX.replace("batch: 1,", "batch: 100,")))


def test_smaller_batches_commit_more_often() -> None:
    """100 inserts of 20 ms, of which a commit is 19: ten times as many of those at worst, at best none."""
    flow = only(predicted(of_hundred(indexed((1, 1, 20), finish_ms=19)), "library.batch=10"))
    assert flow.after_s.low == pytest.approx(2.0, rel=0.02)
    assert flow.after_s.high == pytest.approx(100 * (10 * 0.019 + 0.001), rel=0.02)


def test_a_smaller_batch_has_at_least_the_sync_that_was_measured_alone() -> None:
    run = of_hundred(indexed((1, 1, 20), finish_ms=19))
    run = replace(run, ceilings=(far.ceiling("commit:library", latency_s=0.01),))
    prediction = predicted(run, "library.batch=10")
    assert only(prediction).after_s.low == pytest.approx(100 * (10 * 0.01 + 0.01), rel=0.02)
    assert [each.measure for each in prediction.unknowns] == [
        "pathtrace run SCENARIO, with `batch: 10` at library"
    ]


def test_a_link_that_nothing_crosses_changes_nothing_and_says_so() -> None:
    prediction = predicted(indexed((1, 40, 1)), "lan=10GbE")
    flow = only(prediction)
    assert (flow.after_s.expected, flow.seconds_per_day_saved) == (flow.before_s, 0.0)
    assert "no measured flow crosses link:lan" in prediction.unchanged
    assert prediction.unchanged[0] == (
        "index: read at archive, process at indexer, insert at library unchanged"
    )


ANSWER = """
pathtrace: 1
workload: {requests_per_day: 100}
places:
  library: {kind: database, url: "sqlite://", query: "select text from t"}
  model: {kind: inference, url: "http://localhost:11434", api: ollama}
  people: {kind: user}
flows:
  answer: {path: [library, model, people], frequency: per-request}
"""


def answered(load_ms: int | None) -> Run:
    """20 questions, each with 2 s of generation, ``load_ms`` of them the model's loading, if told."""
    load_ns = -1 if load_ms is None else load_ms * MS
    passed = asked(
        20,
        (10 * MS, 2000 * MS, 500 * MS),
        details=lambda s: {"load_ns": load_ns if s.stage == 2 else -1, "bytes": 10},
    )
    return run_of(scenario(ANSWER), [passed])


ABROAD = """
pathtrace: 1
hosts: {nas: {address: 10.0.0.2}}
links: {lan: {hosts: [nas, workstation], speed: 1 Gbit/s}}
places:
  library: {kind: database, host: nas, url: "postgresql://nas/lab", query: "select text from t"}
  model: {kind: inference, url: "http://localhost:11434", api: ollama}
  people: {kind: user}
  archive: {kind: files, host: nas, path: /mnt/archive}
  indexer: {kind: process, command: [extract, "{path}"]}
  chunks: {kind: database, url: "sqlite://"}
flows:
  index: {path: [archive, indexer, chunks], frequency: every 24 h}
  answer: {path: [library, model, people], frequency: per-request}
"""


def abroad() -> Run:
    """20 questions, of each 0.1 of 1.6 s a far lookup; 100 documents that a command reads itself."""
    answered = asked(20, (100 * MS, 1000 * MS, 500 * MS), flow=1, details=lambda s: {"bytes": 10_000})
    indexed = stream(
        [Desk(1), Desk(2, 16), Desk(1, 16)],
        lambda stage, k: (0, 40 * MS, MS)[stage],
        100,
        offset=100_000 * MS,
        details=lambda s: {"bytes": 1000, "cpu_ns": s.elapsed_ns // 4 if s.stage == 1 else -1},
    )
    return run_of(scenario(ABROAD), [indexed, answered], places=(reached("library"), reached("archive")))


def test_requests_gain_at_most_what_crosses_the_link_and_generation_is_unchanged() -> None:
    prediction = predicted(abroad(), "lan=10GbE")
    index, answer = prediction.flows
    assert answer.request is not None
    assert 1.5 <= answer.request[1] <= 1.6
    assert "answer: generate at model, deliver at people unchanged" in prediction.unchanged
    assert index.after_s.low == pytest.approx(2.0 * (0.25 + 0.75 * 0.09415), rel=0.1)
    assert index.after_s.high == pytest.approx(2.0, rel=0.01)
    assert {each.what for each in prediction.unknowns} == {
        "how much of library crosses link:lan",
        "how long indexer waits for what it reads over link:lan",
    }


def test_a_round_trip_that_nobody_measured_is_named_and_not_taken_into_account() -> None:
    prediction = predicted(abroad(), "lan.latency=0.1ms")
    assert "answer: link:lan.latency is not taken into account" in prediction.unchanged
    assert "the round trip to library" in {each.what for each in prediction.unknowns}


def test_a_loaded_model_saves_its_loading_at_each_request() -> None:
    prediction = predicted(answered(1500), "model.loaded=true")
    flow = only(prediction)
    assert flow.request == pytest.approx((2.51, 1.01))
    assert flow.seconds_per_day_saved == pytest.approx(150, rel=0.01)


def test_a_model_that_was_loaded_already_saves_nothing_and_says_so() -> None:
    prediction = predicted(answered(0), "model.loaded=true")
    assert only(prediction).seconds_per_day_saved == 0.0
    assert "model had its model in memory at every request already" in prediction.unchanged


def test_the_self_check_is_within_five_per_cent() -> None:
    for run in (far.run(FULL), indexed((1, 40, 1)), indexed((7, 3, 20)), answered(100)):
        assert abs(predicted(run).self_check.error) < 0.05


def test_without_a_finished_flow_there_is_nothing_to_predict_from() -> None:
    run = indexed((1, 40, 1))
    cut = replace(run, windows=tuple(replace(window, complete=False) for window in run.windows))
    with pytest.raises(EvidenceError, match="no flow of this run was measured to its end"):
        predicted(cut, "indexer.workers=4")


def test_a_flow_that_was_cut_short_is_named_and_what_is_said_of_others_is_not_all() -> None:
    run = answered(100)
    [other] = run.scenario.flows
    two = replace(run, scenario=replace(run.scenario, flows=(other, replace(other, name="index"))))
    prediction = predicted(two, "model.loaded=true")
    assert [flow.name for flow in prediction.flows] == ["answer"]
    assert prediction.unmeasured == ("index",)
    assert [each.what for each in prediction.unknowns] == [
        "what index takes, now or then: no repeat of it was measured to its end"
    ]


@given(st.sampled_from(("2.5GbE", "10GbE")), st.sampled_from((FULL, DISK, HALF)))
def test_no_range_is_narrower_than_what_predictions_are_off_by(speed: str, way: far.Way) -> None:
    after = only(of_way(way, f"lan={speed}")).after_s
    assert after.low <= after.expected * 0.93
    assert after.high >= min(after.expected * 1.07, far.run(way).windows[0].end_ns / 1e9)


def test_a_server_that_computes_while_it_sends_is_what_a_faster_link_meets() -> None:
    """Its program uses 0.6 of a core while 86 ms pass for each block: it takes 52 ms of them."""
    busy = replace(DISK, more=lambda start, end: far.process(start, end, "smbd[7]", 0.6))
    flow = only(of_way(busy, "lan=10GbE"))
    assert 40 * 0.0516 <= flow.after_s.expected <= 40 * 0.0516 * 1.1
