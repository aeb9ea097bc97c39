"""Where each place is, from what the file says of hosts, links and URLs."""

from __future__ import annotations

import pytest

from pathtrace.model.scenario import Host
from tests.unit.scenario.example import FLOWS, PLACES, read, text_of


def host(name: str, addresses: tuple[str, ...] = (), here: bool = False) -> Host:
    return Host(name, addresses, None, None, None, None, here)


def test_without_hosts_everything_is_at_the_workstation() -> None:
    scenario = read(text_of())
    assert scenario.hosts == (host("workstation", here=True),)
    assert {place.host for place in scenario.places} == {"workstation"}


def test_the_host_that_says_so_runs_pathtrace() -> None:
    scenario = read(text_of("hosts: {nas: {}, box: {here: true}}\n"))
    assert scenario.hosts == (host("nas"), host("box", here=True))
    assert scenario.here.name == "box"
    assert {place.host for place in scenario.places} == {"box"}


def test_a_declared_workstation_is_the_host_that_runs_pathtrace() -> None:
    assert read(text_of("hosts: {workstation: {memory: 32 GiB}}\n")).here.memory_bytes == 32 * 2**30


def test_links_and_places_may_name_hosts_where_none_are_declared() -> None:
    places = PLACES.replace("path: /srv/archive", "path: /srv/archive, host: nas")
    scenario = read(text_of("links: {lan: {hosts: [switch, nas]}}\n", places))
    assert [host.name for host in scenario.hosts] == ["workstation", "switch", "nas"]
    assert scenario.place("archive").host == "nas"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:1", "workstation"),
        ("http://127.0.0.1", "workstation"),
        ("http://[::1]:8080/v1", "workstation"),
        ("http://gpu.lan:8080", "gpu"),
        ("http://10.0.0.7", "gpu"),
        ("http://GPU", "gpu"),
        ("http://my-desk", "workstation"),
        ("http://other.lan", "other.lan"),
    ],
)
def test_a_url_tells_where_a_place_is(url: str, expected: str) -> None:
    hosts = "hosts: {gpu: {address: [gpu.lan, 10.0.0.7]}, workstation: {address: my-desk}}\n"
    places = PLACES.replace("http://localhost:8080", url)
    scenario = read(text_of(hosts, places, FLOWS))
    assert scenario.place("model").host == expected
    assert expected in [known.name for known in scenario.hosts]


def test_a_stated_host_wins_over_the_url() -> None:
    places = PLACES.replace('"http://localhost:8080"', '"http://localhost:8080", host: gpu')
    assert read(text_of("hosts: {gpu: {}}\n", places)).place("model").host == "gpu"
