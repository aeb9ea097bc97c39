"""Which stand-ins the figures of a hop rest on: what works on it, or what moves along it, is made up."""

from __future__ import annotations

from collections.abc import Iterator

from pathtrace.model.scenario import DatabaseSpec, Scenario


def stand_ins(scenario: Scenario, flow: str, hop: str) -> tuple[str, ...]:
    """Names of places, in the scenario's order; none if all that the hop does is real."""
    source, _, destination = hop.partition("->")
    names = {source, destination, *_made_up_content(scenario, flow, source)}
    return tuple(place.name for place in scenario.places if place.stand_in and place.name in names)


def _made_up_content(scenario: Scenario, flow: str, source: str) -> Iterator[str]:
    """Where the rows come from that are searched: a database that a flow begins with holds what others
    brought, unless a query of the user's searches the user's own."""
    spec = scenario.place(source).spec
    begins = any(each.name == flow and each.path[0] == source for each in scenario.flows)
    if begins and isinstance(spec, DatabaseSpec) and spec.query is None:
        yield from (each.path[0] for each in scenario.flows if each.path[-1] == source)
