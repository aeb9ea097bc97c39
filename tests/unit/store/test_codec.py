from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.model.run import Environment
from pathtrace.model.scenario import Scenario, Spec
from pathtrace.store.codec import CodecError, decode, encode
from tests.unit.store.example import SCENARIO, any_of


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Box:
    colour: Colour
    width: float
    added_later: str | None = None


@given(any_of(Scenario))
def test_any_scenario_comes_back_as_it_was(scenario: Scenario) -> None:
    assert decode(json.loads(json.dumps(encode(scenario, str))), Scenario) == scenario


@given(any_of(Environment))
def test_any_environment_comes_back_as_it_was(environment: Environment) -> None:
    assert decode(json.loads(json.dumps(encode(environment, str))), Environment) == environment


@given(st.sampled_from([place.spec for place in SCENARIO.places]))
def test_a_member_of_a_union_is_known_by_its_types_name(spec: Spec) -> None:
    assert type(decode(encode(spec, str), Spec)) is type(spec)


def test_names_that_are_not_unicode_survive() -> None:
    text = b"caf\xe9".decode("utf-8", "surrogateescape")

    assert decode(json.loads(json.dumps(encode(text, str))), str) == text


def test_texts_are_scrubbed_but_the_names_of_choices_are_not() -> None:
    assert encode((Box(Colour.RED, 1.0, "red"),), lambda text: text.replace("red", "***")) == [
        {"$type": "Box", "colour": "red", "width": 1.0, "added_later": "***"}
    ]


def test_a_field_that_an_older_file_lacks_takes_its_default() -> None:
    assert decode({"colour": "red", "width": 1}, Box) == Box(Colour.RED, 1.0, None)


@pytest.mark.parametrize(
    ("data", "hint", "message"),
    [
        ({"colour": "blue", "width": 1.0}, Box, "box.colour: 'blue' is none of red"),
        ({"colour": "red", "width": "1"}, Box, "box.width: '1' is not float"),
        ({"colour": "red"}, Box, "box: width is missing"),
        ([], Box, "box: an object is expected"),
        ("ab", tuple[str, ...], "box: a list is expected"),
        (["a"], tuple[str, int], "box: 2 entries are expected, not 1"),
        (True, int, "box: True is not int"),
        ({"$type": "Nothing"}, Box | Scenario, "box: 'Nothing' is none of Box, Scenario"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(data: object, hint: object, message: str) -> None:
    with pytest.raises(CodecError) as caught:
        decode(data, hint, "box")

    assert str(caught.value) == message
