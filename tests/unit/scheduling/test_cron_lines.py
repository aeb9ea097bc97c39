import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.scheduling.cron_lines import CronLine, cron_lines

SYSTEM = rb"""SHELL=/bin/sh
PATH = /usr/bin
"MAILTO"=me

# 1 2 3 4 5 root not this
17 *	* * *	root	cd / && run-parts --report /etc/cron.hourly
-*/5 * * * mon-fri nobody tidy   up
@daily root backup --at 100\%
@reboot root first
@weekly root
too few fields
"""


def test_jobs_are_read_with_their_users_left_out_and_the_rest_is_passed_by() -> None:
    assert list(cron_lines(SYSTEM, 1)) == [
        CronLine("17 * * * *", "cd / && run-parts --report /etc/cron.hourly", None),
        CronLine("*/5 * * * mon-fri", "tidy up", None),
        CronLine("0 0 * * *", "backup --at 100\\%", None),
        CronLine("0 0 * * 0", "root", None),
    ]


def test_lines_of_ours_are_known_by_their_marks() -> None:
    mark = b"# pathtrace schedule pathtrace-scan-a "
    own = mark + b"begin {}\n1 2 * * * scan\n" + mark + b"end\n"
    assert list(cron_lines(b"1 1 * * * x\n" + own + b"3 3 * * * y\r\n", 0)) == [
        CronLine("1 1 * * *", "x", None),
        CronLine("1 2 * * *", "scan", "pathtrace-scan-a"),
        CronLine("3 3 * * *", "y", None),
    ]


@given(st.binary(max_size=200), st.sampled_from([0, 1]))
def test_any_bytes_are_survived(data: bytes, user_fields: int) -> None:
    for line in cron_lines(data, user_fields):
        assert line.times.strip() != ""


@pytest.mark.parametrize("nickname", ["@hourly", "@midnight", "@monthly", "@yearly", "@annually"])
def test_nicknames_are_fields(nickname: str) -> None:
    (line,) = cron_lines(f"{nickname} x".encode(), 0)
    assert len(line.times.split()) == 5
