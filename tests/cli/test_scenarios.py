"""The scenarios that the project ships, as they are: one runs anywhere, the other names what to adapt."""

import json
from pathlib import Path

from tests.cli.command import ROOT, pathtrace

SCENARIOS = ROOT / "scenarios"


def test_the_quickstart_runs_anywhere_and_says_that_it_stands_in(tmp_path: Path) -> None:
    scenario = str(SCENARIOS / "quickstart.yaml")
    assert pathtrace(tmp_path, "check", scenario).code == 0
    done = pathtrace(tmp_path, "run", scenario)
    assert done.code == 0
    assert "rests on a stand-in" in " ".join(done.out.split("Found")[0].split())
    document = json.loads(pathtrace(tmp_path, "show", "--json").out)
    assert (document["status"], len(document["repeats"])) == ("complete", 3)
    assert {hop["name"] for hop in document["hops"]} == {
        "documents->chunker",
        "chunker->library",
        "weights->model",
        "library->people",
    }
    assert [path.name for path in tmp_path.iterdir()] == [document["id"]]


def test_the_household_is_checked_and_each_place_to_adapt_is_named(tmp_path: Path) -> None:
    done = pathtrace(tmp_path, "check", str(SCENARIOS / "household-archive.yaml"), "--json")
    assert done.code == 3
    faults = {place["name"]: place["fault"] for place in json.loads(done.out)["places"]}
    assert faults["archive"] == "there is nothing at /mnt/archive"
    assert faults["indexer"] == "command my-extractor not found"
    assert (faults["library"], faults["people"]) == (None, None)
