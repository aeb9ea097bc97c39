from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.places.sse import Chunk, StreamError, message_in, read_line


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_a_token_comes_out_as_it_went_in(text: str) -> None:
    line = "data: " + json.dumps({"choices": [{"delta": {"content": text}}]})
    assert read_line(line) == Chunk(text)


@pytest.mark.parametrize("line", ["", "   ", ": ping", "event: message", "id: 4", "retry: 10"])
def test_lines_without_data_carry_nothing(line: str) -> None:
    assert read_line(line) is None


def test_thinking_counts_as_tokens_too() -> None:
    assert read_line('data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}') == Chunk("hm")


def test_the_last_events_carry_counts_times_and_the_end() -> None:
    assert read_line('data: {"choices":[{"delta":{},"finish_reason":"length"}]}') == Chunk(finished=True)
    counted = read_line(
        'data: {"choices":[],"usage":{"completion_tokens":4},"timings":{"prompt_ms":2,"x":"y"}}'
    )
    assert counted == Chunk(tokens=4, timings={"prompt_ms": 2.0})
    assert read_line("data: [DONE]") == Chunk(finished=True, last=True)


def test_half_a_surrogate_pair_becomes_something_that_can_be_stored() -> None:
    assert read_line('data: {"choices":[{"delta":{"content":"\\ud83d"}}]}') == Chunk("?")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("<html>", "no event stream: <html>"),
        ("data: [1]", "not a JSON object"),
        ('data: {"error": "busy"}', "the server says: busy"),
        ('error: {"message": "slot lost"}', "the server says: slot lost"),
    ],
)
def test_what_is_no_event_is_told(line: str, said: str) -> None:
    with pytest.raises(StreamError, match=said):
        read_line(line)


def test_long_messages_are_shortened_to_one_line() -> None:
    said = message_in({"error": {"message": "a\nb " + "x" * 500}})
    assert said is not None
    assert said.startswith("a b xxx")
    assert said.endswith("…")
    assert len(said) == 160
