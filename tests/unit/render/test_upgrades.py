"""Upgrades as people and programs get them."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

from rich.console import Console

from pathtrace.model.prediction import (
    Change,
    Changed,
    FlowPrediction,
    Prediction,
    Price,
    Range,
    SelfCheck,
    Unknown,
    Upgrade,
    Upgrades,
)
from pathtrace.render.upgrades import upgrades_document, upgrades_view
from pathtrace.render.whatif import whatif_document

INDEX = FlowPrediction(
    "index", 240.0, Range(100.0, 90.0, 120.0), "cpu:indexer", SelfCheck(240, 238), None, 140.0
)
AS_IS = replace(INDEX, after_s=Range(240.0, 240.0, 240.0), seconds_per_day_saved=0.0)


def found_by(change: Change, flow: FlowPrediction, *unknowns: Unknown) -> Prediction:
    return Prediction(
        "20261130-091412-k3f9",
        (change,),
        SelfCheck(240, 238),
        (flow,),
        flow.seconds_per_day_saved,
        unknowns,
        (),
    )


BATCH = Upgrade(
    ("library.batch=500",),
    True,
    found_by(Change(Changed.BATCH, "library.batch", "library", 100, 500, "count"), INDEX),
    0.0,
    None,
)
LINK = Upgrade(
    ("link:lan=10GbE",),
    False,
    found_by(
        Change(Changed.LINK, "link:lan", "lan", 1e8, 1.25e9, "bytes_per_s"),
        replace(INDEX, after_s=Range(180.0, 90.0, 240.0), seconds_per_day_saved=60.0),
        Unknown("how fast the disk is", "--set disk:archive=…"),
    ),
    30.0,
    Price(120.0, "EUR"),
)
DISK = Upgrade(
    ("disk:archive=500MB/s",),
    False,
    found_by(Change(Changed.DISK, "disk:archive", "archive", 1e8, 5e8, "bytes_per_s"), AS_IS),
    0.0,
    None,
)
FOUND = Upgrades(
    "20261130-091412-k3f9",
    SelfCheck(240, 238),
    (AS_IS,),
    (BATCH, LINK),
    (DISK,),
    ("answer",),
    stand_ins=("model",),
    median_only=True,
    left_out=2,
)


def shown(found: Upgrades) -> str:
    console = Console(file=StringIO(), width=80, markup=False, highlight=False)
    console.print(upgrades_view(found))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_the_best_comes_first_in_words_then_all_of_them_ranked() -> None:
    assert shown(FOUND) == (
        "First batch 500 at library (free): index 4 min → 1 min 40 s (1 min 30 s – 2\n"
        "min), saves 2 min 20 s a day.\n"
        "answer comes within the acceptable wait: nothing needs buying for it.\n"
        "Rests on stand-ins (model): real parts may rank otherwise.\n"
        "\n"
        "Upgrades and settings  by seconds a day saved, people's before jobs'\n"
        "      saves a day  for people  price    a day for each\n"
        "  1.   2 min 20 s           -  free\n"
        "    batch 500 at library: index 4 min → 1 min 40 s (1 min 30 s – 2 min); then\n"
        "    limited by cpu:indexer\n"
        "    --set library.batch=500\n"
        "  2.        1 min        30 s  120 EUR          500 ms\n"
        "    10GbE on lan: index 4 min → 3 min (1 min 30 s – 4 min); then limited by\n"
        "    cpu:indexer\n"
        "    too wide a range to decide by: index\n"
        "    --set link:lan=10GbE\n"
        "\n"
        "Not worth it  less than a second a day, or than 5 % of a flow\n"
        "  - a disk of 500 MB/s under archive\n"
        "\n"
        "Not known  and what would tell\n"
        "  ? how fast the disk is\n"
        "    --set disk:archive=…\n"
        "\n"
        "Self-check  the run played again without a change\n"
        "  index: 3 min 58 s for 4 min measured (-0.8 %)\n"
        "A large run: only the median repeat of each flow was played again.\n"
        "2 more could not be tried, since the run is so large.\n"
    )


def test_what_is_free_may_be_tried_where_the_range_decides_nothing() -> None:
    wide = found_by(BATCH.prediction.changes[0], replace(INDEX, after_s=Range(100.0, 60.0, 150.0)))
    text = " ".join(shown(replace(FOUND, ranked=(replace(BATCH, prediction=wide),))).split())
    assert "too wide a range to decide by: index; free to try, then `pathtrace compare` tells" in text


def test_nothing_to_gain_is_an_answer_too() -> None:
    text = shown(replace(FOUND, ranked=(), content=()))
    assert text.startswith("Nothing that could be tried here saves a second a day")


def test_the_document_has_the_keys_of_every_prediction_and_one_entry_for_each_upgrade() -> None:
    document = upgrades_document(FOUND)
    assert list(document) == list(whatif_document(FOUND.ranked[0].prediction))
    entries = document["upgrades"]
    assert isinstance(entries, list)
    assert [entry["name"] for entry in entries] == [
        "batch 500 at library",
        "10GbE on lan",
        "a disk of 500 MB/s under archive",
    ]
    assert {key: entries[1][key] for key in list(entries[1])[:8]} == {
        "name": "10GbE on lan",
        "set": ["link:lan=10GbE"],
        "free": False,
        "seconds_per_day_saved": 60.0,
        "people_seconds_per_day_saved": 30.0,
        "price": {"amount": 120.0, "currency": "EUR"},
        "seconds_per_day_saved_per_price": 0.5,
        "energy_wh": None,
    }
    assert list(entries[1])[8:] == ["changes", "flows", "unknowns"]
