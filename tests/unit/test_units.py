"""What people write is read exactly, and what is shown can be read back."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace import units
from pathtrace.errors import UsageError

SMALL = st.floats(min_value=1e-6, max_value=1e12)
DIGITS = 0.006
"""Three significant digits are within half of the last one."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("64 KiB", 65_536),
        ("1.5 GiB", 1_610_612_736),
        ("10 GB", 10_000_000_000),
        ("512", 512),
        (512, 512),
        ("0 B", 0),
        ("3kB", 3_000),
    ],
)
def test_sizes_are_read_as_bytes(text: str | int, expected: int) -> None:
    assert units.parse_bytes(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 Gbit/s", 125e6),
        ("10GbE", 1.25e9),
        ("2.5GbE", 312.5e6),
        ("100 Mbps", 12.5e6),
        ("60 MB/s", 60e6),
        ("60 MiB/s", 62_914_560.0),
    ],
)
def test_rates_are_read_as_bytes_per_second(text: str, expected: float) -> None:
    assert units.parse_rate(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("250 ms", 0.25),
        ("3 s", 3.0),
        ("15 min", 900.0),
        ("24 h", 86_400.0),
        ("365 d", 31_536_000.0),
        ("2 h 5 min", 7_500.0),
        ("12 µs", 12e-6),
        ("7", 7.0),
        (7, 7.0),
        (0.5, 0.5),
    ],
)
def test_durations_are_read_as_seconds(text: str | float, expected: float) -> None:
    assert units.parse_duration(text) == expected


@pytest.mark.parametrize(("text", "expected"), [("2/s", 2.0), ("30/min", 0.5), ("36 / h", 0.01)])
def test_count_rates_are_read_per_second(text: str, expected: float) -> None:
    assert units.parse_count_rate(text) == expected


@pytest.mark.parametrize(
    ("parse", "text", "message", "hint"),
    [
        (
            units.parse_rate,
            "100 MB",
            "'100 MB' is not a rate: \"MB\" is an amount, not an amount per second",
            'write "100 MB/s" for bytes or "100 Mbit/s" for bits',
        ),
        (
            units.parse_rate,
            "1 Gbit",
            "'1 Gbit' is not a rate: \"Gbit\" is an amount, not an amount per second",
            'write "1 GB/s" for bytes or "1 Gbit/s" for bits',
        ),
        (
            units.parse_rate,
            "MB",
            "'MB' is not a rate",
            "write a number and one of B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s, "
            "bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, GbE, MbE",
        ),
        (
            units.parse_rate,
            "1 Gb/s",
            "'1 Gb/s' is not a clear rate: \"Gb/s\" is read as bits by some, bytes by others",
            'write "GB/s" for bytes or "Gbit/s" for bits',
        ),
        (
            units.parse_bytes,
            "5 Mib",
            "'5 Mib' is not a size: unknown unit \"Mib\"",
            'write a number and one of B, kB, MB, GB, TB, KiB, MiB, GiB, TiB; did you mean "MiB"?',
        ),
        (
            units.parse_duration,
            "5 minutes",
            "'5 minutes' is not a duration: unknown unit \"minutes\"",
            'write a number and one of ns, µs, ms, s, min, h, d; did you mean "min"?',
        ),
        (
            units.parse_count_rate,
            "5",
            "'5' is not a number per time",
            "write it as in 2/s, 30/min, 100/h or 1000/d",
        ),
    ],
)
def test_a_wrong_unit_is_answered_with_what_is_allowed(
    parse: object, text: str, message: str, hint: str
) -> None:
    assert callable(parse)
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert (caught.value.message, caught.value.hint) == (message, hint)


@pytest.mark.parametrize("value", [math.nan, math.inf, -1, -0.5, "-3 s", "", "1,5 s", "nan", True, None])
def test_what_is_no_duration_is_refused(value: object) -> None:
    with pytest.raises(UsageError):
        units.parse_duration(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [-1, True, "1,5 GiB", "GiB", "9" * 30 + " GiB", "9" * 5000, None])
def test_what_is_no_size_is_refused(value: object) -> None:
    with pytest.raises(UsageError):
        units.parse_bytes(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "0 s"),
        (2e-9, "2 ns"),
        (12e-6, "12 µs"),
        (0.25, "250 ms"),
        (0.9996, "1 s"),
        (3.2, "3.2 s"),
        (59.96, "1 min"),
        (250, "4 min 10 s"),
        (3599.7, "1 h"),
        (7500, "2 h 5 min"),
        (86_399, "1 d"),
        (259_200, "3 d"),
        (-5, "-5 s"),
    ],
)
def test_durations_are_shown_in_the_unit_that_people_use(seconds: float, expected: str) -> None:
    assert units.format_duration(seconds) == expected


@pytest.mark.parametrize(
    ("bytes_per_s", "rate", "link"),
    [
        (118e6, "118 MB/s", "944 Mbit/s"),
        (125e6, "125 MB/s", "1 Gbit/s"),
        (124.96e6, "125 MB/s", "1 Gbit/s"),
        (3314e6, "3314 MB/s", "26.5 Gbit/s"),
        (210e3, "0.21 MB/s", "1.68 Mbit/s"),
        (0, "0 MB/s", "0 bit/s"),
    ],
)
def test_throughput_is_shown_in_bytes_and_links_in_bits(bytes_per_s: float, rate: str, link: str) -> None:
    assert (units.format_rate(bytes_per_s), units.format_link(bytes_per_s)) == (rate, link)


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, "0 B"), (1023, "1023 B"), (65_536, "64 KiB"), (1_048_474, "1 MiB"), (1_610_612_736, "1.5 GiB")],
)
def test_sizes_are_shown_in_binary_units(count: int, expected: str) -> None:
    assert units.format_bytes(count) == expected


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (0, "0 %"),
        (0.0001, "<0.1 %"),
        (0.003, "0.3 %"),
        (0.05, "5 %"),
        (0.42, "42 %"),
        (0.996, "99.6 %"),
        (0.9996, ">99.9 %"),
        (1, "100 %"),
        (1.0001, ">100 %"),
        (1.2, "120 %"),
        (-0.05, "-5 %"),
    ],
)
def test_ratios_say_nothing_and_everything_only_when_true(ratio: float, expected: str) -> None:
    assert units.format_ratio(ratio) == expected


@pytest.mark.parametrize(
    ("per_s", "expected"), [(2, "2/s"), (0.5, "30/min"), (0.001, "3.6/h"), (1e-5, "0.864/d"), (0, "0/s")]
)
def test_count_rates_are_shown_per_the_unit_that_makes_them_readable(per_s: float, expected: str) -> None:
    assert units.format_count_rate(per_s) == expected


@given(SMALL)
def test_a_shown_rate_reads_back(value: float) -> None:
    assert units.parse_rate(units.format_rate(value)) == pytest.approx(value, rel=DIGITS)


@given(SMALL)
def test_a_shown_link_speed_reads_back(value: float) -> None:
    assert units.parse_rate(units.format_link(value)) == pytest.approx(value, rel=DIGITS)


@given(st.integers(0, 10**15))
def test_a_shown_size_reads_back(value: int) -> None:
    assert units.parse_bytes(units.format_bytes(value)) == pytest.approx(value, rel=DIGITS, abs=1)


@given(st.floats(min_value=1e-9, max_value=1e9))
def test_a_shown_duration_reads_back(value: float) -> None:
    assert units.parse_duration(units.format_duration(value)) == pytest.approx(value, rel=0.021)


@given(st.floats(min_value=1e-9, max_value=1e9))
def test_a_shown_count_rate_reads_back(value: float) -> None:
    assert units.parse_count_rate(units.format_count_rate(value)) == pytest.approx(value, rel=DIGITS)


@given(st.floats(min_value=0, max_value=100))
def test_all_and_nothing_are_shown_only_when_true(ratio: float) -> None:
    shown = units.format_ratio(ratio)
    assert (shown == "0 %") == (ratio == 0)
    assert (shown == "100 %") == (ratio == 1)


@given(st.text() | st.floats() | st.integers() | st.booleans() | st.none())
def test_anything_is_read_or_refused_with_a_message_of_ours(value: object) -> None:
    for parse in (units.parse_bytes, units.parse_rate, units.parse_duration, units.parse_count_rate):
        try:
            parsed = parse(value)  # type: ignore[arg-type]
        except UsageError:
            continue
        assert parsed >= 0
        assert math.isfinite(parsed)


@given(st.floats(min_value=0, max_value=1e9))
def test_nanoseconds_and_seconds_agree(value: float) -> None:
    assert units.seconds(units.nanoseconds(value)) == pytest.approx(value, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("8B", 8e9), ("8.03 B", 8.03e9), ("137M", 137e6), ("1200", 1200.0), (7, 7.0), (8e9, 8e9)],
)
def test_counts_are_read_as_models_are_named(text: str | float, expected: float) -> None:
    assert units.parse_count(text) == expected


@pytest.mark.parametrize("value", ["8X", "", -1, True, math.nan])
def test_what_is_no_count_is_refused(value: object) -> None:
    with pytest.raises(UsageError):
        units.parse_count(value)  # type: ignore[arg-type]


def test_a_kernels_megabits_become_bytes_per_second() -> None:
    assert units.bytes_per_s_of_megabits(1000) == units.parse_rate("1 Gbit/s")


@pytest.mark.parametrize(
    ("text", "expected"), [("3%", 0.03), (" 2.5 % ", 0.025), ("0%", 0.0), ("100%", 1.0), ("0.1%", 0.001)]
)
def test_ratios_are_read_from_per_cent(text: str, expected: float) -> None:
    assert units.parse_ratio(text) == expected


@pytest.mark.parametrize("text", ["3", "3s", "3 percent", "%", "-3%", "3%%", "", "1e3%"])
def test_what_is_no_per_cent_is_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        units.parse_ratio(text)
    assert str(caught.value) == f"{text!r} is not a share in per cent"
    assert caught.value.hint == "write a number and %, as in 3% or 2.5%"


@given(st.integers(1, 99_999))
def test_a_ratio_survives_being_written_in_per_cent(thousandths: int) -> None:
    assert units.parse_ratio(f"{thousandths / 1000}%") == pytest.approx(thousandths / 100_000)
