"""What ``expect`` may say: of which flow or hop, and how much."""

from __future__ import annotations

import pytest

from tests.unit.scenario.example import faults_of, read, text_of

HINT = "write the longest time that is fine, as in 20 s, or how much more than the baseline: +20%"


def expecting(lines: str) -> str:
    return text_of(top=f"expect:\n{lines}")


def test_flows_and_hops_may_be_expected_to_take_so_long_or_so_much_more() -> None:
    lines = "  index: 20 s\n  index/archive->chunker: +20 %\n"
    scenario = read(expecting(lines))
    assert scenario.control.expect == (("index", "20 s"), ("index/archive->chunker", "+20 %"))


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        (
            "  idnex: 20 s\n",
            "3: expect: there is no flow or hop 'idnex'",
            "did you mean 'index'?",
        ),
        (
            "  index/archive->chunkr: 20 s\n",
            "3: expect: there is no flow or hop 'index/archive->chunkr'",
            "did you mean 'index/archive->chunker'?",
        ),
        ("  index: 20%\n", "10: expect.index: '20%' does not say of what, and in which direction", HINT),
        ("  index: +20\n", "10: expect.index: '+20' allows nothing: '20' is not a share in per cent", HINT),
        ("  index: 0 s\n", "10: expect.index: '0 s': nothing takes no time at all", HINT),
        ("  index: 20 secs\n", "10: expect.index: '20 secs'", HINT),
        ("  index: soon\n", "10: expect.index: 'soon'", HINT),
    ],
)
def test_what_is_wrong_with_a_line_is_said_where_it_stands(line: str, message: str, hint: str) -> None:
    ((said, advice),) = faults_of(expecting(line))
    assert message in said
    assert str(advice).endswith(hint)


def test_what_is_expected_is_no_part_of_the_set_up_since_it_is_judged_afterwards() -> None:
    one, other = read(expecting("  index: 20 s\n")), read(text_of())
    assert one.setup_fingerprint == other.setup_fingerprint
    assert one.workload_fingerprint == other.workload_fingerprint
