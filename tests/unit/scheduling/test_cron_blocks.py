import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pathtrace.errors import UsageError
from pathtrace.scheduling.cron_blocks import Block, blocks, with_block, without_block

LINES = st.sampled_from(
    [
        b"17 3 * * * backup\n",
        b"\n",
        b"# caf\xe9\r\n",
        b"\xff\xfe\x00\n",
        b"MAILTO=me\r\n",
        b"* * * * * x\r",
        b"@daily y",
        b" ",
    ]
)
OTHERS = st.one_of(st.binary(max_size=60), st.lists(LINES, max_size=6).map(b"".join))
NAMES = ("pathtrace-scan-a-00000001", "pathtrace-scan-b-00000002", "pathtrace-scan-c-00000003")


def block(name: str, line: str = "1 2 * * * scan") -> Block:
    return Block(name, '{"scenario": "/a"}', line)


@given(OTHERS, st.permutations(NAMES), st.permutations(NAMES))
def test_adding_and_removing_in_any_order_leaves_every_other_byte(
    others: bytes, added: list[str], removed: list[str]
) -> None:
    assume(b"# pathtrace schedule" not in others)
    table = others
    for name in added:
        table = with_block(table, block(name))
        assert table.startswith(others)
        assert with_block(table, block(name)) == table
    assert [each.name for each in blocks(table)] == added
    for name in removed:
        table = without_block(table, name)
        assert table.startswith(others)
    assert table == others


@given(OTHERS, OTHERS)
def test_lines_that_people_add_behind_ours_stay_too(before: bytes, after: bytes) -> None:
    assume(b"# pathtrace schedule" not in before + after)
    table = with_block(before, block(NAMES[0])) + after
    changed = with_block(table, block(NAMES[0], "4 5 * * * scan"))
    assert changed == table.replace(b"1 2 * * * scan", b"4 5 * * * scan")
    left = without_block(changed, NAMES[0])
    ended = before == b"" or before.endswith(b"\n") or after == b""
    assert left == (before + after if ended else before + b"\n" + after)


def test_a_line_without_an_end_gets_one_that_goes_again() -> None:
    table = with_block(b"1 2 * * * x", block(NAMES[0]))
    mark = f"# pathtrace schedule {NAMES[0]}"
    assert table.decode() == (
        f'1 2 * * * x\n{mark} begin joined {{"scenario": "/a"}}\n1 2 * * * scan\n{mark} end\n'
    )
    assert without_block(table, NAMES[0]) == b"1 2 * * * x"


def test_what_stands_in_a_block_is_read_back_also_with_other_line_ends() -> None:
    table = with_block(b"x\n", block(NAMES[0])).replace(b"\n", b"\r\n")
    (found,) = blocks(table)
    assert (found.name, found.told, found.line) == (NAMES[0], '{"scenario": "/a"}', "1 2 * * * scan")
    assert without_block(table, NAMES[0]) == b"x\r\n"


@pytest.mark.parametrize("missing", ["begin", "end"])
def test_a_mark_that_stands_alone_is_told_and_nothing_is_guessed(missing: str) -> None:
    lines = with_block(b"x\n", block(NAMES[0])).splitlines(keepends=True)
    broken = b"".join(line for line in lines if f" {missing}".encode() not in line)
    for change in (lambda: with_block(broken, block(NAMES[1])), lambda: without_block(broken, NAMES[0])):
        with pytest.raises(UsageError, match=f"a mark of {NAMES[0]} stands alone: nothing was changed"):
            change()


def test_taking_away_what_is_not_there_changes_nothing() -> None:
    assert without_block(b"x", NAMES[0]) == b"x"
