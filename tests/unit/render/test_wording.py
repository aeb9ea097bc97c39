from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.model.report import Caveat, Estimate, Throughput
from pathtrace.render import wording
from tests.unit.render import example


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Throughput(100e6, 98e6, 105e6, None, None), "100 MB/s ±5 %"),
        (Throughput(44e6, 40e6, 195e6, None, None), "44 (40–195) MB/s"),
        (Throughput(100e6, None, None, None, None), "100 MB/s"),
        (Throughput(None, None, None, None, None), "–"),
        (Throughput(100e6, 100e6, 100e6, None, None), "100 MB/s ±0 %"),
        (Throughput(0.0, 0.0, 0.0, None, None), "0 MB/s"),
    ],
)
def test_a_rate_has_its_unit_and_its_spread(value: Throughput, text: str) -> None:
    assert wording.rate(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Estimate(43.8, 42.9, 44.4, 5, "s"), "43.8 s (42.9 s – 44.4 s)"),
        (Estimate(43.8, None, None, 1, "s"), "43.8 s (one repeat: no spread)"),
        (None, "not measured"),
    ],
)
def test_a_duration_has_its_spread_or_says_why_not(value: Estimate | None, text: str) -> None:
    assert wording.estimate(value) == text


def test_what_is_unknown_is_never_shown_as_nought() -> None:
    assert (wording.duration(None), wording.size(None)) == ("–", "–")


def test_counts_have_their_noun() -> None:
    assert [wording.counted(count, "file") for count in (0, 1, 12_345)] == [
        "0 files",
        "1 file",
        "12,345 files",
    ]


def test_the_condition_fits_in_a_line() -> None:
    assert wording.condition(example.RUN) == (
        "start cold: client cache cold, server cache unknown, database cold, model warm"
    )


def test_a_subject_is_named_only_where_the_text_does_not() -> None:
    caveat = Caveat("c", "the nas is slow", None, None)
    assert wording.caveat_line(caveat, ("nas",)) == "the nas is slow"
    assert wording.caveat_line(caveat, ("nas", "disk")) == "disk: the nas is slow"


@given(st.text())
def test_plain_text_has_no_control_characters(text: str) -> None:
    assert all(sign == "\n" or sign.isprintable() or ord(sign) >= 0xA0 for sign in wording.plain(text))


def test_advice_is_given_once_for_a_flow_and_again_for_another() -> None:
    first, second, third, _ = example.REPORT.ranking
    entries = [replace(first, advice="wait", free=True), replace(second, advice="wait", free=True), third]
    assert [advice for _, advice in wording.advised_once([*entries, replace(third, advice="wait")])] == [
        "free: wait",
        "",
        "free: raise workers of indexer from 2 to 16",
        "free: wait",
    ]


def test_the_time_of_requests_is_said_to_be_that_of_all_of_them() -> None:
    flows = {flow.name: flow for flow in example.REPORT.flows}
    said = [wording.took(example.SCENARIO.flow(name), flows[name]) for name in ("index", "answer")]
    assert said == ["43.8 s (42.9 s – 44.4 s)", "all requests in 51 s (49.8 s – 52.3 s)"]


def test_a_hop_that_has_the_evidence_of_another_names_that_hop_instead() -> None:
    first = example.ARCHIVE_INDEXER
    shared = ("43 MB/s while busy", "nas/sda busy 99 % of the time")
    limits = (
        replace(first.limited_by, evidence=shared, next_measurement="run probe"),
        replace(
            first.limited_by, evidence=("starved 99 % of the time", *shared), next_measurement="run probe"
        ),
        replace(first.limited_by, evidence=shared, next_measurement="ask again"),
        replace(first.limited_by, evidence=("it is full", shared[0]), next_measurement=None),
    )
    hops = [replace(first, name=name, limited_by=limit) for name, limit in zip("abcd", limits, strict=True)]
    assert [(each.evidence, each.next_measurement) for each in wording.reasons_once(hops)] == [
        ("43 MB/s while busy; nas/sda busy 99 % of the time", "run probe"),
        ("starved 99 % of the time; else as a", None),
        ("as a", "ask again"),
        ("it is full; 43 MB/s while busy", None),
    ]


def test_hops_of_other_flows_are_never_referred_to() -> None:
    shared = replace(example.ARCHIVE_INDEXER.limited_by, evidence=("one thing", "another"))
    hops = [replace(example.ARCHIVE_INDEXER, flow=flow, limited_by=shared) for flow in ("index", "answer")]
    assert [each.evidence for each in wording.reasons_once(hops)] == ["one thing; another"] * 2


def test_what_takes_neither_a_share_nor_a_second_a_day_is_summed_up_but_never_the_first() -> None:
    one = example.REPORT.ranking[0]
    small = replace(one, share=0.009, seconds_per_day=0.9)
    entries = [small, small, replace(small, share=0.01), replace(small, seconds_per_day=1.0), small, one]
    assert wording.worth_showing(entries, 3) == (
        (small, entries[2], entries[3]),
        (small, small, one),
    )
