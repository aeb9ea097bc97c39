from __future__ import annotations

from dataclasses import replace

import pytest

from pathtrace.analysis import analyse
from pathtrace.model.network import Route
from pathtrace.model.run import Interface
from tests.unit.analysis.builders import MB
from tests.unit.analysis.far import Way, first_hop, found, line, report, run

TEN = "{lan: {hosts: [nas, workstation], speed: 10 Gbit/s}}"
GIGABIT = 125 * MB
SLOW = Way(took_ms=900, links=TEN, ceilings=line(11.77 * MB))


def card(speed: float | None, **more: object) -> Interface:
    plain = Interface("eth0", speed, 1500, True, "full", "ethernet", "ixgbe", ("10.0.0.1",))
    return replace(plain, **more)  # type: ignore[arg-type]  # fields by name


def test_a_link_far_below_its_declared_speed_is_the_first_line_of_the_verdict() -> None:
    got = report(replace(SLOW, interfaces=(card(GIGABIT / 10),)))
    assert got.verdict.lines[0].startswith(
        "lan carries 94.2 Mbit/s of 10 Gbit/s declared; find out why before buying anything: cable, port, "
        "negotiated speed (free)"
    )
    (finding,) = [each for each in got.findings if each.code == "slow-link"]
    assert "nas->workstation: 94.2 Mbit/s (measured)" in finding.evidence
    assert "eth0 negotiated 100 Mbit/s: cable, port or setting at either end" in finding.evidence
    assert got.hops[0].limited_by.resource == "link:lan"
    assert got.ranking[0].advice.startswith("find why lan carries 94.2 Mbit/s of 10 Gbit/s")
    assert got.ranking[0].free


def test_a_link_near_its_speed_is_no_finding() -> None:
    assert found(Way(took_ms=89), "slow-link") == []
    assert found(replace(SLOW, ceilings=line(900 * MB)), "slow-link") == []


def test_a_negotiated_speed_far_below_the_declared_one_is_enough() -> None:
    assert found(replace(SLOW, ceilings=(), interfaces=(card(GIGABIT / 10),)), "slow-link")


def test_the_made_up_speed_of_a_virtual_interface_means_nothing() -> None:
    way = replace(SLOW, ceilings=(), interfaces=(card(GIGABIT / 10, kind="veth", driver="veth"),))
    assert found(way, "slow-link") == []


def test_wireless_links_may_be_further_below_what_is_printed_on_them() -> None:
    wifi = TEN.replace("speed: 10 Gbit/s", "speed: 1 Gbit/s, kind: wifi")
    assert found(replace(SLOW, links=wifi, ceilings=line(60 * MB)), "slow-link") == []
    assert found(replace(SLOW, links=wifi, ceilings=line(30 * MB)), "slow-link")


def test_half_duplex_and_a_narrow_slot_are_said() -> None:
    slot = card(10 * GIGABIT, duplex="half", pcie_bytes_per_s=500 * MB, pcie_best_bytes_per_s=4000 * MB)
    (finding,) = found(replace(SLOW, ceilings=line(400 * MB), interfaces=(slot,)), "slow-link")
    assert "eth0 runs half duplex" in finding.evidence
    assert "the slot of eth0 carries 4 Gbit/s of 32 Gbit/s" in finding.evidence


def test_a_route_through_a_tunnel_is_named_with_the_interface() -> None:
    tunnel = Interface("wg0", None, 1420, True, None, "tunnel", None, ("10.9.0.1",))
    way = Way(took_ms=89, route="wg0", carried_by="wg0", interfaces=(tunnel, card(GIGABIT)))
    (finding,) = found(way, "other-interface")
    assert finding.text == "what goes to nas is carried by wg0, a tunnel, not by lan"
    assert finding.evidence == ("the route to 10.0.0.2 by wg0", "eth0: 10.0.0.1")
    assert report(way).verdict.lines[0].startswith("what goes to nas is carried by wg0")


def test_the_route_alone_tells_that_it_leads_through_a_tunnel() -> None:
    made = run(Way(took_ms=89, route="tailscale0", carried_by="tailscale0"))
    routes = tuple(replace(route, interface_kind="tunnel") for route in made.routes)
    lines = analyse(replace(made, routes=routes)).verdict.lines
    assert lines[0].startswith(
        "what goes to nas is carried by tailscale0, a tunnel, not by lan; mend the route"
    )


def test_a_report_says_that_a_tunnel_carried_the_bytes() -> None:
    tunnel = Interface("wg0", None, 1420, True, None, "tunnel", None, ("10.9.0.1",))
    wire = first_hop(Way(took_ms=89, route="wg0", carried_by="wg0", interfaces=(tunnel,))).wire
    assert wire is not None
    assert (wire.interface, wire.interface_kind) == ("wg0", "tunnel")


def test_bytes_outside_the_tunnel_that_the_route_leads_through_are_seen_there() -> None:
    made = run(Way(took_ms=89, carried_by="eth1"))
    routes = tuple(replace(route, interface_kind="tunnel") for route in made.routes)
    texts = [each.text for each in analyse(replace(made, routes=routes)).findings]
    assert any(text.endswith("though the route to nas leads by eth0 (a tunnel)") for text in texts)


def test_a_tunnel_that_was_declared_as_one_is_no_surprise() -> None:
    tunnel = Interface("wg0", None, 1420, True, None, "tunnel", None, ())
    links = "{lan: {hosts: [nas, workstation], speed: 1 Gbit/s, kind: tunnel}}"
    assert (
        found(Way(route="wg0", carried_by="wg0", interfaces=(tunnel,), links=links), "other-interface") == []
    )


def test_bytes_on_another_interface_than_the_routes_are_seen_there() -> None:
    way = Way(took_ms=89, carried_by="eth1")
    (finding,) = found(way, "other-interface")
    assert finding.text == "eth1 carried the bytes of weights, though the route to nas leads by eth0"
    assert first_hop(way).limited_by.resource == "link:lan"
    assert found(Way(took_ms=89), "other-interface") == []


def test_of_several_links_the_one_of_the_routes_interface_serves() -> None:
    links = (
        "{slow: {hosts: [nas, workstation], speed: 1 Gbit/s}, "
        "fast: {hosts: [nas, workstation], speed: 10 Gbit/s}}"
    )
    way = Way(took_ms=89, links=links, ceilings=())
    assert first_hop(way).limited_by.resource == "link:slow"
    faster = replace(way, took_ms=9, interfaces=(card(10 * GIGABIT),))
    assert first_hop(faster).limited_by.resource == "link:fast"


@pytest.mark.parametrize(("top", "interfaces"), [(5500 * MB, ()), (200 * MB, (card(GIGABIT),))])
def test_a_measurement_above_what_a_link_can_carry_is_refused_and_says_why(
    top: float, interfaces: tuple[Interface, ...]
) -> None:
    links = TEN.replace("10 Gbit/s", "32 Gbit/s")
    way = Way(took_ms=89, links=links, ceilings=line(top), interfaces=interfaces)
    refused = found(way, "impossible")
    assert refused
    assert all("cannot be" in finding.text for finding in refused)


def test_a_measurement_within_it_is_not_refused() -> None:
    assert found(Way(took_ms=89), "impossible") == []


def test_each_direction_of_a_link_is_a_resource_with_its_own_use() -> None:
    links = [each for each in report(Way(took_ms=89)).resources if each.name == "link:lan"]
    assert [(each.direction, each.ceiling_source) for each in links] == [
        ("nas->workstation", "measured"),
        ("workstation->nas", "measured"),
    ]
    assert links[0].utilisation == pytest.approx(0.95, abs=0.02)
    assert links[1].utilisation == pytest.approx(0.0, abs=0.01)


def test_another_address_of_the_host_by_another_interface_is_said_beside_a_slow_link() -> None:
    made = run(SLOW)
    other = Route("nas", "10.1.0.2", "eth1", "10.1.0.1", None, 1500)
    got = analyse(replace(made, routes=(*made.routes, other)))
    (finding,) = [each for each in got.findings if each.code == "slow-link"]
    assert finding.evidence[-1] == "10.1.0.2 of nas would be reached by eth1"


def test_a_link_that_idles_is_said_to_be_no_purchase() -> None:
    way = Way(took_ms=8, each=16_384, blocks=500, rtt_s=0.002, requests=4)
    lines = report(way).verdict.lines
    assert any("a faster one would change next to nothing" in line for line in lines)


def test_a_slow_link_that_holds_nobody_stays_out_of_the_verdict() -> None:
    way = Way(took_ms=8, each=16_384, blocks=500, rtt_s=0.002, requests=4, links=TEN)
    got = report(way)
    assert "slow-link" in [finding.code for finding in got.findings]
    assert not any("carries 942" in line for line in got.verdict.lines)


def test_what_was_seen_to_cross_counts_where_others_held_the_link_when_it_was_measured() -> None:
    way = Way(took_ms=170, others=1.0, links=TEN, ceilings=line(62 * MB))
    (finding,) = found(way, "slow-link")
    assert finding.text == "lan carries 941 Mbit/s of 10 Gbit/s declared"
