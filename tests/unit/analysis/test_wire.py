from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.analysis.builders import MB
from tests.unit.analysis.far import HEADERS, SEGMENT, TEXT, Way, first_hop, report
from tests.unit.analysis.planted import index_run

ALONE = Way(took_ms=89)


def headers(way: Way, segment: int = SEGMENT) -> float:
    answers = way.blocks * way.requests
    return way.payload * way.crossed / segment * HEADERS + answers * (120 + HEADERS)


def test_alone_on_its_interface_a_hop_carried_what_the_interface_counted() -> None:
    wire = first_hop(ALONE).wire
    assert wire is not None
    assert wire.bytes == pytest.approx(ALONE.payload + headers(ALONE), rel=1e-6)
    assert wire.overhead_ratio == pytest.approx(headers(ALONE) / ALONE.payload, rel=1e-6)
    assert (wire.retransmits, wire.rtt_s) == (0, 0.0002)


@settings(max_examples=25, deadline=None)
@given(others=st.floats(0, 3), merged=st.booleans())
def test_beside_other_traffic_its_own_bytes_stay_within_two_percent(others: float, merged: bool) -> None:
    way = replace(ALONE, others=others, merged=merged)
    wire = first_hop(way).wire
    assert wire is not None
    expected = way.payload + headers(way, 65536 if merged else SEGMENT)
    assert wire.bytes == pytest.approx(expected, rel=0.02)


def test_without_connections_only_the_interface_is_known_and_whose_bytes_they_are_is_not() -> None:
    wire = first_hop(replace(ALONE, sockets=False)).wire
    assert wire is not None
    assert (wire.bytes, wire.overhead_ratio, wire.retransmits, wire.rtt_s) == (None, None, None, None)


def test_without_any_counter_there_is_no_wire() -> None:
    assert first_hop(replace(ALONE, sockets=False, interface=False)).wire is None


def test_a_cached_repeat_carried_far_less_than_was_asked_for() -> None:
    wire = first_hop(replace(ALONE, crossed=0.01)).wire
    assert wire is not None
    assert wire.overhead_ratio == pytest.approx(-0.99, abs=0.01)


def test_a_hop_within_this_host_has_no_wire() -> None:
    assert [hop.wire for hop in report(replace(ALONE, text=_local())).hops] == [None]


def test_bytes_that_a_counter_shows_a_moment_late_belong_to_the_pass() -> None:
    short = Way(took_ms=9, each=1 * MB, blocks=10)
    wire = first_hop(short).wire
    assert wire is not None
    assert wire.bytes == pytest.approx(short.payload + headers(short), rel=0.02)


def _local() -> str:
    return TEXT.replace('url: "smb://nas/models/x.bin"', "path: /models/x.bin")


def test_the_builders_other_runs_have_none_either() -> None:
    from pathtrace.analysis import analyse

    assert {hop.wire for hop in analyse(index_run()).hops} == {None}
