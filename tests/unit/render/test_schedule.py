import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pathtrace.model.schedule import Collision, Scheduled, ScheduleReport, Written
from pathtrace.render.schedule import schedule_view, written_text
from pathtrace.render.schedule_document import schedule_document
from tests.golden import assert_golden
from tests.unit.render.drawn import drawn

GOLDEN = Path(__file__).parent / "golden"

SCRUB = Collision(
    "btrfs-scrub.timer",
    "unit of systemd",
    "scrub of a file system",
    datetime(2026, 12, 6, 1, tzinfo=UTC),
    datetime(2026, 12, 6, 3, 17, tzinfo=UTC),
    5,
)
NIGHTLY = Scheduled(
    name="pathtrace-scan-lab-0a1b2c3d",
    kind="systemd",
    scope="user",
    scenario="/home/me/lab.yaml",
    when="*-*-* 03:17:00",
    said="every day at 03:17",
    delay_s=600,
    store="/home/me/runs",
    folder="/home/me",
    env_file="/home/me/variables",
    options=("--quiet-below", "20%"),
    files=("/u/a.service", "/u/a.timer"),
    active=True,
    next=(datetime(2026, 12, 1, 3, 17, tzinfo=UTC), datetime(2026, 12, 2, 3, 17, tzinfo=UTC)),
    collisions=(SCRUB, replace(SCRUB, job="tidy", source="crontab of me", known=None, times=1)),
    free="04:17",
)
SPOILED = Scheduled(
    "pathtrace-scan-old-00000000", "cron", "system", None, "5 5 * * *", files=("/etc/cron.d/pathtrace",)
)
REPORT = ScheduleReport(
    "add",
    True,
    (NIGHTLY,),
    (Written("/u/a.service", "[Unit]\nA=b\n"), Written("crontab of the user", None)),
    ("systemctl --user daemon-reload",),
    ("it runs only while you are logged on",),
)


def test_a_dry_run_says_when_by_what_what_is_in_its_way_and_what_is_left() -> None:
    assert_golden(GOLDEN / "schedule_add.txt", drawn(schedule_view(REPORT), 80))


def test_what_would_be_written_is_shown_uncut() -> None:
    assert written_text(REPORT.written) == (
        "\n/u/a.service\n[Unit]\nA=b\n\ncrontab of the user\n  (would be taken out of it, or away)"
    )


def test_a_list_shows_also_what_was_spoiled_by_hand() -> None:
    report = ScheduleReport("list", False, (NIGHTLY, SPOILED))
    assert_golden(GOLDEN / "schedule_list.txt", drawn(schedule_view(report), 80))


def test_an_empty_list_says_so() -> None:
    assert drawn(schedule_view(ScheduleReport("list", False, ())), 80) == "No scan is scheduled.\n"


def test_the_document_has_every_key() -> None:
    assert_golden(GOLDEN / "schedule.json", json.dumps(schedule_document(REPORT), indent=2) + "\n")
