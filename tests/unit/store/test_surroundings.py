from __future__ import annotations

from typing import Any

import pytest

from pathtrace.store.surroundings import surroundings
from tests.unit.store.nights import facts, host

LAN = "link lan"


def seen(**changed: Any) -> dict[str, str]:
    return dict(surroundings(facts(1) | changed))


def with_card(**changed: Any) -> dict[str, Any]:
    workstation = host("workstation", "Linux 6.12", 312_500_000.0)
    workstation["interfaces"] = [workstation["interfaces"][0] | changed]
    return {"hosts": [workstation], "python": "3.12.1", "pathtrace": "0.1.0"}


@pytest.mark.parametrize(
    ("card", "value"),
    [
        ({}, "2.5 Gbit/s"),
        ({"speed_bytes_per_s": 125_000_000.0}, "1 Gbit/s"),
        ({"speed_bytes_per_s": 12_500_000.0, "duplex": "half"}, "100 Mbit/s, half duplex"),
        ({"up": False}, "down"),
        ({"speed_bytes_per_s": None}, None),
    ],
)
def test_a_link_is_what_the_card_that_the_route_takes_says(card: dict[str, Any], value: str | None) -> None:
    assert seen(environment=with_card(**card)).get(LAN) == value


def test_a_link_that_nobody_declared_is_named_by_its_ends() -> None:
    scenario = facts(1)["scenario"] | {"links": []}
    assert seen(scenario=scenario)["link nas-workstation"] == "2.5 Gbit/s"


def test_another_host_that_was_asked_is_seen_too() -> None:
    nas = host("nas", "Linux 5.10", 1_250_000_000.0) | {"cpu": None, "cores": 0, "memory_bytes": 0}
    environment = facts(1)["environment"]
    environment["hosts"].append(nas)
    found = seen(environment=environment)
    assert {what: value for what, value in found.items() if what.endswith(" of nas")} == {
        "address of nas": "192.168.1.10",
        "interface eth0 of nas": "10 Gbit/s",
        "kernel of nas": "Linux 5.10",
        "largest packet of interface eth0 of nas": "1500 B",
    }


def test_a_way_through_a_tunnel_and_what_passes_it_are_seen() -> None:
    route = {"host": "nas", "interface": "wg0", "address": "10.0.0.2", "gateway": "10.0.0.1"}
    found = seen(
        routes=[route | {"interface_kind": "tunnel"}], paths=[{"host": "nas", "path_mtu_bytes": 1420}]
    )
    assert found["way to nas"] == "wg0 (a tunnel) by 10.0.0.1"
    assert found["largest packet to nas"] == "1420 B"
    assert found["interface eth0 of workstation"] == "2.5 Gbit/s"


def test_virtual_interfaces_and_those_that_are_down_are_nothing_to_tell() -> None:
    environment = with_card()
    card = environment["hosts"][0]["interfaces"][0]
    environment["hosts"][0]["interfaces"] += [
        card | {"name": "veth1", "kind": "veth"},
        card | {"name": "wlan0", "kind": "wifi", "up": False},
    ]
    assert not [what for what in seen(environment=environment) if "veth1" in what or "wlan0" in what]


def test_servers_mounts_and_their_options_are_seen() -> None:
    mount = {"fstype": "nfs4", "device": "nas:/export", "options": ["vers=4.2", "rsize=1048576"]}
    reached = [
        {"place": "archive", "facts": None, "identity": "nfsd 4.2", "mount": mount, "far_mount": mount}
    ]
    found = seen(reached=reached)
    assert {what: value for what, value in found.items() if what.endswith(" of archive")} == {
        "far mount of archive": "nfs4, nas:/export",
        "far mount options of archive": "rsize=1048576, vers=4.2",
        "mount of archive": "nfs4, nas:/export",
        "mount options of archive": "rsize=1048576, vers=4.2",
        "server of archive": "nfsd 4.2",
        "whereabouts of archive": "/mnt/archive",
    }


@pytest.mark.parametrize("broken", [{}, {"environment": 3}, {"scenario": []}, {"reached": [3]}])
def test_facts_of_any_shape_are_survived(broken: dict[str, Any]) -> None:
    assert isinstance(surroundings(broken), tuple)
