from __future__ import annotations

from pathlib import Path

import pytest

from pathtrace.observers.interface_facts import _kind, interfaces, pcie
from pathtrace.observers.links import Link
from tests.unit.observers.namespace import available, evaluated_inside, namespace


def link(name: str, hardware: int, kind: str | None = None, number: int = 5) -> Link:
    return Link(name, number, hardware, True, 1500, kind, 0, None, None)


def test_loopback_has_addresses_and_no_speed() -> None:
    (loopback,) = [each for each in interfaces() if each.kind == "loopback"]
    assert "127.0.0.1" in loopback.addresses
    assert (loopback.speed_bytes_per_s, loopback.up, loopback.pcie_bytes_per_s) == (None, True, None)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (link("lo", 772), "loopback"),
        (link("eth0", 1), "ethernet"),
        (link("tailscale0", 65534, "tun"), "tunnel"),
        (link("wg0", 65534, "wireguard"), "tunnel"),
        (link("ppp0", 512), "tunnel"),
        (link("br0", 1, "bridge"), "bridge"),
        (link("veth1", 1, "veth"), "veth"),
        (link("mon0", 803), "wifi"),
        (link("ib0", 32), None),
    ],
)
def test_an_interface_is_of_a_kind(given: Link, kind: str | None, tmp_path: Path) -> None:
    assert _kind(given, str(tmp_path / "device"), str(tmp_path)) == kind


@pytest.mark.parametrize(("number", "kind"), [(5, "wifi"), (6, "ethernet")])
def test_sysfs_is_believed_of_an_interface_with_the_same_number(
    number: int, kind: str, tmp_path: Path
) -> None:
    folder = tmp_path / "class" / "net" / "wlan0"
    (folder / "phy80211").mkdir(parents=True)
    (folder / "ifindex").write_text("5\n")
    assert _kind(link("wlan0", 1, number=number), str(tmp_path / "none"), str(tmp_path)) == kind


def slot(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text + "\n")
    return folder


def test_a_card_in_a_slot_with_fewer_lanes_could_not_be_faster(tmp_path: Path) -> None:
    port = slot(tmp_path / "port", max_link_speed="16.0 GT/s PCIe", max_link_width="4")
    card = slot(
        port / "card",
        current_link_speed="8.0 GT/s PCIe",
        current_link_width="1",
        max_link_speed="8.0 GT/s PCIe",
        max_link_width="8",
    )
    now, best = pcie(str(card))
    assert now == pytest.approx(8e9 * 128 / 130 / 8)
    assert best == pytest.approx(4 * 8e9 * 128 / 130 / 8)


def test_older_lanes_carry_eight_of_ten_bits(tmp_path: Path) -> None:
    card = slot(tmp_path / "card", current_link_speed="5.0 GT/s PCIe", current_link_width="4")
    assert pcie(str(card)) == (2e9, None)


@pytest.mark.parametrize("speed", ["Unknown", "", "255 lightyears"])
def test_a_slot_that_does_not_know_its_speed_has_none(speed: str, tmp_path: Path) -> None:
    card = slot(tmp_path / "card", current_link_speed=speed, current_link_width="0")
    assert pcie(str(card)) == (None, None)


@pytest.mark.needs_root
def test_another_network_namespace_is_described_by_its_own_kernel_objects() -> None:
    if not available():
        pytest.skip("needs root and network namespaces")
    source = (
        "from pathtrace.observers.interface_facts import interfaces\n"
        "result = {i.name: (i.kind, i.driver, i.mtu_bytes, i.addresses[:1], i.speed_bytes_per_s, i.duplex)"
        " for i in interfaces()}"
    )
    with namespace() as name:
        found = evaluated_inside(name, source)

    assert isinstance(found, dict)
    assert [*found] == ["lo", *sorted(set(found) - {"lo"}, key=[*found].index)]
    assert found["ptobs0"] == ("veth", "veth", 9000, ("10.79.0.1",), 1.25e9, "full")
    assert found["ptobstun"][:2] == ("tunnel", "tun")
    assert found["ptobstun"][4] is None
    assert found["ptobsbr"][0] == "bridge"
