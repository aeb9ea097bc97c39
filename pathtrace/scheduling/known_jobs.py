"""Jobs of the night that are known to hold up disks and links, by the words of their commands or units.

How long each lasts is a guess, on the long side: a clash that is not one costs a glance, one that is not told
costs a night.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MINUTE_S, HOUR_S = 60, 3600


class Known(NamedTuple):
    what: str
    lasts_s: int


UNKNOWN_LASTS_S = 10 * MINUTE_S
"""What is held of a job that nothing is known of."""

_KNOWN = (
    (r"checkarray|mdcheck|raid-check", Known("check of a RAID", 8 * HOUR_S)),
    (r"scrub|btrfs-balance|zpool", Known("scrub of a file system", 8 * HOUR_S)),
    (r"e2scrub", Known("check of file systems", HOUR_S)),
    (r"restic|borg|rsnapshot|rsync|duplicity|rclone|kopia|snapper|timeshift|bacula|bareos|proxmox-backup|vzdump",
     Known("backup", 2 * HOUR_S)),
    (r"pg_dump|pg_basebackup|mysqldump|mariadb-backup|(?:[a-z]+-)?(?<!db-)backup",
     Known("backup", 2 * HOUR_S)),
    (r"updatedb|plocate|mlocate", Known("index of file names", 30 * MINUTE_S)),
    (r"apt-daily|apt-compat|unattended-upgrade|dnf-automatic|packagekit",
     Known("updates of packages", 30 * MINUTE_S)),
    (r"pathtrace", Known("another scan", HOUR_S)),
    (r"fstrim", Known("trim of disks", 30 * MINUTE_S)),
    (r"smartctl|smartd", Known("test of a disk", 2 * HOUR_S)),
    (r"clamscan|freshclam|rkhunter|aide", Known("search of all files", 2 * HOUR_S)),
)  # fmt: skip
_PATTERNS = tuple(
    (re.compile(rf"(?:^|[^a-z0-9])(?:{pattern})", re.IGNORECASE), known) for pattern, known in _KNOWN
)


def known(text: str) -> Known | None:
    """What a command, or a unit with its command, is known as."""
    for pattern, what in _PATTERNS:
        if pattern.search(text):
            return what
    return None
