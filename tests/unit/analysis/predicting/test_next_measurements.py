"""What is not known is told with a command that closes it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pathtrace.analysis.evidence import Evidence
from pathtrace.analysis.predicting.next_measurements import crossing_told, disk_told, link_told, trip_told
from pathtrace.model.scenario import Action
from tests.unit.analysis import far
from tests.unit.analysis.predicting.test_prediction import indexed

THERE = far.TEXT.replace('x.bin"}', 'x.bin", there: /models/x.bin}')
SSH = "{address: 10.0.0.2, ssh: me@nas}"


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        (far.TEXT, "`ssh:` of host nas and `there:` of weights"),
        (THERE, "`ssh:` of host nas"),
        (THERE.replace("{address: 10.0.0.2}", SSH), "an `ssh:` of host nas that answers"),
    ],
)
def test_a_disk_on_another_host_takes_what_the_scenario_lacks_to_look_at_it(text: str, needs: str) -> None:
    evidence = Evidence(far.run(far.Way(text=text)))
    assert disk_told("weights", Action.READ, evidence) == (
        f"pathtrace run SCENARIO, with {needs}, or --set disk:weights=…"
    )


def test_a_disk_of_this_host_is_probed_by_a_run_if_it_is_read_from() -> None:
    evidence = Evidence(indexed((1, 1, 1)))
    assert disk_told("archive", Action.READ, evidence) == (
        "pathtrace run SCENARIO, without --no-probes, or --set disk:archive=… from its data sheet"
    )
    assert disk_told("library", Action.INSERT, evidence) == "--set disk:library=… from its data sheet"


def test_a_link_takes_a_responder_and_then_counted_connections() -> None:
    responder = "pathtrace run SCENARIO, with `responder:` of host nas and `pathtrace respond` there"
    bare = Evidence(far.run(far.Way(links="{}", ceilings=())))
    assert crossing_told("weights", bare) == link_told("weights", bare) == responder
    assert crossing_told("weights", Evidence(far.run(far.Way()))) == (
        "pathtrace run SCENARIO, on Linux with `address:` of host nas: connections are then counted"
    )


def test_a_round_trip_takes_an_address_and_probes() -> None:
    run = far.run(far.Way())
    assert trip_told("weights", Evidence(run)) == "pathtrace run SCENARIO, without --no-probes"
    nowhere = tuple(replace(host, addresses=()) for host in run.scenario.hosts)
    run = replace(run, scenario=replace(run.scenario, hosts=nowhere))
    assert trip_told("weights", Evidence(run)) == "pathtrace run SCENARIO, with `address:` of host nas"
