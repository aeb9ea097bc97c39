from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from pathtrace.model.report import Caveat
from pathtrace.model.run import Activity
from pathtrace.render.tables import run_view
from tests.golden import assert_golden
from tests.unit.render import example
from tests.unit.render.drawn import drawn

GOLDEN = Path(__file__).parent / "golden"
FOLDER = "/home/me/runs/20260201-120000-3fa9"


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_run_reads_well_at_every_width(width: int) -> None:
    text = drawn(run_view(example.RUN, example.REPORT, FOLDER), width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert [line for line in text.splitlines() if line != line.rstrip()] == []
    assert_golden(GOLDEN / f"run_{width}.txt", text)


def test_the_verdict_comes_first() -> None:
    text = drawn(run_view(example.RUN, example.REPORT, FOLDER), 200)
    assert tuple(text.splitlines()[:3]) == example.REPORT.verdict.lines


def test_a_partial_run_says_so_and_names_what_was_not_measured() -> None:
    text = drawn(run_view(example.PARTIAL_RUN, example.PARTIAL_REPORT, FOLDER), 80)
    assert_golden(GOLDEN / "partial_80.txt", text)
    assert "0 B" not in text


def test_names_are_taken_literally_and_cannot_steer_the_terminal() -> None:
    hop = replace(example.ARCHIVE_INDEXER, name="[red]a[/red]->\x1b[31mb:smile:")
    text = drawn(run_view(example.RUN, replace(example.REPORT, hops=(hop,)), FOLDER), 120)
    assert "[red]a[/red]->�[31mb:smile:" in text
    assert "\x1b" not in text


def test_a_caveat_is_said_once_with_all_that_it_is_about_and_its_remedy() -> None:
    text = drawn(run_view(example.RUN, example.REPORT, FOLDER), 200)
    assert text.count("the NAS may have served from its memory") == 1
    assert "nas, archive: the NAS may have served from its memory → give ssh: for host nas" in text


def test_many_caveats_and_many_ranks_are_counted_instead_of_listed() -> None:
    caveats = tuple(Caveat(f"c{number}", f"doubt {number}", None, None) for number in range(20))
    report = replace(example.REPORT, caveats=caveats, ranking=example.REPORT.ranking * 3)
    text = drawn(run_view(example.RUN, report, FOLDER), 80)
    assert "and 13 more in report.md" in text
    assert "and 7 more, together " in text


def test_a_rank_that_is_left_out_between_others_is_named() -> None:
    first, second, *others = example.REPORT.ranking
    little = replace(second, seconds_per_day=0.001, share=0.001)
    text = drawn(run_view(example.RUN, replace(example.REPORT, ranking=(first, little, *others)), FOLDER), 80)
    assert "and 1 more (2. among them), together 1 ms a day" in text


def test_a_report_without_anything_in_it_is_still_drawn() -> None:
    bare = replace(
        example.REPORT,
        hops=(),
        flows=(),
        requests=(),
        ranking=(),
        findings=(),
        caveats=(),
        dataset=(),
        repeats=(),
    )
    run = replace(example.RUN, starts=(), activity=(), cost=None, status="interrupted")
    text = drawn(run_view(run, bare, FOLDER), 80)
    assert "This run is interrupted: only what was measured stands below." in text
    assert "pathtrace's own cost: not measured" in text


def test_a_trickle_of_other_traffic_is_not_spelt_out() -> None:
    activity = (Activity("workstation", 3.5, 0.0, 10.3, ()),)
    text = drawn(run_view(replace(example.RUN, activity=activity), example.REPORT, FOLDER), 200)
    assert "CPU 3.5 %, disk 0 MB/s, network <0.001 MB/s" in text
