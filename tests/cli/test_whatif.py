"""``pathtrace whatif`` on runs that were really made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pathtrace.cli import main
from tests.cli.command import SLOW, Result, pathtrace

BRIEF = SLOW.replace("files: 200", "files: 12").replace("sleep 0.4", "sleep 0.1")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run: twelve documents, each for a tenth of a second with the one worker there is."""
    made: Path = tmp_path_factory.mktemp("store")
    (made / "brief.yaml").write_text(BRIEF)
    done = pathtrace(made, "run", "brief.yaml", "--quiet", "--no-probes", "--label", "before")
    assert done.code == 0, done.err
    return made


def asked(store: Path, *settings: str) -> Result:
    return pathtrace(store, "whatif", "before", *settings)


def test_more_workers_are_predicted_checked_and_kept_with_the_run(store: Path) -> None:
    done = asked(store, "--set", "sleeper.workers=4", "--json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert document["format"] == "pathtrace.whatif/1"
    assert abs(document["self_check"]["error"]) < 0.05
    [flow] = document["flows"]
    assert 2.0 < flow["speedup"] < 4.2  # starting a command takes its part of a core
    [kept] = (store / document["run"]).glob("predictions.json")
    [first] = json.loads(kept.read_text())["predictions"]
    assert {key: first[key] for key in document} == document


def test_people_read_the_answer_in_the_first_line(store: Path) -> None:
    done = asked(store, "--set", "sleeper.workers=4")
    assert done.code == 0
    assert done.out.startswith("sleeper.workers 1 → 4: saves about ")
    assert "index: read at documents, insert at library unchanged" in done.out


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ((), "error: whatif needs a change\nhint: give one with --set, as in --set lan=10GbE\n"),
        (
            ("--set", "sleper.workers=4"),
            "error: there is nothing called 'sleper.workers' to set in this run\n"
            "hint: did you mean 'sleeper.workers'?\n",
        ),
    ],
)
def test_what_cannot_be_set_is_refused_and_nothing_is_put_out(
    settings: tuple[str, ...], error: str, store: Path
) -> None:
    assert asked(store, *settings, "--json") == Result(2, "", error)


def test_a_wrong_unit_is_refused(store: Path) -> None:
    done = asked(store, "--set", "disk:documents=500MB")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: --set disk:documents: '500MB' is not a rate")


def test_a_run_that_is_not_there_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", "nosuch", "--set", "lan=10GbE", "--store", str(tmp_path)]) == 2
    assert capsys.readouterr().out == ""
