"""What an observer could not see is a caveat of the place, with what would mend it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pathtrace.analysis import analyse
from pathtrace.model.report import Caveat
from pathtrace.model.run import Run
from tests.unit.analysis.far import TEXT, Way, run
from tests.unit.analysis.planted import index_run

LINUX = "run on Linux, whose kernel tells of connections, routes and interfaces"


def told(made: Run) -> list[Caveat]:
    return [caveat for caveat in analyse(made).caveats if caveat.code == "not-observed"]


@pytest.mark.parametrize("made", [run(Way()), index_run()], ids=["all was seen", "no other host"])
def test_where_nothing_is_missing_nothing_is_said(made: Run) -> None:
    assert told(made) == []


@pytest.mark.parametrize(
    ("way", "missing"),
    [
        (Way(sockets=False), "its connections"),
        (Way(route=None), "the interface that leads there"),
        (Way(interface=False), "what interfaces carried"),
        (
            Way(sockets=False, route=None, interface=False),
            "its connections, the interface that leads there, what interfaces carried",
        ),
    ],
)
def test_each_observer_that_told_nothing_is_named(way: Way, missing: str) -> None:
    text = f"not seen of the way to weights: {missing}; its limit may stay unknown"
    assert told(run(way)) == [Caveat("not-observed", text, LINUX, "weights")]


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (TEXT, "reach nas at an address of its own, not by way of this host"),
        (TEXT.replace("{address: 10.0.0.2}", "{}"), "state the `address` of nas under `hosts`"),
    ],
)
def test_a_server_of_unknown_address_is_to_be_named(text: str, remedy: str) -> None:
    made = run(Way(sockets=False, route=None, text=text))
    places = tuple(replace(each, endpoint=None) for each in made.reached)
    (caveat,) = told(replace(made, reached=places))
    assert caveat.remedy == remedy


def test_the_hop_bears_it_too() -> None:
    (hop,) = analyse(run(Way(sockets=False))).hops
    assert [caveat.code for caveat in hop.caveats] == ["stand-in", "not-observed"]
