"""Where places really are: by their mount, by their URL, by the addresses of their host."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from pathtrace.app import locating
from pathtrace.model.network import Endpoint
from pathtrace.model.run import Mount, Reached
from pathtrace.model.scenario import Host, Scenario
from tests.replay.virtual import FakePlace
from tests.unit.scenario.example import PLACES, read, text_of

HOSTS = "hosts: {nas: {address: [nas.lan, 192.0.2.10]}, db: {address: 192.0.2.30}, workstation: {}}\n"


def mounted(server: str | None) -> Mount:
    return Mount("/srv/archive", "//somewhere/archive", "cifs", None, True, server=server, there="archive")


@pytest.fixture
def mount(monkeypatch: pytest.MonkeyPatch) -> list[Mount | None]:
    """What lies under every path: the only entry of the list."""
    found: list[Mount | None] = [None]
    monkeypatch.setattr(locating, "mount_of", lambda path: found[0])
    return found


def place_of(scenario: Scenario, name: str = "archive") -> str:
    return asyncio.run(locating.located(scenario)).place(name).host


@pytest.mark.parametrize("server", ["nas", "NAS.lan", "192.0.2.10"])
def test_a_path_on_a_mount_is_on_the_host_that_the_mount_names(
    server: str, mount: list[Mount | None]
) -> None:
    mount[0] = mounted(server)
    assert place_of(read(text_of(HOSTS))) == "nas"


def test_a_server_that_the_scenario_does_not_know_becomes_a_host(mount: list[Mount | None]) -> None:
    mount[0] = mounted("filer")
    found = asyncio.run(locating.located(read(text_of(HOSTS))))
    assert found.place("archive").host == "filer"
    assert found.host("filer") == Host("filer", ("filer",), None, None, None, None, False)


def test_what_the_scenario_says_of_a_place_s_host_counts_more(mount: list[Mount | None]) -> None:
    mount[0] = mounted("nas")
    places = PLACES.replace("path: /srv/archive", "path: /srv/archive, host: db")
    assert place_of(read(text_of(HOSTS, places))) == "db"


@pytest.mark.parametrize("found", [None, mounted(None), mounted("workstation")])
def test_a_place_stays_here_without_a_mount_of_another_host(
    found: Mount | None, mount: list[Mount | None]
) -> None:
    mount[0] = found
    scenario = read(text_of(HOSTS))
    assert asyncio.run(locating.located(scenario)) == scenario


def reached_at(text: str, found: Reached) -> dict[str, Endpoint]:
    place = FakePlace(lambda: 0)
    return asyncio.run(locating.endpoints(read(text), {found.place: place}, [found]))


@pytest.mark.parametrize(
    ("url", "port"),
    [
        ("smb://192.0.2.10/archive", 445),
        ("sftp://192.0.2.10:2222/archive", 2222),
        ("smb://nas/archive", 445),  # a name that only the scenario knows
    ],
)
def test_a_url_s_server_is_an_address_and_a_port(url: str, port: int) -> None:
    hosts = HOSTS.replace("[nas.lan, 192.0.2.10]", "192.0.2.10")
    text = text_of(hosts, PLACES.replace("path: /srv/archive", f'url: "{url}"'))
    found = reached_at(text, Reached("archive", None, None, None, None))
    assert found == {"archive": Endpoint("nas", "192.0.2.10", port)}


def test_a_mount_s_server_has_no_port_of_its_own() -> None:
    text = text_of(HOSTS, PLACES.replace("path: /srv/archive", "path: /srv/archive, host: nas"))
    found = reached_at(text, Reached("archive", None, None, mounted("192.0.2.10"), None))
    assert found == {"archive": Endpoint("nas", "192.0.2.10", None)}


def test_what_is_here_or_could_not_be_used_has_no_endpoint() -> None:
    here = Reached("archive", None, None, None, None)
    assert reached_at(text_of(HOSTS), here) == {}
    text = text_of(HOSTS, PLACES.replace("path: /srv/archive", 'url: "smb://nas/archive"'))
    assert reached_at(text, replace(here, fault="refused")) == {}


def test_a_name_that_nobody_knows_has_no_address() -> None:
    assert asyncio.run(locating.resolve("no-such-host.invalid")) is None
    assert asyncio.run(locating.resolve("192.0.2.7")) == "192.0.2.7"
