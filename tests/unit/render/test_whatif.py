"""A prediction as people and programs get it."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

from rich.console import Console

from pathtrace.model.prediction import (
    Change,
    Changed,
    FlowPrediction,
    Prediction,
    Range,
    SelfCheck,
    Unknown,
)
from pathtrace.render.whatif import whatif_document, whatif_view

LOAD = FlowPrediction(
    "load",
    3.4,
    Range(2.0, 1.9, 2.1),
    "disk:weights",
    SelfCheck(3.4, 3.366),
    None,
    seconds_per_day_saved=140.0,
)
ANSWER = FlowPrediction(
    "answer", 20.0, Range(20.0, 20.0, 20.0), "model:model", SelfCheck(20.0, 18.0), (2.0, 2.0), 0.0
)
PREDICTION = Prediction(
    "20261130-091412-k3f9",
    (
        Change(Changed.LINK, "link:lan", "lan", 117_687_500.0, 1.25e9, "bytes_per_s"),
        Change(Changed.LATENCY, "link:lan.latency", "lan", None, 0.0002, "s"),
        Change(Changed.BATCH, "library.batch", "library", 100, 500, "count"),
    ),
    SelfCheck(23.4, 21.366),
    (LOAD, ANSWER),
    140.0,
    (Unknown("how fast the disk is", "--set disk:archive=…"),),
    ("answer: generate at model unchanged",),
)


def shown(prediction: Prediction) -> str:
    console = Console(file=StringIO(), width=80, markup=False, highlight=False)
    console.print(whatif_view(prediction))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_the_document_has_the_keys_that_it_promises() -> None:
    document = whatif_document(PREDICTION)
    assert list(document) == [
        "format",
        "run",
        "changes",
        "self_check",
        "flows",
        "seconds_per_day_saved",
        "unknowns",
        "unchanged",
        "stand_ins",
        "upgrades",
    ]
    assert document["format"] == "pathtrace.whatif/1"
    assert document["changes"] == [
        {
            "resource": "link:lan",
            "before": 117_687_500.0,
            "after": 1.25e9,
            "unit": "bytes_per_s",
            "source": None,
        },
        {"resource": "link:lan.latency", "before": None, "after": 0.0002, "unit": "s", "source": None},
        {"resource": "library.batch", "before": 100, "after": 500, "unit": "count", "source": None},
    ]
    flows = document["flows"]
    assert isinstance(flows, list)
    assert flows[0] == {
        "name": "load",
        "before_s": 3.4,
        "after_s": {"expected": 2.0, "low": 1.9, "high": 2.1},
        "speedup": 1.7,
        "bottleneck_after": "disk:weights",
        "seconds_per_day_saved": 140.0,
        "request": None,
        "self_check": {"measured_s": 3.4, "simulated_s": 3.366, "error": LOAD.self_check.error},
    }


def test_what_is_not_known_is_null_and_never_nothing() -> None:
    words = Change(
        Changed.ACCESS, "weights.access", "weights", None, 1, "access", "a test; 2026; own", ("mmap", "read")
    )
    document = whatif_document(
        replace(PREDICTION, changes=(words,), flows=(replace(LOAD, after_s=None, seconds_per_day_saved=0.0),))
    )
    assert document["changes"] == [
        {
            "resource": "weights.access",
            "before": "mmap",
            "after": "read",
            "unit": "access",
            "source": "a test; 2026; own",
        }
    ]
    [flow] = document["flows"]  # type: ignore[misc]
    assert (flow["after_s"], flow["speedup"], flow["seconds_per_day_saved"]) == (None, None, None)


def test_the_answer_comes_first_then_each_flow_then_what_it_rests_on() -> None:
    assert shown(PREDICTION) == (
        "10GbE on lan and a round trip of 200 µs on lan and batch 500 at library: load\n"
        "3.4 s → 2 s (1.9 s – 2.1 s); answer unchanged.\n"
        "Saves about 2 min 20 s a day.\n"
        "\n"
        "Changes  made together\n"
        "  link:lan          942 Mbit/s (118 MB/s) → 10 Gbit/s (1250 MB/s)\n"
        "  link:lan.latency  not known → 200 µs\n"
        "  library.batch     100 → 500\n"
        "\n"
        "Flows  predicted\n"
        "  load  1.70 times as fast; then limited by disk:weights; saves about 2 min 20 s\n"
        "        a day\n"
        "\n"
        "Not known  and what would tell\n"
        "  ? how fast the disk is\n"
        "    --set disk:archive=…\n"
        "\n"
        "What stays\n"
        "  - answer: generate at model unchanged\n"
        "\n"
        "Self-check  the run played again without a change\n"
        "  load: 3.37 s for 3.4 s measured (-1 %)\n"
        "  answer: 18 s for 20 s measured (-10 %): more than 5 % off, so take its\n"
        "  prediction with care\n"
    )


def test_a_range_that_decides_nothing_says_so() -> None:
    wide = replace(LOAD, after_s=Range(1.1, 0.4, 3.4))
    text = shown(replace(PREDICTION, flows=(wide,)))
    assert "The range of load is too wide to decide by: measure what is not known first." in text


def test_where_nothing_is_unknown_more_repeats_would_narrow_a_range() -> None:
    wide = replace(LOAD, after_s=Range(1.1, 0.4, 3.4))
    text = " ".join(shown(replace(PREDICTION, flows=(wide,), unknowns=())).split())
    assert "too wide to decide by: its repeats differ that much; with nothing else running" in text


def test_what_costs_time_does_not_save_it() -> None:
    assert "Costs about 2 min 20 s a day" in shown(replace(PREDICTION, seconds_per_day_saved=-140.0))
    assert "Saves nothing" in shown(replace(PREDICTION, seconds_per_day_saved=0.0))


def test_what_was_not_recorded_is_not_called_unchanged() -> None:
    text = shown(replace(PREDICTION, flows=(replace(LOAD, after_s=None),)))
    assert "load\nnot known." in text
    assert "What was recorded does not tell that; what would stands below." in text
    assert "a day" not in text


def test_stand_ins_and_sources_are_named() -> None:
    link = replace(PREDICTION.changes[0], source="data sheet; 2026-03; vendor")
    text = shown(replace(PREDICTION, changes=(link,), stand_ins=("model",)))
    assert "Rests on stand-ins (model): real parts may gain more or less." in text
    assert "said by: data sheet; 2026-03; vendor" in text
