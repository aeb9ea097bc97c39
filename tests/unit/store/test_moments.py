from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from pathtrace.store.moments import moment, named_at, next_name, written

NOW = datetime(2026, 10, 25, 1, 30, 0, 500_000, tzinfo=UTC)


def test_a_folder_is_named_after_the_moment_in_utc(tmp_path: Path) -> None:
    assert next_name(tmp_path, NOW)[:16] == "20261025-013000-"
    assert (
        next_name(tmp_path / "none", NOW.astimezone(timezone(timedelta(hours=2))))[:16] == "20261025-013000-"
    )


@pytest.mark.parametrize(
    ("latest", "named"),
    [
        ("20261025-012959-aaaa", "20261025-013000"),
        ("20261025-013000-aaaa", "20261025-013001"),
        ("20261025-023000-aaaa", "20261025-023001"),
        ("20261026-020000-aaaa", "20261026-020001"),
        ("20380101-000000-aaaa", "20261025-013000"),
        ("20269999-000000-aaaa", "20261025-013000"),
        ("zzz", "20261025-013000"),
    ],
)
def test_where_the_clock_was_set_back_names_go_on_after_the_latest(
    tmp_path: Path, latest: str, named: str
) -> None:
    (tmp_path / "20261024-013000-aaaa").mkdir()
    (tmp_path / latest).mkdir()
    assert next_name(tmp_path, NOW)[:15] == named


def test_names_made_one_after_the_other_sort_so_whatever_the_clock_does(tmp_path: Path) -> None:
    made = []
    for minutes in (0, 30, 55, -5, 0, 20, 60, 90):  # an hour back after 55 minutes
        made.append(next_name(tmp_path, NOW + timedelta(minutes=minutes)))
        (tmp_path / made[-1]).mkdir()
    assert made == sorted(made)


def test_the_moment_of_a_name_and_of_a_text(tmp_path: Path) -> None:
    assert named_at("20261025-013000-k3f9") == NOW.replace(microsecond=0)
    assert named_at("before") is None
    assert moment(written(NOW)) == NOW.replace(microsecond=0)
    assert moment("2026-10-25T01:30:00") == NOW.replace(microsecond=0)
