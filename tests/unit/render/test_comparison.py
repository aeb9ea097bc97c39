import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from pathtrace.model.comparison import (
    ActivityPair,
    Compared,
    Comparison,
    Cost,
    Difference,
    Output,
    OutputDifference,
    Prediction,
    Ratio,
    RunName,
)
from pathtrace.model.prediction import Price
from pathtrace.render.compare_document import compare_document
from pathtrace.render.comparison import comparison_view, cost_words
from tests.golden import assert_golden
from tests.unit.render.drawn import drawn
from tests.unit.render.test_json_document import keys_of

GOLDEN = Path(__file__).parent / "golden"
NAMES = re.compile(r"\b(stability\.\w+)\.\w+")
"""Names of flows, which vary."""

INDEX = Compared(
    flow="index",
    name="index",
    waits="nobody",
    before_s=61.2,
    after_s=19.4,
    ratio=Ratio(0.317, 0.309, 0.326, "faster", 0.061, 5),
    repeats=(5, 5),
    spread=(0.012, 0.018),
    errors=(0, 0),
    p99_s=(None, None),
    limited_by=("link:lan", "commit:library"),
)
READ = replace(INDEX, name="archive->indexer", before_s=60.8, after_s=6.31)
STORE = replace(
    INDEX,
    name="indexer->library",
    before_s=19.2,
    after_s=19.1,
    ratio=Ratio(0.995, 0.98, 1.012, "same", 0.07, 5),
    limited_by=("commit:library", "commit:library"),
)
ANSWER = Compared(
    flow="answer",
    name="answer",
    waits="people",
    before_s=3.1,
    after_s=3.25,
    ratio=Ratio(1.048, 0.93, 1.2, "unclear", 0.28, 41),
    repeats=(5, 4),
    spread=(0.09, 0.11),
    errors=(0, 2),
    p99_s=(5.0, 7.25),
    limited_by=("model:model", "model:model"),
)
UNMEASURED = replace(
    ANSWER, name="model->people", before_s=None, after_s=None, ratio=None, limited_by=("unknown", "unknown")
)
WHOLE = Comparison(
    before=RunName("20261130-091412-k3f9", "before", "2026-11-30T09:14:12+00:00"),
    after=RunName("20261207-101500-p2aa", "after", "2026-12-07T10:15:00+00:00"),
    comparable=True,
    reasons=(),
    verdict=(
        'Whether "answer" changed is unclear: 3.1 s → 3.25 s (-7 % to +20 % time).',
        '"index" is faster, 3.2 times as fast: 61.2 s → 19.4 s (×0.31 to ×0.33 time).',
        "Only what was expected to differ does: lan.",
    ),
    cause="lan",
    differences=(
        Difference("lan.speed", "1 Gbit/s", "10 Gbit/s", True, "lan", True),
        Difference("workstation.kernel", "Linux 6.12", "Linux 6.18", False, "kernel of workstation", True),
        Difference("control.repeats", "5", None, False, "control.repeats", False),
    ),
    flows=(INDEX, ANSWER),
    hops=(READ, STORE, UNMEASURED),
    output=Output(False, (OutputDifference("index, read@archive", "bytes", 100, 99),), (1.0, 0.5), False),
    activity=(ActivityPair("workstation", (1.5, 24.0), (0.0, 2e6), (None, 5e6)),),
    predictions=(Prediction("index", 20.0, 18.0, 23.0, 19.4, -0.03),),
    caveats=("there is no history of like runs",),
    cost=Cost(Price(120.0, "EUR"), 42.0),
)
SECOND = replace(WHOLE, after=RunName("20261208-080000-zz11", None, "2026-12-08T08:00:00+00:00"))


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize(("name", "shown"), [("compare", [WHOLE]), ("compare_more", [WHOLE, SECOND])])
def test_a_comparison_reads_well_at_every_width(name: str, shown: list[Comparison], width: int) -> None:
    text = drawn(comparison_view(shown), width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert [line for line in text.splitlines() if line != line.rstrip()] == []
    assert_golden(GOLDEN / f"{name}_{width}.txt", text)


def test_the_verdict_comes_first() -> None:
    assert tuple(drawn(comparison_view([WHOLE]), 120).splitlines()[:3]) == WHOLE.verdict


def test_names_cannot_steer_the_terminal() -> None:
    named = replace(WHOLE, flows=(replace(INDEX, flow="a\x1b[31m", name="a\x1b[31m"),))
    assert "\x1b" not in drawn(comparison_view([named]), 120)


def test_the_keys_of_the_document_never_change_unnoticed() -> None:
    document = compare_document([WHOLE, SECOND])
    json.dumps(document, allow_nan=False)
    paths = {NAMES.sub(r"\1.*", path) for path in keys_of(document)}
    assert_golden(GOLDEN / "compare_keys.txt", "\n".join(sorted(paths)) + "\n")


def test_what_is_not_known_is_null() -> None:
    document = compare_document(
        [replace(WHOLE, predictions=(), cost=None, output=Output(None, (), (None, None), True))]
    )
    assert document["prediction"] is None
    assert document["cost"] is None
    assert document["checks"] is None
    assert document["same_output"] is None
    assert document["more"] == []
    hops = document["hops"]
    assert isinstance(hops, list)
    unmeasured = hops[2]
    assert isinstance(unmeasured, dict)
    assert (unmeasured["ratio"], unmeasured["verdict"]) == (None, "unclear")


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (Cost(Price(120.0, "EUR"), 42.0), "120 EUR: saves 42 s a day, 350 ms for each EUR"),
        (Cost(Price(120.0, None), 42.0), "120: saves 42 s a day, 350 ms for each 1"),
        (Cost(Price(120.0, "EUR"), 0.0), "120 EUR: saves nothing that is sure"),
        (Cost(Price(10.0, "EUR"), -5.0), "10 EUR: costs 5 s a day, 500 ms for each EUR"),
    ],
)
def test_a_price_is_said_beside_what_it_gives(cost: Cost, words: str) -> None:
    assert cost_words(cost) == words
