"""Two runs and more, compared as a user would; of the same stand-ins, and with one setting changed."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest

from pathtrace.app.asking import Question, ask
from tests.cli.command import STAND_INS, Result, pathtrace

SMALL = STAND_INS.replace("repeats: 2", "repeats: 3\nstart: warm").replace("files: 40", "files: 6")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs ``before``, ``after`` (the same again), ``rows`` (batch 1) and ``more`` (other questions)."""
    folder = tmp_path_factory.mktemp("store")
    texts = {
        "before": SMALL,
        "after": SMALL,
        "rows": SMALL.replace('"sqlite://"', '"sqlite://", batch: 1'),
        "more": SMALL.replace("places:", "workload: {requests: 7}\nplaces:"),
    }
    for label, text in texts.items():
        (folder / "scenario.yaml").write_text(text)
        done = pathtrace(folder, "run", "scenario.yaml", "--label", label, "--no-probes", "--quiet")
        assert done.code == 0, done.err
    for facts in folder.glob("*/facts.json"):
        left_alone(facts)
    return folder


def left_alone(facts: Path) -> None:
    """As on a machine on which nothing else runs: what the tests beside these do is not the matter here."""
    document = json.loads(facts.read_text())
    for each in document["activity"]:
        each["cpu_percent"] = 1.0
    facts.write_text(json.dumps(document))


def compare(store: Path, *arguments: str) -> Result:
    return pathtrace(store, "compare", *arguments)


def test_a_run_beside_itself_is_the_same(store: Path) -> None:
    done = compare(store, "before", "before")
    assert (done.code, done.err) == (0, "")
    first, second = done.out.splitlines()[:2]
    assert first.startswith('"answer" takes the same time: ')
    assert second.startswith('"index" takes the same time: ')
    assert "Nothing that could matter differs." in done.out
    assert "The output is the same." in done.out


def test_the_document_is_all_that_is_on_standard_output(store: Path) -> None:
    done = compare(store, "before", "after", "before", "--json")
    document = json.loads(done.out)
    assert done.code == 0
    assert document["format"] == "pathtrace.compare/1"
    assert document["comparable"] is True
    assert document["same_output"] is True
    assert [each["after"]["label"] for each in (document, *document["more"])] == ["after", "before"]
    assert [flow["ratio"] for flow in document["more"][0]["flows"]] == [1.0, 1.0]


def test_more_than_two_runs_are_a_table_with_the_first_as_baseline(store: Path) -> None:
    done = compare(store, "before", "before", "before")
    assert done.code == 0
    assert "flow" in done.out
    assert "0 % same" in done.out


def test_another_workload_is_refused_with_every_reason_and_no_output(store: Path) -> None:
    done = compare(store, "before", "more", "--json")
    assert (done.code, done.out) == (2, "")
    assert "another workload: workload.requests was 20, is 7" in done.err


def test_a_changed_setting_is_compared_once_it_is_named(store: Path) -> None:
    refused = compare(store, "before", "rows")
    assert (refused.code, refused.out) == (2, "")
    assert "--changed library.batch" in refused.err
    named = compare(store, "before", "rows", "--changed", "library.batch", "--json")
    assert named.code == 0
    assert json.loads(named.out)["differences"] == [
        {
            "what": "library.batch",
            "before": "100",
            "after": "1",
            "expected": True,
            "cause": "library.batch",
            "matters": True,
        }
    ]


def test_a_price_stands_beside_what_it_gives(store: Path) -> None:
    named = ("--changed", "library.batch", "--price", "library.batch=10 EUR")
    cost = json.loads(compare(store, "before", "rows", *named, "--json").out)["cost"]
    assert (cost["price"], cost["energy_wh"]) == ({"amount": 10.0, "currency": "EUR"}, None)
    assert cost["seconds_per_day_saved"] < 0
    assert "\nCost\n  10 EUR: costs " in compare(store, "before", "rows", *named).out


def test_a_slower_flow_fails_where_that_is_asked_for(store: Path) -> None:
    """Six documents a commit each, beside one commit."""
    changed = ("--changed", "library.batch", "--fail-on", "slower:5%")
    slower = compare(store, "before", "rows", *changed)
    assert slower.code == 1, slower.out
    assert compare(store, "rows", "before", *changed).code == 0


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["--changed", "libary"], "--changed 'libary' is nothing that these runs have", "'library'"),
        (["--price", "lan=120"], "nothing called 'lan' is to be bought", "known: "),
        (["--fail-on", "slow:5%"], "--fail-on 'slow:5%' is not known", "--fail-on slower:5%"),
        (["--fail-on", "slower:5"], "'5' is not a share in per cent", "3%"),
    ],
)
def test_what_is_not_known_is_told_with_what_is(
    store: Path, arguments: list[str], message: str, hint: str
) -> None:
    done = compare(store, "before", "after", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert hint in done.err


def test_a_damaged_run_is_no_traceback(store: Path, tmp_path: Path) -> None:
    kept = next(path for path in store.iterdir() if (path / "facts.json").is_file())
    broken = tmp_path / "broken"
    shutil.copytree(kept, broken)
    (broken / "facts.json").write_text("{")
    done = compare(store, "before", str(broken))
    assert (done.code, done.out) == (2, "")
    assert "the run is damaged" in done.err


def test_a_run_that_lost_samples_is_compared_by_what_is_left_and_says_so(store: Path, tmp_path: Path) -> None:
    kept = next(path for path in store.iterdir() if (path / "facts.json").is_file())
    torn = tmp_path / "torn"
    shutil.copytree(kept, torn)
    samples = (torn / "samples.bin").read_bytes()
    (torn / "samples.bin").write_bytes(samples[: len(samples) // 2])
    done = compare(store, str(kept), str(torn))
    assert done.code == 3
    assert f"warning: part of what {kept.name} recorded is lost" in done.err


def test_what_was_predicted_stands_beside_what_came(store: Path) -> None:
    """Two runs more: one commit a document, a prediction, and then a commit for all of them."""
    for label, text in (
        ("one-by-one", SMALL.replace('"sqlite://"', '"sqlite://", batch: 1')),
        ("all", SMALL),
    ):
        (store / "scenario.yaml").write_text(text)
        run = pathtrace(store, "run", "scenario.yaml", "--label", label, "--no-probes", "--quiet")
        assert run.code == 0, run.err
        if label == "one-by-one":
            ask(store, label, Question(("library.batch=100",)))
            time.sleep(1.1)  # a prediction's moment and a run's are kept in whole seconds
    done = compare(store, "one-by-one", "all", "--changed", "library.batch", "--json")
    document = json.loads(done.out)
    assert document["prediction"] is not None
    actual = {flow["name"]: flow["after_s"] for flow in document["flows"]}
    assert document["prediction"]["actual_s"] == actual[document["prediction"]["flow"]]
