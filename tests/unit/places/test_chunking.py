from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pathtrace.places.chunking import decode, split


@given(st.text(alphabet=st.sampled_from("ab \nü\x00"), max_size=300), st.integers(1, 40))
def test_pieces_joined_are_the_text_and_none_is_too_long(text: str, characters: int) -> None:
    pieces = split(text, characters)
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= characters for piece in pieces)


def test_pieces_end_after_white_space() -> None:
    assert split("alpha beta gamma", 12) == ("alpha beta ", "gamma")


def test_a_word_longer_than_a_piece_is_cut() -> None:
    assert split("x" * 25, 10) == ("x" * 10, "x" * 10, "x" * 5)


@given(st.binary(max_size=200))
def test_any_bytes_become_text_that_can_be_encoded(data: bytes) -> None:
    decode(memoryview(data)).encode()
