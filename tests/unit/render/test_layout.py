from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from pathtrace.render.layout import NARROWEST, Pairs, Row, Rows, Wrapped, bullet, heading
from tests.unit.render.drawn import drawn

TABLE = Rows(
    ("hop", "bytes", "limited by"),
    (
        Row(above=Text("index")),
        Row(("archive->indexer", "1.19 GiB", "disk"), below=(Text("a remark"),)),
        Row(("a->b", "2 B", "")),
    ),
    right=frozenset({1}),
)


def test_rows_line_up_where_there_is_room() -> None:
    assert drawn(TABLE, 60) == (
        "  hop                  bytes  limited by\n"
        "  index\n"
        "  archive->indexer  1.19 GiB  disk\n"
        "    a remark\n"
        "  a->b                   2 B\n"
    )


def test_rows_line_up_below_their_names_where_there_is_less() -> None:
    assert drawn(TABLE, 36) == (
        "       bytes  limited by\n"
        "  index\n"
        "  archive->indexer\n"
        "    1.19 GiB  disk\n"
        "    a remark\n"
        "  a->b\n"
        "         2 B\n"
    )


def test_rows_name_their_cells_where_there_is_none() -> None:
    assert drawn(TABLE, 22) == (
        "  index\n"
        "  archive->indexer\n"
        "    bytes 1.19 GiB ·\n"
        "    limited by disk\n"
        "    a remark\n"
        "  a->b\n"
        "    bytes 2 B\n"
    )


def test_text_wraps_under_itself() -> None:
    assert drawn(bullet("!", Text("one two three four")), 15) == "  ! one two\n    three four\n"


def test_pairs_stand_beside_or_below() -> None:
    pairs = Pairs((("name", Text("what there is to say of it")), ("longer name", Text("more"))))
    assert drawn(pairs, 60) == "  name         what there is to say of it\n  longer name  more\n"
    assert drawn(pairs, 24) == ("  name\n    what there is to say\n    of it\n  longer name\n    more\n")


def test_a_heading_has_an_empty_line_above() -> None:
    assert drawn(heading("Hops", "median"), 40) == "\nHops  median\n"


@given(st.text(), st.integers(NARROWEST + 8, 120), st.integers(0, 8))
def test_no_line_is_wider_than_the_terminal(text: str, width: int, indent: int) -> None:
    lines = drawn(Wrapped(Text(text.replace("\t", " ")), indent), width).split("\n")
    assert all(cell_len(line) <= width for line in lines)
