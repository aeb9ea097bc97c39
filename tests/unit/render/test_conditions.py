from dataclasses import replace

from pathtrace.model.run import StartCondition
from pathtrace.model.work import LayerState
from pathtrace.render.conditions import ABSENT, Layer, measured_starts, start_layers, start_word
from tests.unit.render import example


def test_layers_that_agree_are_put_together_with_their_evidence() -> None:
    assert start_layers(example.RUN)[2] == Layer("database", "cold", "library: a new file", present=True)


def test_places_that_say_the_same_are_named_together() -> None:
    layers = tuple(LayerState("database", place, "cold", "a new file") for place in ("a", "b"))
    run = replace(example.RUN, starts=(StartCondition(0, "cold", layers),))
    assert start_layers(run)[2].evidence == "a, b: a new file"


def test_a_layer_that_no_place_has_is_unknown_and_says_why() -> None:
    run = replace(example.RUN, starts=())
    assert start_layers(run)[0] == Layer("client_cache", "unknown", ABSENT, present=False)


def test_warm_ups_do_not_count() -> None:
    warm_up = StartCondition(-1, "warm", (LayerState("database", "library", "warm", "kept"),))
    run = replace(example.RUN, starts=(warm_up, *example.STARTS))
    assert measured_starts(run) == example.STARTS
    assert start_layers(run) == start_layers(example.RUN)


def test_the_start_is_what_was_reached_else_what_was_asked_for() -> None:
    mixed = (example.STARTS[0], replace(example.STARTS[1], start="as-is"))
    assert start_word(replace(example.RUN, starts=mixed)) == "cold, as-is"
    assert start_word(replace(example.RUN, starts=())) == "cold"
