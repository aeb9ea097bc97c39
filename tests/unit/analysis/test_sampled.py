from __future__ import annotations

from dataclasses import replace

from pathtrace.analysis import analyse
from pathtrace.model.run import Run
from pathtrace.model.work import PlaceFacts
from tests.unit.analysis.builders import MS, reached
from tests.unit.analysis.planted import INDEX, index_run

READ, ALL = 40_000_000, 4_000_000_000
SAMPLED = INDEX.replace("path: /data}", "path: /data, sample: 40}")


def part_of_a_pass(text: str = SAMPLED) -> Run:
    """Forty documents of a hundred times as many bytes; together they take half a second."""
    facts = PlaceFacts("there", files=40, bytes=READ, whole_bytes=ALL)
    archive = replace(reached("archive", disk="sda"), facts=facts)
    return index_run((10 * MS, 1 * MS, 1 * MS), text=text, places=(archive, reached("library", disk="sdb")))


def test_a_flow_through_a_sample_says_how_much_longer_all_of_it_takes() -> None:
    (finding,) = [each for each in analyse(part_of_a_pass()).findings if each.code == "sampled"]
    assert finding.text == (
        "index went through a sample of archive, 1 % of its bytes: a pass over all of them takes about "
        "100.0 times as long, and as many seconds a day"
    )
    assert finding.evidence == ("38.1 MiB of 3.73 GiB",)


def test_the_verdict_says_that_its_seconds_are_of_a_sample() -> None:
    first = analyse(part_of_a_pass()).verdict.lines[0]
    assert " a day for a sample of 1 %, limited by " in first


def test_a_sample_of_less_than_a_second_is_not_called_nothing_to_gain() -> None:
    top = analyse(part_of_a_pass()).ranking[0]
    assert top.seconds_per_day < 1
    assert top.advice.endswith(", of the sample alone")


def test_a_flow_that_counts_single_documents_is_not_scaled() -> None:
    text = SAMPLED.replace("every 24 h", "per-document")
    report = analyse(part_of_a_pass(text))
    assert "sampled" not in [finding.code for finding in report.findings]
    assert "sample" not in report.verdict.lines[0]


def test_a_flow_through_all_files_speaks_of_no_sample() -> None:
    report = analyse(part_of_a_pass(INDEX))
    assert "sampled" not in [finding.code for finding in report.findings]


def test_a_pass_that_was_cut_short_is_not_taken_for_a_whole_one() -> None:
    run = index_run((10 * MS, 1 * MS, 1 * MS), repeats=1)
    windows = tuple(replace(window, complete=False) for window in run.windows)
    report = analyse(replace(run, windows=windows, status="interrupted"))
    assert " a day, as far as it came, limited by " in report.verdict.lines[0]
    assert report.ranking[0].advice.endswith(", as far as it came")
