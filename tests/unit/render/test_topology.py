from dataclasses import replace

from pathtrace.model.scenario import Link
from pathtrace.render.topology import drawn_hops, link_between
from tests.unit.render import example


def test_every_hop_of_every_flow_is_drawn_in_order() -> None:
    assert [(drawn.flow.name, drawn.hop.name) for drawn in drawn_hops(example.SCENARIO, None)] == [
        ("load", "weights->model"),
        ("index", "archive->indexer"),
        ("index", "indexer->library"),
        ("answer", "library->model"),
        ("answer", "model->people"),
    ]


def test_a_hop_between_hosts_names_the_link() -> None:
    archive, indexer = example.SCENARIO.place("archive"), example.SCENARIO.place("indexer")
    assert link_between(example.SCENARIO, archive, indexer) == "lan 1 Gbit/s"
    assert link_between(example.SCENARIO, indexer, indexer) is None


def test_several_links_are_all_named_and_an_undeclared_one_says_so() -> None:
    archive, indexer = example.SCENARIO.place("archive"), example.SCENARIO.place("indexer")
    wifi = Link("wifi", ("workstation", "nas"), None, None, "wifi")
    two = replace(example.SCENARIO, links=(*example.SCENARIO.links, wifi))
    assert link_between(two, archive, indexer) == "lan 1 Gbit/s or wifi"
    none = replace(example.SCENARIO, links=())
    assert link_between(none, archive, indexer) == "nas-workstation (link not declared)"


def test_a_tunnel_that_carried_the_bytes_is_called_one() -> None:
    hop = example.ARCHIVE_INDEXER
    assert hop.wire is not None
    wire = replace(hop.wire, interface="tailscale0", interface_kind="tunnel")
    report = replace(example.REPORT, hops=(replace(hop, wire=wire),))
    drawn = drawn_hops(example.SCENARIO, report)[1]
    assert drawn.labels()[0] == "lan 1 Gbit/s by tailscale0 (a tunnel) · read"


def test_labels_say_way_and_work_then_figures() -> None:
    drawn = drawn_hops(example.SCENARIO, example.REPORT)[1]
    assert drawn.labels() == (
        "lan 1 Gbit/s by eth0 · read",
        "30.9 MB/s ±2.7 % · 1.19 GiB in 41.2 s",
        "limited by cpu:indexer",
    )
