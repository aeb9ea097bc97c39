from dataclasses import replace
from pathlib import Path

import pytest

from pathtrace.model.check import MemoryCheck, TimeEstimate
from pathtrace.render.checks import check_view
from tests.golden import assert_golden
from tests.unit.render import example
from tests.unit.render.drawn import drawn

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("width", [40, 80])
def test_a_check_reads_well(width: int) -> None:
    text = drawn(check_view(example.CHECK), width)
    assert max(map(len, text.splitlines())) <= width
    assert_golden(GOLDEN / f"check_{width}.txt", text)


def test_a_check_without_faults_says_that_the_run_can_start() -> None:
    report = replace(
        example.CHECK, places=example.CHECK.places[:2], estimate=TimeEstimate(30.0, 90.0, "as last time")
    )
    text = drawn(check_view(report), 80)
    assert text.startswith("household-archive can run: every place was reached. Nothing was changed.\n")
    assert "30 s to 1 min 30 s: as last time" in text


def test_too_little_memory_stands_out() -> None:
    report = replace(example.CHECK, memory=(MemoryCheck("workstation", 10, 5, 20, 10),))
    assert "10 B needed, 5 B available of 20 B: NOT ENOUGH" in drawn(check_view(report), 80)
