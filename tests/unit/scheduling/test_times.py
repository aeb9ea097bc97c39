from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.errors import UsageError
from pathtrace.scheduling.times import Times, chosen, host_zone, next_moments, next_start, own_zone

BERLIN = ZoneInfo("Europe/Berlin")
NIGHTLY = Times(86_400, 3, 17)
SPANS = ("1min", "20 min", "30min", "1h", "6 h", "24h", "7 d")


def moments(times: Times, after: datetime, count: int = 3) -> list[str]:
    return [f"{each:%a %d %H:%M}" for each in next_moments(times.cron, after, count)]


def test_a_time_of_day_is_every_day_then() -> None:
    assert chosen("3:07", None, b"x") == Times(86_400, 3, 7, chosen("3:07", None, b"x").weekday)


@given(st.binary(max_size=20), st.sampled_from((None, *SPANS)))
def test_what_is_left_open_is_off_the_hour_at_night_and_always_the_same(
    seed: bytes, every: str | None
) -> None:
    times = chosen(None, every, seed)
    assert times == chosen(None, every, seed)
    assert times.hour in (3, 4)
    assert times.minute % 5 != 0


def test_hosts_and_scenarios_are_spread_over_the_night() -> None:
    drawn = {(times.hour, times.minute) for seed in range(400) if (times := chosen(None, None, b"%d" % seed))}
    assert len(drawn) > 80


@pytest.mark.parametrize(
    ("times", "cron", "calendar", "said"),
    [
        (NIGHTLY, "17 3 * * *", "*-*-* 03:17:00", "every day at 03:17"),
        (Times(604_800, 3, 17, 2), "17 3 * * 2", "Tue *-*-* 03:17:00", "every Tuesday at 03:17"),
        (Times(21_600, 3, 17), "17 3-23/6 * * *", "*-*-* 03/6:17:00", "every 6 h, 17 min past the hour"),
        (Times(21_600, 4, 7), "7 4-23/6 * * *", "*-*-* 04/6:07:00", "every 6 h, 7 min past the hour"),
        (Times(3600, 3, 17), "17 * * * *", "*-*-* 00/1:17:00", "every 1 h, 17 min past the hour"),
        (Times(1800, 3, 17), "17-59/30 * * * *", "*-*-* *:17/30:00", "every 30 min"),
        (Times(60, 3, 17), "* * * * *", "*-*-* *:00/1:00", "every 1 min"),
    ],
)
def test_one_time_is_spelled_for_cron_systemd_and_people(
    times: Times, cron: str, calendar: str, said: str
) -> None:
    assert (times.cron, times.calendar, times.said) == (cron, calendar, said)


@pytest.mark.parametrize("at", ["", "24:00", "3", "03:60", "03:17:00", "three", "-1:00"])
def test_what_is_no_time_of_day_is_refused(at: str) -> None:
    with pytest.raises(UsageError, match="is not a time of day"):
        chosen(at, None, b"")


@pytest.mark.parametrize("every", ["7 min", "5h", "90 s", "30s", "0 s", "90 min", "48h", "14 d", "25h"])
def test_a_span_that_no_calendar_holds_is_refused_with_those_that_are(every: str) -> None:
    with pytest.raises(UsageError, match="is no span that a calendar can hold") as raised:
        chosen(None, every, b"")
    assert raised.value.hint is not None
    assert "24 h" in raised.value.hint


def test_nonsense_and_both_at_once_are_refused() -> None:
    with pytest.raises(UsageError, match="--every 'often' is not a duration"):
        chosen(None, "often", b"")
    with pytest.raises(UsageError, match="exclude each other"):
        chosen("03:17", "24h", b"")


def test_the_next_moments_are_in_the_zone_of_the_host() -> None:
    assert moments(NIGHTLY, datetime(2026, 11, 30, 12, tzinfo=BERLIN)) == [
        "Tue 01 03:17",
        "Wed 02 03:17",
        "Thu 03 03:17",
    ]
    assert moments(Times(21_600, 3, 17), datetime(2026, 11, 30, 12, tzinfo=UTC)) == [
        "Mon 30 15:17",
        "Mon 30 21:17",
        "Tue 01 03:17",
    ]


def test_a_night_whose_hour_is_left_out_or_comes_twice_has_one_scan() -> None:
    half_past_two = Times(86_400, 2, 30)
    assert moments(half_past_two, datetime(2026, 3, 28, 12, tzinfo=BERLIN)) == [
        "Sun 29 03:00",
        "Mon 30 02:30",
        "Tue 31 02:30",
    ]
    assert moments(half_past_two, datetime(2026, 10, 24, 12, tzinfo=BERLIN)) == [
        "Sun 25 02:30",
        "Mon 26 02:30",
        "Tue 27 02:30",
    ]


def test_what_are_no_fields_is_refused() -> None:
    with pytest.raises(UsageError, match="are not the fields of a cron line"):
        next_moments("99 * * * *", datetime(2026, 1, 1, tzinfo=UTC), 1)


@given(
    st.sampled_from([Times(each, 3, 17) for each in (60, 1800, 21_600, 86_400, 604_800)]),
    st.integers(0, 30 * 86_400),
    st.integers(-(10**8), 10**8),
)
def test_a_set_clock_neither_repeats_a_start_nor_stops_them(times: Times, second: int, put: int) -> None:
    now = datetime(2026, 6, 1, tzinfo=UTC) + timedelta(seconds=second)
    last = next_start(times, now, None)
    after = last + timedelta(seconds=put)
    due = next_start(times, after, last)
    assert due > after
    assert due - after <= 2 * timedelta(seconds=times.every_s)
    if abs(put) < times.every_s:
        assert due > last


def test_this_process_goes_by_tz_and_a_zone_that_is_none_is_the_hosts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", ":Europe/Berlin")
    assert own_zone() == BERLIN
    for name in ("Nowhere/At_All", "../../etc/passwd", ""):
        monkeypatch.setenv("TZ", name)
        assert datetime(2026, 6, 1, tzinfo=own_zone()) == datetime(2026, 6, 1, tzinfo=host_zone())
