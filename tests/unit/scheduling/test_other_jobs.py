from datetime import datetime
from pathlib import Path

import pytest

from pathtrace.scheduling.other_jobs import OtherJob, other_jobs
from pathtrace.scheduling.times import host_zone
from tests.scheduling.private import require

NOW = datetime(2026, 11, 30, 12, tzinfo=host_zone())
ANACRON = "25 6 * * * root test -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.daily; }\n"
OFTEN = "*/5 * * * * root x\n*/5 * * * * root restic backup\n99 * * * * root broken\n"
SCRUB = "30 3 * * 0 root test -e /run/systemd/system || /usr/sbin/e2scrub_all\n"


def lay(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def seen(jobs: tuple[OtherJob, ...]) -> list[tuple[str, str, str | None, str]]:
    return [(job.what, job.source, job.known, f"{job.starts[0]:%a %d %H:%M}") for job in jobs]


def test_crontabs_of_host_and_users_are_read_all_but_our_own_lines(tmp_path: Path) -> None:
    own = "# pathtrace schedule {0} begin {{}}\n1 3 * * * root scan\n# pathtrace schedule {0} end\n"
    lay(
        tmp_path,
        **{
            "etc/crontab": ANACRON,
            "etc/cron.daily/plocate": "",
            "etc/cron.d/mdadm": "57 0 * * 0 root /usr/share/mdadm/checkarray --all\n",
            "etc/cron.d/passed.by": "1 1 * * * root x\n",
            "etc/cron.d/pathtrace": own.format("pathtrace-scan-a") + own.format("pathtrace-scan-b"),
            "etc/cron.d/often": OFTEN,
            "var/spool/cron/crontabs/me": "30 4 1 * * tidy\n",
        },
    )
    assert seen(other_jobs(tmp_path, NOW, "pathtrace-scan-a", booted=False)) == [
        ("run-parts --report /etc/cron.daily", "/etc/crontab", "index of file names", "Tue 01 06:25"),
        ("/usr/share/mdadm/checkarray --all", "/etc/cron.d/mdadm", "check of a RAID", "Sun 06 00:57"),
        ("restic backup", "/etc/cron.d/often", "backup", "Mon 30 12:05"),
        ("pathtrace-scan-b", "/etc/cron.d/pathtrace", None, "Tue 01 03:01"),
        ("tidy", "crontab of me", None, "Tue 01 04:30"),
    ]


@pytest.mark.server
def test_enabled_timers_are_read_with_delay_drop_ins_and_what_they_start(tmp_path: Path) -> None:
    require("systemd-analyze")
    lib, etc = "usr/lib/systemd/system", "etc/systemd/system"
    lay(
        tmp_path,
        **{
            f"{lib}/night.timer": "[Timer]\nOnCalendar=*-*-* 06:00\nRandomizedDelaySec=1h 30min\n",
            f"{lib}/night.service": "[Service]\nExecStart=/usr/bin/restic backup\n",
            f"{etc}/night.timer.d/mine.conf": "[Timer]\nOnCalendar=\nOnCalendar=*-*-* 02:30\n",
            f"{lib}/idle.timer": "[Timer]\nOnCalendar=daily\n",
            f"{lib}/boot.timer": "[Timer]\nOnBootSec=15min\n",
            f"{lib}/dump@.timer": "[Timer]\nOnCalendar=Sun *-*-* 01:00\nUnit=other.service\n",
            f"{etc}/masked.timer": "",
            f"{etc}/pathtrace-scan-a.timer": "[Timer]\nOnCalendar=daily\n",
            "etc/cron.d/e2scrub_all": SCRUB,
        },
    )
    wants = tmp_path / etc / "timers.target.wants"
    wants.mkdir()
    for name, target in (
        ("night.timer", "night.timer"),
        ("boot.timer", "boot.timer"),
        ("dump@a.timer", "dump@.timer"),
        ("pathtrace-scan-a.timer", "pathtrace-scan-a.timer"),
        ("masked.timer", "masked.timer"),
    ):
        (wants / name).symlink_to(f"/{lib}/{target}")
    jobs = other_jobs(tmp_path, NOW, "pathtrace-scan-a", booted=True)
    assert seen(jobs) == [
        ("dump@a.timer", "unit of systemd", None, "Sun 06 01:00"),
        ("night.timer", "unit of systemd", "backup", "Tue 01 02:30"),
    ]
    assert [job.late_s for job in jobs] == [0, 5400]


def test_where_systemd_does_not_run_its_timers_do_not_count(tmp_path: Path) -> None:
    lay(tmp_path, **{"usr/lib/systemd/system/a.timer": "[Timer]\nOnCalendar=daily\n"})
    wants = tmp_path / "etc/systemd/system/timers.target.wants"
    wants.mkdir(parents=True)
    (wants / "a.timer").symlink_to("/usr/lib/systemd/system/a.timer")
    assert other_jobs(tmp_path, NOW, "x", booted=False) == ()
