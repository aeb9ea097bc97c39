from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pathtrace.model.comparison import Comparison
from pathtrace.render.before_after import before_after_page
from tests.golden import assert_golden
from tests.unit.render import example
from tests.unit.render.test_comparison import INDEX, WHOLE

GOLDEN = Path(__file__).parent / "golden"


def page(whole: Comparison = WHOLE) -> str:
    before = replace(example.RUN, id=whole.before.id, label=whole.before.label)
    after = replace(example.RUN, id=whole.after.id, label=whole.after.label)
    return before_after_page(whole, before, after, example.REPORT)


def test_a_change_fills_one_page() -> None:
    assert_golden(GOLDEN / "before_after.md", page())
    assert len(page().splitlines()) < 90


def test_the_page_goes_from_the_question_over_prediction_and_change_to_the_fact() -> None:
    text = page()
    titles = [line for line in text.splitlines() if line.startswith("#")]
    assert titles == [
        "# household-archive: before and after",
        "## Verdict",
        "## Prediction",
        "## Change",
        "## Fact (median of the repeats; change in time, 95 % interval)",
        "## Conditions and spread",
        "## What limits now",
        "## What to mind",
    ]
    assert text.index("**Question:**") < text.index("## Verdict")


def test_without_a_prediction_it_says_how_to_make_one() -> None:
    text = page(replace(WHOLE, predictions=()))
    assert f"None is kept with the earlier run, {WHOLE.before.id}. `pathtrace whatif RUN --set" in text


def test_predictions_that_do_not_fit_are_told_with_the_reason_and_none_is_said_to_be_missing() -> None:
    reasons = ("lan = 10 Gbit/s was predicted, and its card eth0 has 1 Gbit/s", *"abcdef")
    text = page(replace(WHOLE, predictions=(), unscored=reasons))
    part = text[text.index("## Prediction") : text.index("## Change")]
    assert part.splitlines()[2:-1] == [
        f"None of those kept with the earlier run, {WHOLE.before.id}, can be held against this change:",
        "",
        "- lan = 10 Gbit/s was predicted, and its card eth0 has 1 Gbit/s",
        *(f"- {letter}" for letter in "abcd"),
        "- and 2 more reasons of others",
    ]


def test_where_nothing_differs_that_is_said() -> None:
    assert "Nothing that is known of the two runs differs and could matter." in page(
        replace(WHOLE, differences=())
    )


def test_every_table_is_read_as_one_and_all_rows_are_as_wide_as_its_head() -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(page())
    assert sum(token.type == "table_open" for token in tokens) == 3
    assert not any("|" in token.content for token in tokens if token.type == "inline")


@settings(deadline=None)
@given(st.text(max_size=40))
def test_no_name_from_outside_can_become_markdown(name: str) -> None:
    hostile = replace(WHOLE, flows=(replace(INDEX, flow=name, name=name),), verdict=(name,))
    tokens = MarkdownIt("commonmark").enable("table").parse(page(hostile))
    assert sum(token.type == "table_open" for token in tokens) == 3
    assert sum(token.type == "heading_open" for token in tokens) == 8
    children = [child for token in tokens for child in token.children or ()]
    assert not {child.type for child in children} & {"link_open", "image", "html_inline", "code_block"}
