"""``pathtrace whatif`` on runs that were really made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pathtrace.cli import main
from tests.cli.command import SLOW, Result, pathtrace
from tests.golden import assert_golden

GOLDEN = Path(__file__).parent / "golden"

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
    assert done.out.startswith("workers 4 at sleeper: index ")
    assert "index: reading at documents, inserting at library unchanged" in done.out


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        (
            (),
            "error: whatif needs a change\nhint: give one with --set, as in --set lan=10GbE, or ask --all\n",
        ),
        (
            ("--set", "sleper.workers=4"),
            "error: there is nothing called 'sleper.workers' to set in this run\n"
            "hint: did you mean 'sleeper.workers'?\n",
        ),
        (
            ("--add-link", "nas,workstation=10GbE"),
            "error: there is no host called 'nas' in this run\nhint: hosts: workstation\n",
        ),
        (
            ("--set", "sleeper.workers=4", "--source", "somebody said so"),
            "error: 'somebody said so' is no source\n"
            'hint: write text, date and whose word it is: --source "data sheet; 2026-03; vendor"\n',
        ),
        (
            ("--set", "documents.access=reed"),
            "error: --set documents.access: 'reed' is no way to read files\nhint: did you mean 'read'?\n",
        ),
        (
            ("--set", "sleeper.workers=4", "--price", "lan=120"),
            "error: --price ranks what --all finds\nhint: ask --all with it\n",
        ),
        (
            ("--all", "--set", "sleeper.workers=4"),
            "error: --all asks for everything that makes sense\n"
            "hint: leave out --set, --add-link, --source\n",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_and_nothing_is_put_out(
    settings: tuple[str, ...], error: str, store: Path
) -> None:
    assert asked(store, *settings, "--json") == Result(2, "", error)


def test_a_price_of_what_nobody_would_buy_here_is_refused(store: Path) -> None:
    done = asked(store, "--all", "--price", "lan=120", "--json")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: nothing called 'lan' is to be bought for this run\nhint: known: ")


def test_what_the_run_does_not_tell_is_said_with_what_would_tell(store: Path) -> None:
    done = asked(store, "--set", "documents.access=direct")
    assert (done.code, done.err) == (3, "")
    assert done.out.startswith("access direct at documents: index not known.")
    assert "pathtrace run SCENARIO, with `access: direct` at documents" in done.out


def test_a_value_from_outside_is_shown_and_kept_with_whose_word_it_is(store: Path) -> None:
    said = ("--set", "sleeper.workers=3", "--source", "a friend's machine; 2026-03; independent")
    assert "said by: a friend's machine; 2026-03; independent" in asked(store, *said).out
    document = json.loads(asked(store, *said, "--json").out)
    assert [change["source"] for change in document["changes"]] == [said[-1]]
    [kept] = store.glob(f"{document['run']}/predictions.json")
    stored = json.loads(kept.read_text())["predictions"]
    assert [each["changes"] for each in stored].count(document["changes"]) == 1  # asked twice, said once


def test_everything_that_makes_sense_is_ranked_and_kept(store: Path) -> None:
    done = asked(store, "--all", "--json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    names = [each["name"] for each in document["upgrades"]]
    assert {"depth 4 at documents", "depth 16 at documents", "batch 500 at library"} <= set(names)
    assert all(each["energy_wh"] is None for each in document["upgrades"])
    [file] = store.glob(f"{document['run']}/predictions.json")
    kept = [each["changes"] for each in json.loads(file.read_text())["predictions"]]
    assert all(each["changes"] in kept for each in document["upgrades"])
    assert asked(store, "--all").code == 0


def keys_of(document: object, at: str = "") -> set[str]:
    """Every key at any depth."""
    if isinstance(document, dict):
        return {f"{at}{key}" for key in document} | {
            each for key, value in document.items() for each in keys_of(value, f"{at}{key}.")
        }
    if isinstance(document, list):
        return {each for value in document for each in keys_of(value, f"{at[:-1]}[].")}
    return set()


def test_the_documents_keys_stay(store: Path) -> None:
    keys = keys_of(json.loads(asked(store, "--set", "sleeper.workers=4", "--json").out))
    keys |= keys_of(json.loads(asked(store, "--set", "documents.access=direct", "--json").out))
    keys |= keys_of(json.loads(asked(store, "--all", "--json").out))
    kept = {key for key in keys if not key.startswith("upgrades[].unknowns[].")}
    assert_golden(GOLDEN / "whatif_keys.txt", "\n".join(sorted(kept)) + "\n")


@pytest.mark.parametrize("question", [("--all",), ("--set", "sleeper.workers=4")])
def test_a_run_in_which_nothing_worked_has_nothing_to_predict_from(
    question: tuple[str, ...], failed: Path
) -> None:
    error = (
        "error: no flow of this run was measured to its end: there is nothing to predict from\n"
        "hint: run it again, then ask\n"
    )
    assert asked(failed, *question) == Result(3, "", error)


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose command fails each time."""
    made: Path = tmp_path_factory.mktemp("failed")
    (made / "broken.yaml").write_text(BRIEF.replace("sleep 0.1", "exit 1"))
    pathtrace(made, "run", "broken.yaml", "--quiet", "--no-probes", "--label", "before")
    return made


def test_a_damaged_run_is_predicted_from_what_is_left_or_refused(tmp_path: Path) -> None:
    (tmp_path / "brief.yaml").write_text(BRIEF)
    assert pathtrace(tmp_path, "run", "brief.yaml", "--quiet", "--no-probes", "--label", "before").code == 0
    [samples] = tmp_path.glob("*/samples.bin")
    samples.write_bytes(samples.read_bytes()[:-7])
    done = asked(tmp_path, "--set", "sleeper.workers=4")
    assert done.code == 3
    assert "Traceback" not in done.err
    samples.with_name("facts.json").write_text("{")
    done = asked(tmp_path, "--set", "sleeper.workers=4")
    assert (done.code, done.out) == (2, "")
    assert "facts.json" in done.err


def test_a_wrong_unit_is_refused(store: Path) -> None:
    done = asked(store, "--set", "disk:documents=500MB")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: --set disk:documents: '500MB' is not a rate")


def test_a_run_that_is_not_there_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", "nosuch", "--set", "lan=10GbE", "--store", str(tmp_path)]) == 2
    assert capsys.readouterr().out == ""
