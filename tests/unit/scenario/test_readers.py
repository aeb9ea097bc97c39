"""Single values: what is read, and what is refused with what is allowed."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_core import PydanticCustomError

from pathtrace import units
from pathtrace.model.scenario import Access, Frequency, FrequencyKind
from pathtrace.scenario import readers
from pathtrace.scenario.tree import Plain


def refusal(read: Any, *arguments: object) -> tuple[str, str | None]:
    with pytest.raises(PydanticCustomError) as caught:
        read(*arguments)
    assert caught.value.context is not None
    return caught.value.context["message"], caught.value.context["hint"]


def test_text_is_taken_as_written_and_a_number_is_text_too() -> None:
    assert readers.read_text(Plain("1.10")) == "1.10"
    assert refusal(readers.read_text, "a\x1b[0m") == ("the text holds a control character", "remove it")
    assert refusal(readers.read_text, " ") == ("the text is empty", "give a value, or remove the key")


@pytest.mark.parametrize("name", ["nas", "büro", "gpu-2", "a.b_c", "10GbE"])
def test_names_are_words(name: str) -> None:
    assert readers.read_name(name) == name


@pytest.mark.parametrize("name", ["a b", "a->b", "a:b", "a/b", "-a", "x" * 65, "a\n"])
def test_names_that_would_not_fit_into_a_hops_name_are_refused(name: str) -> None:
    with pytest.raises(PydanticCustomError):
        readers.read_name(name)


def test_whole_numbers_are_read_within_their_bounds() -> None:
    assert readers.read_whole("5", 1, 9) == 5
    assert readers.read_whole(5, 1, 9) == 5
    assert refusal(readers.read_whole, "0", 1, 9) == ("0 is too small", "allowed: 1 to 9")
    assert refusal(readers.read_whole, "10", 1, 9) == ("10 is too large", "allowed: 1 to 9")
    assert refusal(readers.read_whole, "9" * 5000, 1, 9)[1] == "allowed: 1 to 9"
    assert refusal(readers.read_whole, True, 1, 9) == ("True is not a whole number", "allowed: 1 to 9")


def test_all_is_no_sample() -> None:
    assert (readers.read_sample("all"), readers.read_sample("20")) == (None, 20)


def test_a_quantity_is_more_than_nothing_but_may_happen_never_a_day() -> None:
    assert readers.read_quantity("64 KiB", units.parse_bytes) == 65_536
    assert refusal(readers.read_quantity, "0 s", units.parse_duration)[0] == "'0 s' is too small"
    assert readers.read_quantity("0", readers.read_count_per_day) == 0


def test_a_choice_is_one_of_the_known_ones() -> None:
    assert readers.read_choice("mmap", Access) is Access.MMAP
    assert refusal(readers.read_choice, 5, Access) == ("5 is not known here", "allowed: read, mmap, direct")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("once", Frequency(FrequencyKind.ONCE, None, False, "once")),
        ("per-request", Frequency(FrequencyKind.PER_REQUEST, None, False, "per-request")),
        ("every  24 h", Frequency(FrequencyKind.EVERY, 86_400.0, False, "every 24 h")),
    ],
)
def test_frequencies_are_read(text: str, expected: Frequency) -> None:
    assert readers.read_frequency(text) == expected


@pytest.mark.parametrize(
    "text", ["every", "every <duration>", "every 0 s", "daily", "per-reqest", "every day"]
)
def test_what_is_no_frequency_is_refused(text: str) -> None:
    with pytest.raises(PydanticCustomError):
        readers.read_frequency(text)


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///a.db", "sqlite:////srv/a.db", "postgresql://u:p@h:5432/db"]
)
def test_database_urls_are_taken_as_written(url: str) -> None:
    assert readers.read_url(url, ("sqlite", "postgresql")) == url


@pytest.mark.parametrize(
    "url",
    [
        *("sqlite:a.db", "sqlite://a.db", "sqlite:///", "postgresql://", "postgresql://u:a/b@h/db"),
        *(
            "postgresql://h:port/db",
            "postgresql://h:0/db",
            "postgresql://[::1/db",
            "mysql://h",
            "h/db",
            "postgresql://h /x",
        ),
    ],
)
def test_urls_that_name_nothing_usable_are_refused_without_showing_them(url: str) -> None:
    message, _ = refusal(readers.read_url, url, ("sqlite", "postgresql"))
    assert "a/b" not in message


def test_options_are_sent_as_json_would_have_them() -> None:
    written = {"temperature": Plain("0.5"), "n": Plain("3"), "stop": ["a", Plain("-1e3")], "x": {"y": None}}
    expected = {"temperature": 0.5, "n": 3, "stop": ["a", -1000.0], "x": {"y": None}}
    assert readers.read_options({**written, "quoted": "3", "word": Plain("no"), "flag": True}) == {
        **expected,
        "quoted": "3",
        "word": "no",
        "flag": True,
    }


def test_a_command_is_a_list_of_texts() -> None:
    assert readers.read_command(["sleep", Plain("1")]) == ("sleep", "1")
    assert refusal(readers.read_command, ["x", {"path": None}])[0] == "every part of a command is a text"


def test_ssh_takes_a_user_and_never_a_password() -> None:
    assert readers.read_ssh("admin@nas.lan") == "admin@nas.lan"
    assert readers.read_ssh("ssh://admin@nas.lan:22") == "ssh://admin@nas.lan:22"
    assert "hunter2" not in str(refusal(readers.read_ssh, "admin:hunter2@nas"))
