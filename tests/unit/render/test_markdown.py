from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pathtrace.model.prediction import SelfCheck
from pathtrace.model.report import Verdict
from pathtrace.render.markdown import escaped, run_page
from tests.golden import assert_golden
from tests.unit.render import example
from tests.unit.render.test_upgrades import FOUND

GOLDEN = Path(__file__).parent / "golden"


def test_a_run_fills_one_page() -> None:
    page = run_page(example.RUN, example.REPORT)
    assert_golden(GOLDEN / "report.md", page)
    assert len(page.splitlines()) < 80


def test_the_page_goes_from_the_question_to_what_was_not_measured() -> None:
    titles = [line for line in run_page(example.RUN, example.REPORT).splitlines() if line.startswith("#")]
    assert titles == [
        "# household-archive",
        "## Verdict",
        "## Task",
        "## Configuration",
        "## Start condition",
        "## Result and spread (median of 5 repeats ± its interval)",
        "## What was not measured, and what to mind",
    ]


def test_a_partial_run_says_so_and_lists_the_gap() -> None:
    page = run_page(example.PARTIAL_RUN, example.PARTIAL_REPORT)
    assert "- This run is **partial**: only what was measured stands below." in page
    assert "- answer, model->people: not measured" in page


def test_requests_are_told_only_where_somebody_asks() -> None:
    flows = tuple(flow for flow in example.SCENARIO.flows if flow.name == "index")
    nobody_asks = replace(example.RUN, scenario=replace(example.SCENARIO, flows=flows))
    report = replace(example.REPORT, flows=(), hops=(), requests=(), ranking=())
    assert "- Requests: " in run_page(example.RUN, example.REPORT)
    assert "- Requests: " not in run_page(nobody_asks, report)


def test_text_from_outside_cannot_become_markdown() -> None:
    report = replace(example.REPORT, verdict=Verdict(("<script>| `x` *y* [z](u)\n# no",)))
    assert r"- \<script>\| \`x\` \*y\* \[z\](u) # no" in run_page(example.RUN, report)


@given(st.text())
def test_escaped_text_is_one_line(text: str) -> None:
    assert len(escaped(text).splitlines()) <= 1


def test_what_a_change_would_give_stands_behind_the_result() -> None:
    page = run_page(example.RUN, example.REPORT, FOUND)
    start, end = page.index("## What if"), page.index("## What was not")
    assert_golden(GOLDEN / "report_what_if.md", page[start:end])
    assert page.index("## Result") < start


def test_a_flow_that_does_not_come_out_as_measured_is_not_predicted_and_that_is_said() -> None:
    off = replace(FOUND.flows[0], self_check=SelfCheck(240.0, 200.0))
    page = run_page(example.RUN, example.REPORT, replace(FOUND, flows=(off,)))
    assert "- index is not predicted: played again unchanged it gives 3 min 20 s for 4 min" in page
    assert "batch 500" not in page


def test_a_page_on_which_nothing_was_predicted_says_nothing_of_it() -> None:
    assert "What if" not in run_page(example.RUN, example.REPORT)
