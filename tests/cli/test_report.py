"""Pages of stored runs, printed as a user would."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.command import STAND_INS, pathtrace

SMALL = STAND_INS.replace("repeats: 2", "repeats: 3\nstart: warm").replace("files: 40", "files: 6")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs ``before`` and, with batch 1, ``rows``."""
    folder = tmp_path_factory.mktemp("store")
    for label, text in {
        "before": SMALL,
        "rows": SMALL.replace('"sqlite://"', '"sqlite://", batch: 1'),
    }.items():
        (folder / "scenario.yaml").write_text(text)
        done = pathtrace(folder, "run", "scenario.yaml", "--label", label, "--no-probes", "--quiet")
        assert done.code == 0, done.err
    return folder


def test_the_page_of_one_run_is_printed(store: Path) -> None:
    done = pathtrace(store, "report", "before")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "# stand-ins"
    assert "**Question:** What holds the index back?" in lines
    assert "## Result and spread (median of 3 repeats ± its interval)" in lines


def test_without_a_run_it_is_the_last_one(store: Path) -> None:
    assert pathtrace(store, "report").out == pathtrace(store, "report", "rows").out


def test_the_page_of_a_change_goes_from_the_question_to_the_fact(store: Path) -> None:
    done = pathtrace(store, "report", "before", "rows", "--changed", "library.batch")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("# stand-ins: before and after\n")
    assert "| library.batch | 100 | 1 | expected |" in done.out
    assert "- Only what was expected to differ does: library.batch." in done.out
    assert done.out.index("## Prediction") < done.out.index("## Change") < done.out.index("## Fact")


def test_as_json_it_is_what_show_and_compare_give(store: Path) -> None:
    one = pathtrace(store, "report", "before", "--json")
    assert (one.code, one.out) == (0, pathtrace(store, "show", "before", "--json").out)
    named = ("before", "rows", "--changed", "library.batch", "--json")
    assert pathtrace(store, "report", *named).out == pathtrace(store, "compare", *named).out


def test_what_compare_refuses_is_refused_here_too(store: Path) -> None:
    done = pathtrace(store, "report", "before", "rows")
    assert (done.code, done.out) == (2, "")
    assert "--changed library.batch" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["before", "--format", "html"], "--format html is planned, and not in this version"),
        (["before", "rows", "--format", "html"], "--format html is planned, and not in this version"),
        (["before", "--format", "pdf"], "--format 'pdf' is not known"),
        (["before", "--changed", "lan"], "--changed is about two runs"),
        (["before", "--price", "lan=1"], "--price is about two runs"),
        (["befor"], "no run is called 'befor'"),
    ],
)
def test_what_cannot_be_printed_is_refused_with_what_can(
    store: Path, arguments: list[str], message: str
) -> None:
    done = pathtrace(store, "report", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "hint: " in done.err


def test_a_run_that_lost_samples_has_a_page_of_what_is_left(store: Path, tmp_path: Path) -> None:
    kept = next(path for path in store.iterdir() if (path / "facts.json").is_file())
    torn = tmp_path / "torn"
    shutil.copytree(kept, torn)
    samples = (torn / "samples.bin").read_bytes()
    (torn / "samples.bin").write_bytes(samples[: len(samples) // 2])
    assert pathtrace(store, "report", str(torn)).code == 3
    both = pathtrace(store, "report", str(kept), str(torn))
    assert both.code == 3
    assert "lost; what is left was compared" in both.err
