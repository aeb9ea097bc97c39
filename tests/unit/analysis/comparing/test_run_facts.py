from dataclasses import replace

from pathtrace.analysis.comparing.run_facts import Fact, setup_facts, workload_facts
from pathtrace.model.run import Interface
from tests.unit.analysis.builders import scenario
from tests.unit.analysis.compared import BEFORE_TEXT, facts, run


def test_the_card_that_the_route_leads_through_belongs_to_the_link() -> None:
    found = setup_facts(run())
    assert found["workstation.interface.eth0.speed"] == Fact(
        "1 Gbit/s", "lan", ("workstation", "eth0", "lan")
    )
    assert found["lan.speed"] == Fact("1 Gbit/s", "lan", (), True, True)


def test_a_virtual_interface_that_nothing_goes_through_does_not_matter() -> None:
    bridge = Interface("docker0", None, 1500, True, kind="bridge")
    card = Interface("eth9", 1.25e8, 1500, True, kind="ethernet")
    there = replace(facts(), interfaces=(bridge, card))
    found = setup_facts(run(hosts=(there,)))
    assert found["workstation.interface.docker0.mtu_bytes"].matters is False
    assert found["workstation.interface.eth9.mtu_bytes"] == Fact(
        "1500 B", "interface eth9 of workstation", ("workstation", "eth9")
    )


def test_a_mount_s_ends_are_the_link_s_and_its_protocol_the_place_s() -> None:
    found = setup_facts(run())
    assert found["archive.mount.server"].cause == "lan"
    assert found["archive.mount.fstype"].cause == "archive"


def test_an_undeclared_link_is_named_by_its_hosts() -> None:
    text = BEFORE_TEXT.replace("links:\n  lan: {hosts: [nas, workstation], speed: 1 Gbit/s}\n", "")
    assert setup_facts(run(text))["nas.route.interface"].cause == "link:nas-workstation"


def test_run_control_that_only_says_how_long_to_look_does_not_matter() -> None:
    found = setup_facts(run())
    harmless = {what for what, fact in found.items() if what.startswith("control.") and not fact.matters}
    assert harmless == {
        f"control.{key}"
        for key in ("repeats", "budget_bytes", "budget_s", "lifetime_s", "expect", "checks", "claims")
    }


def test_the_workload_s_facts_are_what_its_fingerprint_covers() -> None:
    found = workload_facts(scenario(BEFORE_TEXT))
    assert found["workload.model.precision"].value == "4-bit"
    assert found["library.batch"].value == "100"
    assert found["flows.index.path"].value == "archive, indexer, library"
    assert "archive.path" not in found
