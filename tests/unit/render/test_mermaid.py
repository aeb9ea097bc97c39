import re
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pathtrace.render.mermaid import escaped, mermaid_map
from tests.golden import assert_golden
from tests.unit.render import example

GOLDEN = Path(__file__).parent / "golden"


def test_a_run_becomes_a_flowchart() -> None:
    assert_golden(GOLDEN / "map_run.mmd", mermaid_map(example.SCENARIO, example.REPORT) + "\n")


def test_a_scenario_becomes_a_flowchart_without_figures() -> None:
    assert_golden(GOLDEN / "map_scenario.mmd", mermaid_map(example.SCENARIO, None) + "\n")


def test_arrows_are_solid_at_every_request_and_dashed_else() -> None:
    lines = mermaid_map(example.SCENARIO, None).splitlines()
    arrows = [re.sub(r"\|.*\|", "", line).split() for line in lines if "|" in line]
    assert arrows == [
        ["p3", "-.->", "p4"],
        ["p0", "-.->", "p1"],
        ["p1", "-.->", "p2"],
        ["p2", "-->", "p4"],
        ["p4", "-->", "p5"],
    ]


def test_a_name_cannot_end_its_label() -> None:
    host = replace(example.SCENARIO.hosts[0], role='x"]\n  p9["`**y**` #quot; <b>')
    text = mermaid_map(replace(example.SCENARIO, hosts=(host, *example.SCENARIO.hosts[1:])), None)
    [title] = [line for line in text.splitlines() if line.startswith("  subgraph h0")]
    assert title == (
        '  subgraph h0["nas (x#34;#93;#10;  p9#91;#34;#96;#42;#42;y#42;#42;#96; #35;quot#59; #60;b#62;)"]'
    )


@given(st.text())
def test_what_is_escaped_reads_back_the_same_and_holds_no_sign_of_mermaids(text: str) -> None:
    safe = escaped(text)
    assert not set('"[]{}<>|`\n\\&') & set(safe)
    back = re.sub(r"#(\d+);", lambda match: chr(int(match[1])), safe)
    assert back == re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "�", text.replace("\t", " "))
