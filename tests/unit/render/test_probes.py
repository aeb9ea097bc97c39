"""What each resource does alone reads well, and its document has the keys that it always had."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Group

from pathtrace.model.network import PathFacts, PathHop
from pathtrace.model.probe import Probed, ProbeReport
from pathtrace.model.report import Caveat
from pathtrace.model.run import Ceiling, Reached
from pathtrace.render.probes import probe_document, probe_view
from pathtrace.render.ways import ways_view
from tests.golden import assert_golden
from tests.unit.render import example
from tests.unit.render.drawn import drawn
from tests.unit.render.test_json_document import keys_of

GOLDEN = Path(__file__).parent / "golden"
LINK = Ceiling(
    "link:lan", 117_687_500.0, None, 0.0003, "measured", "4 streams 941 Mbit/s", 4.7, "nas->workstation"
)
DISK = Ceiling(
    "disk:archive", None, 148.0, None, "measured", "400 small files read by dd on its own host", 3.0
)
UNKNOWN = Ceiling(
    "disk:weights", None, None, None, "measured", "not known: its dd cannot read past the cache", 0.2
)
DOUBT = Caveat("far-host-unseen", "db could not be asked over ssh: refused", "check `ssh` of the host", "db")
BLACK_HOLE = PathFacts(
    host="db",
    address="10.0.0.3",
    hops=(PathHop(1, None, None), PathHop(2, "10.0.0.3", 0.002)),
    path_mtu_bytes=1500,
    interface_mtu_bytes=9000,
    black_hole=True,
    connect_s=0.0021,
    evidence=("packets of 9000 bytes there: no answer",),
    took_s=6.1,
)
REPORT = ProbeReport(
    example.SCENARIO,
    (Reached("archive", None, None, None, None), Reached("library", None, "refused", None, None)),
    example.ROUTES,
    Probed((LINK, DISK, UNKNOWN), (*example.PATHS, BLACK_HOLE), (DOUBT,), 14.2),
)


@pytest.mark.parametrize("width", [40, 80])
def test_what_each_resource_does_alone_reads_well(width: int) -> None:
    text = drawn(probe_view(REPORT), width)
    assert max(map(len, text.splitlines())) <= width
    assert_golden(GOLDEN / f"probe_{width}.txt", text)


def test_a_way_with_nothing_odd_on_it_is_said_in_two_lines_and_any_other_with_its_evidence() -> None:
    odd = replace(example.PATHS[0], path_mtu_bytes=1400, evidence=("a router says so",))
    texts = [
        drawn(Group(*ways_view((path,), example.ROUTES)), 100).strip().splitlines()[1:]
        for path in (example.PATHS[0], odd)
    ]
    assert [[line.removeprefix("  nas").strip() for line in text] for text in texts] == [
        [
            "192.168.1.10 by eth0, directly connected, a connection takes 310 µs",
            "packets pass whole up to 1,500 bytes, the most that are sent",
        ],
        [
            "192.168.1.10 by eth0, directly connected, a connection takes 310 µs",
            "packets of up to 1,400 bytes pass",
            "a router says so",
        ],
    ]


def test_a_way_through_a_tunnel_is_called_one() -> None:
    tunnel = replace(example.ROUTES[0], interface="wg0", interface_kind="tunnel")
    text = drawn(Group(*ways_view(example.PATHS, (tunnel,))), 100)
    assert (
        "192.168.1.10 by wg0 (a tunnel), no router seen within it, a connection takes 310 µs"
        in text.splitlines()[2]
    )
    document = probe_document(replace(REPORT, routes=(tunnel,)))["routes"]
    assert isinstance(document, list)
    assert isinstance(document[0], dict)
    assert document[0]["interface_kind"] == "tunnel"


def test_the_keys_of_the_document_never_change_unnoticed() -> None:
    assert sorted(keys_of(probe_document(REPORT))) == (GOLDEN / "probe_keys.txt").read_text().split()


def test_a_place_that_was_not_reached_makes_the_report_incomplete() -> None:
    assert not REPORT.complete
    assert probe_document(REPORT)["unreached"] == {"library": "refused"}
