import pytest

from pathtrace.scheduling.known_jobs import known


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            "if [ -x /usr/share/mdadm/checkarray ]; then /usr/share/mdadm/checkarray --cron --all",
            "check of a RAID",
        ),
        ("mdcheck_start.timer /usr/share/mdadm/mdcheck", "check of a RAID"),
        ("btrfs-scrub.timer", "scrub of a file system"),
        ("/usr/lib/zfs-linux/scrub", "scrub of a file system"),
        ("zfs-scrub-monthly@tank.timer", "scrub of a file system"),
        ("/sbin/e2scrub_all -A -r", "check of file systems"),
        ("/usr/local/bin/restic backup /srv", "backup"),
        ("borgmatic.timer", "backup"),
        ("/usr/bin/rsnapshot daily", "backup"),
        ("rsync -a /srv nas:/backup", "backup"),
        ("my-backup.sh", "backup"),
        ("/home/me/bin/backup", "backup"),
        ("/etc/cron.daily/plocate", "index of file names"),
        ("apt-daily-upgrade.timer", "updates of packages"),
        ("/usr/sbin/fstrim --all", "trim of disks"),
        ("pathtrace-scan-a", "another scan"),
    ],
)
def test_jobs_that_hold_up_disks_are_known_by_their_words(text: str, what: str) -> None:
    found = known(text)
    assert found is not None
    assert found.what == what


@pytest.mark.parametrize(
    "text", ["dpkg-db-backup.timer", "logrotate", "cd / && run-parts", "absorb", "man-db.timer"]
)
def test_other_jobs_are_not(text: str) -> None:
    assert known(text) is None
