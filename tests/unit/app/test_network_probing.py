"""Which links a scenario's hops need, and what is done about one that nobody can measure."""

from __future__ import annotations

import asyncio
import time

import pytest

from pathtrace.app import network_probing
from pathtrace.app.far_probing import unless_link
from pathtrace.app.network_probing import LinkUse, NetworkProbes, links_both_ways, links_needed
from pathtrace.model.network import Endpoint, Route
from pathtrace.model.run import Ceiling, HostFacts, Interface
from pathtrace.probes.responder_client import Way
from pathtrace.replay.stop import StopRequest
from tests.replay.virtual import FakePlace
from tests.unit.probes.responders import TOKEN, listening
from tests.unit.scenario.example import PLACES, Scenario, read, text_of

FAR = PLACES.replace("path: /srv/archive", 'url: "smb://nas/archive"').replace(
    '"sqlite://"', '"postgresql://db/lab"'
)
HOSTS = "hosts: {nas: {address: 192.0.2.10}, db: {address: 192.0.2.30}, workstation: {}}\n"
LINKS = "links: {lan: {hosts: [nas, db, workstation], speed: 10GbE}}\n"
TO_NAS = LinkUse("nas", Way.TO_HERE)


def test_each_link_is_needed_once_in_the_direction_of_the_bytes() -> None:
    scenario = read(text_of(HOSTS, FAR))
    places = {place.name: FakePlace(lambda: 0) for place in scenario.places}
    assert set(links_needed(scenario, places)) == {
        TO_NAS,
        LinkUse("db", Way.TO_THERE),
        LinkUse("db", Way.TO_HERE),
    }


def test_a_flow_that_cannot_run_needs_none_and_questions_are_too_small_to_fill_one() -> None:
    scenario = read(text_of(HOSTS, FAR))
    without = {place.name: FakePlace(lambda: 0) for place in scenario.places if place.name != "library"}
    assert links_needed(scenario, without) == ()
    model = PLACES.replace("http://localhost:8080", "http://nas:8080")
    scenario = read(text_of(HOSTS, model))
    everything = {place.name: FakePlace(lambda: 0) for place in scenario.places}
    assert links_needed(scenario, everything) == ()


def test_who_looks_at_links_alone_sees_both_directions() -> None:
    scenario = read(text_of(HOSTS, PLACES.replace("path: /srv/archive", 'url: "smb://nas/archive"')))
    places = {place.name: FakePlace(lambda: 0) for place in scenario.places}
    assert links_needed(scenario, places) == (TO_NAS,)
    assert links_both_ways(scenario, places) == (TO_NAS, LinkUse("nas", Way.TO_THERE))


def probes(scenario: Scenario, port: int, token: str | None, speed: float | None) -> NetworkProbes:
    lo = Interface("lo", speed, 1500, up=True, duplex="full")
    here = HostFacts("workstation", None, 2, 1, None, "Linux", (), (), (lo,), ())
    endpoint = Endpoint("nas", "127.0.0.1", port)
    route = Route("nas", "127.0.0.1", "lo", None, None, 1500)
    return NetworkProbes(
        scenario, {"archive": endpoint}, (route,), {"workstation": here}, token, time.perf_counter_ns
    )


def test_a_responder_there_measures_the_link(monkeypatch: pytest.MonkeyPatch) -> None:
    class Short(network_probing.LinkProbe):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, length_s=0.05, warmup_s=0.01, streams=(1,))  # type: ignore[arg-type]

    monkeypatch.setattr(network_probing, "LinkProbe", Short)
    with listening() as there:
        hosts = HOSTS.replace("192.0.2.10", f"127.0.0.1, responder: '{there.address}'")
        scenario = read(text_of(hosts + LINKS, FAR))
        found = asyncio.run(probes(scenario, 9, TOKEN, None).measure((TO_NAS,), StopRequest()))
    (link,) = found.ceilings
    assert (link.resource, link.direction, link.source) == ("link:lan", "nas->workstation", "measured")
    assert found.caveats == ()
    assert [path.host for path in found.paths] == ["nas"]


def test_without_a_responder_the_negotiated_speed_is_taken_and_a_caveat_says_so() -> None:
    scenario = read(text_of(HOSTS, FAR))
    found = asyncio.run(probes(scenario, 9, None, 125e6).measure((TO_NAS,), StopRequest()))
    (link,) = found.ceilings
    assert (link.resource, link.direction, link.source) == (
        "link:nas-workstation",
        "nas->workstation",
        "computed",
    )
    assert link.bytes_per_s == pytest.approx(117.687e6, rel=1e-4)
    (caveat,) = found.caveats
    assert (caveat.code, caveat.subject) == ("link-not-measured", "link:nas-workstation")


def test_where_no_speed_is_known_either_there_is_no_ceiling_and_both_directions_share_a_caveat() -> None:
    scenario = read(text_of(HOSTS, FAR))
    both = (TO_NAS, LinkUse("nas", Way.TO_THERE))
    found = asyncio.run(probes(scenario, 9, None, None).measure(both, StopRequest()))
    assert (found.ceilings, len(found.caveats)) == ((), 1)


def test_a_server_that_filled_the_link_has_shown_no_ceiling_of_its_own() -> None:
    link = Ceiling("link:lan", 117e6, None, None, "measured", "", 1.0, "nas->workstation")
    full = Ceiling("server:archive", 112e6, 107.0, None, "measured", "5 times", 1.0)
    slower = Ceiling("server:archive", 60e6, 57.0, None, "measured", "5 times", 1.0)
    assert unless_link(slower, [link]) == slower
    found = unless_link(full, [link])
    assert (found.bytes_per_s, found.operations_per_s) == (None, None)
    assert found.evidence == "at least 896 Mbit/s (112 MB/s): link:lan was full; 5 times"
