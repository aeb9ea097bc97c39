"""``run --until``: real repeats of stand-ins that are enough, that are not, and what is no share."""

import json
from pathlib import Path

import jsonschema
import pytest

from pathtrace.cli import main
from pathtrace.render.run_schema import run_schema
from tests.cli.command import STAND_INS, pathtrace

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "lab.yaml").write_text(STAND_INS)
    (tmp_path / "short.yaml").write_text(STAND_INS + "budget: {time: 2 s}\n")
    return tmp_path


def test_a_run_goes_on_beyond_the_scenarios_repeats_and_says_after_how_many_it_was_enough(
    store: Path,
) -> None:
    done = pathtrace(store, "run", "lab.yaml", "--until", "95%", "--no-probes", "--json")
    document = json.loads(done.out)
    jsonschema.validate(document, run_schema())
    until = document["until"]
    assert (done.code, until["asked"], until["reached"], until["ended_by"]) == (0, 0.95, True, None)
    assert until["repeats"] == len(document["repeats"]) >= 5
    assert until["half_width"] <= 0.95
    assert "repeat 3: index" in done.err
    assert f"reached after {until['repeats']} repeats: " in pathtrace(store, "show").out


def test_a_run_that_its_budget_ends_says_so_with_what_is_known(store: Path) -> None:
    done = pathtrace(store, "run", "short.yaml", "--until", "0.01%", "--no-probes", "--quiet")
    assert done.code == 0
    assert "until ±<0.1 %: not reached: the time budget ended it" in done.out.replace("\n  ", " ")
    (page,) = store.glob("*/report.md")
    assert "the time budget ended it after" in page.read_text()
    document = json.loads(pathtrace(store, "show", "--json").out)
    assert (document["until"]["reached"], document["until"]["ended_by"]) == (False, "time")
    assert "until" in {caveat["code"] for caveat in document["caveats"]}


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ("3", "'3' is not a share in per cent", "write a number and %, as in 3% or 2.5%"),
        ("3ms", "'3ms' is not a share in per cent", "write a number and %, as in 3% or 2.5%"),
        ("0%", "'0%' must lie between 0% and 100%", "3% is usual; the less, the more repeats"),
        ("100%", "'100%' must lie between 0% and 100%", "3% is usual; the less, the more repeats"),
    ],
)
def test_what_is_no_share_is_refused_in_one_message(
    given: str, message: str, hint: str, capsys: Capture
) -> None:
    assert main(["run", "lab.yaml", "--until", given, "--json"]) == 2
    assert capsys.readouterr() == ("", f"error: --until {message}\nhint: {hint}\n")
