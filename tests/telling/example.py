"""A scan of a household's archive to vary: what changed, what was expected, what became of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from pathtrace.model.history import COMPLETE, FAILED, SKIPPED, Change, EnvironmentMark, HistoryEntry, Took
from pathtrace.model.scanning import MEASURED, Beside, Expectation, ScanReport

NIGHT = "20261130-011503-ab12"
HOP = "index/archive->indexer"
TOOK = (
    Took("index", 575.0, 560.0, 590.0, "link:lan", operations=1200, bytes=3_000_000_000),
    Took(HOP, 541.5, 530.0, 552.0, "link:lan", operations=1200, bytes=3_000_000_000),
    Took("answer", 2.4, 2.3, 2.6, "model:model"),
)
ENTRY = HistoryEntry(
    id=NIGHT,
    at=datetime(2026, 11, 30, 2, 15, 3, tzinfo=timezone(timedelta(hours=1), "CET")),
    scenario="household-archive",
    workload_fingerprint="aa",
    setup_fingerprint="bb",
    start="cold",
    status=COMPLETE,
    duration_s=702.0,
    took=TOOK,
    scanned=True,
)
QUIET = ScanReport(
    entry=ENTRY,
    host="workstation",
    outcome=MEASURED,
    scan_s=731.5,
    waited_s=60.0,
    against="the median of the last 14 runs",
    beside=(
        Beside("index", 575.0, 250.0, 2.3, 2.1, 2.5, "slower"),
        Beside(HOP, 541.5, 186.7, 2.9, 2.7, 3.1, "slower"),
    ),
)
MARKS = (
    EnvironmentMark(NIGHT, "link lan", "2500 Mbit/s", "1000 Mbit/s"),
    EnvironmentMark(NIGHT, "kernel of nas", "6.12", "6.18"),
)
STEP = Change(
    kind="step",
    name=HOP,
    state="new",
    since="20261127-231503-cd34",
    nights=3,
    ratio=2.9,
    low=2.7,
    high=3.1,
    resource="link:lan",
    resource_before="disk:archive",
    marks=MARKS,
    also=("index",),
    before_s=186.7,
    after_s=541.5,
)
CREEP = Change(
    kind="creep",
    name="answer",
    state="new",
    since="20261001-001503-cd34",
    nights=42,
    ratio=1.19,
    low=1.12,
    high=1.26,
    per_week=1.03,
    resource="model:model",
    resource_before="model:model",
)
OUTAGE = Change(
    kind="outage",
    name=HOP,
    state="new",
    since="20261128-011503-cd34",
    nights=3,
    ratio=None,
    low=None,
    high=None,
    marks=MARKS[:1],
    also=("index",),
)
BROKEN = Expectation("index", "+20%", 300.0, 575.0, False, None, "new")


def with_changes(*changes: Change) -> ScanReport:
    return replace(QUIET, changes=changes)


def failed(state: str | None, reason: str = "archive: no answer within 60 s") -> ScanReport:
    entry = replace(ENTRY, status=FAILED, took=(), reason=reason)
    return replace(QUIET, entry=entry, outcome=FAILED, beside=(), against=None, failure=state)


def skipped(reason: str = "workstation was busy for 30 min: CPU 63 %, 20 % allowed") -> ScanReport:
    entry = replace(ENTRY, status=SKIPPED, took=(), reason=reason)
    return replace(QUIET, entry=entry, outcome=SKIPPED, beside=(), against=None)


UTC_ENTRY = replace(ENTRY, at=ENTRY.at.astimezone(UTC))
