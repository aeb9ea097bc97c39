"""What is stored of a document, and which words of a question are asked for."""

from __future__ import annotations

import random

from pathtrace.model.work import Item
from pathtrace.places.pieces import Piece, phrase_of, pieces_of, row_as_text, terms_of


def test_a_document_in_pieces_gives_each_with_its_vector() -> None:
    item = Item("a", 0, data=b"whole", texts=("one", "two"), vectors=((1.0,), (2.0,)))
    assert list(pieces_of(item)) == [Piece("a", "one", (1.0,)), Piece("a", "two", (2.0,))]


def test_a_document_without_pieces_is_one() -> None:
    assert list(pieces_of(Item("a", 5, data="größer".encode()))) == [Piece("a", "größer", None)]


def test_a_question_without_anything_has_no_pieces() -> None:
    assert list(pieces_of(Item("a", 0))) == []


def test_each_word_of_a_question_is_asked_once_and_at_most_64() -> None:
    assert terms_of("where's the roof, the ROOF?") == ["where", "s", "the", "roof", "ROOF"]
    assert terms_of(" ".join(map(str, range(100)))) == [str(number) for number in range(64)]


def test_a_phrase_is_of_long_words_of_the_text() -> None:
    phrase = phrase_of("the boiler was serviced in 2024 by old_hands Dachstuhl", random.Random(1))
    assert phrase is not None
    assert set(phrase.split()) <= {"boiler", "serviced", "hands", "Dachstuhl"}
    assert phrase_of("a 12345 to be", random.Random(1)) is None


def test_a_row_is_shown_with_tabs_and_nothing_for_null() -> None:
    assert row_as_text(("x", None, 3, b"\xc3\xb6\xff")) == "x\t\t3\tö�"
