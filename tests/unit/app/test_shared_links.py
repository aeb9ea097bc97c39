"""What others carried while a link was probed is part of what it can carry."""

from __future__ import annotations

from pathtrace.app.shared_links import Look, most_payload_per_s, with_others
from pathtrace.model.run import Ceiling

LINK = Ceiling("link:lan", 75e6, None, None, "measured", "4 streams 600 Mbit/s", 4.6, "nas->workstation")


def looks(*payload_mb: float, step_s: float = 0.5) -> list[Look]:
    """Payload so far at each look, in packets of 1,448 bytes with their headers."""
    packets = [each * 1e6 / 1448 for each in payload_mb]
    return [Look(round(n * step_s * 1e9), count * (1448 + 66), count) for n, count in enumerate(packets)]


def test_the_best_rate_that_was_kept_up_for_a_second_counts_and_no_burst() -> None:
    assert round(most_payload_per_s(looks(0, 10, 60, 70, 80, 90)) or 0) == 60_000_000
    assert round(most_payload_per_s(looks(0, 50, 100, 150)) or 0) == 100_000_000


def test_a_short_look_tells_nothing() -> None:
    assert most_payload_per_s(looks(0, 50)) is None
    assert most_payload_per_s([]) is None


def test_what_others_carried_is_added_and_said() -> None:
    found = with_others(LINK, 118e6)
    assert found.bytes_per_s == 118e6
    assert found.evidence == ("4 streams 600 Mbit/s; others carried 344 Mbit/s beside it, which counts too")


def test_a_link_that_was_alone_is_as_it_was_measured() -> None:
    assert with_others(LINK, 78e6) == LINK
    assert with_others(LINK, None) == LINK
