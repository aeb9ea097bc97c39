from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from pathtrace.model.schedule import Collision
from pathtrace.scheduling.collisions import collisions, free_time
from pathtrace.scheduling.other_jobs import OtherJob
from pathtrace.scheduling.times import Times, next_moments

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def at(day: int, hour: int, minute: int = 0) -> datetime:
    return NOW + timedelta(days=day, hours=hour, minutes=minute)


def job(*starts: datetime, known: str | None = None, late_s: float = 0, lasts_s: float = 3600) -> OtherJob:
    return OtherJob("job", "a file", known, starts, late_s, lasts_s)


SCANS = [at(day, 3, 17) for day in range(30)]


def test_a_job_that_began_before_the_scan_and_goes_on_is_in_its_way() -> None:
    assert collisions(SCANS, 900, [job(at(6, 3), at(13, 3), at(13, 12))]) == (
        Collision("job", "a file", None, at(6, 3), at(6, 3, 17), 2),
    )


def test_a_job_that_ends_before_the_scan_or_begins_after_it_is_not() -> None:
    assert collisions(SCANS, 900, [job(at(6, 2, 17)), job(at(6, 3, 32))]) == ()
    assert len(collisions(SCANS, 900, [job(at(6, 2, 18)), job(at(6, 3, 31))])) == 2


def test_a_delay_of_the_job_counts_as_if_it_were_at_work() -> None:
    assert collisions(SCANS, 900, [job(at(6, 0))]) == ()
    assert len(collisions(SCANS, 900, [job(at(6, 0), late_s=12 * 3600)])) == 1


def test_known_jobs_come_first_then_the_soonest() -> None:
    found = collisions(SCANS, 900, [job(at(1, 3)), job(at(0, 3)), job(at(9, 3), known="backup")])
    assert [(each.known, each.starts) for each in found] == [
        ("backup", at(9, 3)),
        (None, at(0, 3)),
        (None, at(1, 3)),
    ]


def moments(fields: str) -> Sequence[datetime]:
    return next_moments(fields, NOW, 30)


def test_a_time_at_which_nothing_collides_is_found_at_night_first() -> None:
    times = Times(86_400, 3, 17)
    assert free_time(times, 900, [], moments) == "03:17"
    assert free_time(times, 900, [job(*(at(day, 3) for day in range(30)))], moments) == "04:17"


def test_where_all_day_is_taken_or_scans_come_oftener_no_time_is_named() -> None:
    always = job(*(at(0, hour) for hour in range(24 * 30)))
    assert free_time(Times(86_400, 3, 17), 900, [always], moments) is None
    assert free_time(Times(3600, 3, 17), 900, [], moments) is None


@given(st.lists(st.integers(0, 60 * 24 * 30), max_size=8), st.integers(60, 90_000), st.integers(60, 90_000))
def test_a_collision_is_told_exactly_if_spans_meet(minutes: list[int], scan_s: int, job_s: int) -> None:
    starts = tuple(sorted(NOW + timedelta(minutes=minute) for minute in minutes))
    scan, lasts = timedelta(seconds=scan_s), timedelta(seconds=job_s)
    meet = any(start < each + scan and each < start + lasts for start in starts for each in SCANS)
    assert (collisions(SCANS, scan_s, [job(*starts, lasts_s=job_s)]) != ()) == meet
