from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.model.run import Ceiling
from pathtrace.probes.computed import computed_link, payload_ratio

GIGABIT = 125e6


@pytest.mark.parametrize(
    ("mtu", "version", "tags", "megabits"),
    [(1500, 4, 0, 941.48), (1500, 6, 0, 928.48), (1500, 4, 1, 939.04), (9000, 4, 0, 990.04)],
)
def test_a_gigabit_carries_what_the_books_say(mtu: int, version: int, tags: int, megabits: float) -> None:
    assert 1000 * payload_ratio(mtu, ip_version=version, vlan_tags=tags) == pytest.approx(megabits, abs=0.01)


def test_a_computed_link_says_how_it_was_computed() -> None:
    assert computed_link("link:lan", "nas->workstation", GIGABIT, 1500, "full") == Ceiling(
        resource="link:lan",
        bytes_per_s=pytest.approx(117_685_305, abs=1),
        operations_per_s=None,
        latency_s=None,
        source="computed",
        evidence="1 Gbit/s negotiated carry 941 Mbit/s of payload in packets of 1500 bytes "
        "with TCP timestamps",
        took_s=0.0,
        direction="nas->workstation",
    )


def test_an_unseen_mtu_is_named_as_taken() -> None:
    found = computed_link("link:lan", "a->b", GIGABIT, None, None, vlan_tags=1)
    assert found is not None
    assert found.evidence == (
        "1 Gbit/s negotiated carry 939 Mbit/s of payload in packets of 1500 bytes (not seen, but usual) "
        "with TCP timestamps and 1 VLAN tag"
    )


def test_nothing_is_computed_without_a_speed_or_at_half_duplex() -> None:
    assert computed_link("link:lan", "a->b", None, 1500, "full") is None
    assert computed_link("link:lan", "a->b", GIGABIT, 1500, "half") is None


@given(mtu=st.integers(0, 65536), version=st.sampled_from([4, 6]), tags=st.integers(0, 2))
def test_payload_is_always_less_than_the_wire_and_grows_with_the_packets(
    mtu: int, version: int, tags: int
) -> None:
    ratio = payload_ratio(mtu, ip_version=version, vlan_tags=tags)
    assert 0 <= ratio < 1
    assert ratio <= payload_ratio(mtu + 1, ip_version=version, vlan_tags=tags)
