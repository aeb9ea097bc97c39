"""The Prometheus text file: accepted by promtool, shared by scenarios, silent about what is not known."""

from __future__ import annotations

import math
import os
import shutil
import stat
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from pathtrace.errors import StoreError, UsageError
from pathtrace.model.history import Took
from pathtrace.model.scanning import ScanReport
from pathtrace.render.metrics import metrics_text
from pathtrace.telling.metrics_file import rewrite
from tests.golden import assert_golden
from tests.telling import example

GOLDEN = Path(__file__).parent / "golden"
FULL = replace(example.with_changes(example.STEP), expectations=(example.BROKEN,))
BEGAN = example.ENTRY.at.timestamp()
ODD = 'a "quoted" back\\slash\nline ünïcode {braces} , = #'


def promtool(text: str) -> None:
    """Debian's own checker says nothing: neither a fault nor a breach of convention."""
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed (Debian: apt install prometheus)")
    done = subprocess.run([tool, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def values(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def of(text: str, name: str, **labels: str) -> float | None:
    labels = {"scenario": "household-archive"} | labels
    return values(text).get((f"pathtrace_{name}", tuple(sorted(labels.items()))))


def renamed(report: ScanReport, scenario: str) -> ScanReport:
    return replace(report, entry=replace(report.entry, scenario=scenario))


@pytest.mark.server
@pytest.mark.parametrize(
    "report",
    [FULL, example.QUIET, example.skipped(), example.failed("new"), renamed(FULL, ODD)],
    ids=["full", "quiet", "skipped", "failed", "odd"],
)
def test_promtool_accepts_what_is_written(report: ScanReport) -> None:
    promtool(metrics_text(report, ""))


@pytest.mark.server
def test_promtool_accepts_a_file_of_several_scenarios() -> None:
    text = ""
    for name in ("household-archive", ODD, "100 %"):
        text = metrics_text(renamed(FULL, name), text)
    promtool(text)


def test_the_file_is_as_kept() -> None:
    assert_golden(GOLDEN / "metrics.prom", metrics_text(FULL, ""))


def test_the_scan_itself_is_measured() -> None:
    text = metrics_text(FULL, "")
    assert of(text, "scan_duration_seconds") == 731.5
    assert of(text, "scan_wait_seconds") == 60.0
    assert of(text, "scan_last_timestamp_seconds") == BEGAN
    assert of(text, "scan_last_success_timestamp_seconds") == BEGAN
    assert of(text, "scan_outcome", outcome="measured") == 1
    assert of(text, "scan_outcome", outcome="failed") == 0


@pytest.mark.parametrize("report", [example.skipped(), example.failed("new")])
def test_what_was_not_measured_is_absent_and_the_last_success_stays(report: ScanReport) -> None:
    later = replace(report.entry, at=report.entry.at.replace(day=1, month=12))
    text = metrics_text(replace(report, entry=later), metrics_text(FULL, ""))
    assert of(text, "scan_last_success_timestamp_seconds") == BEGAN
    assert of(text, "scan_last_timestamp_seconds") == later.at.timestamp()
    assert "flow_duration" not in text
    assert "hop_duration" not in text


def test_a_scan_that_never_succeeded_has_no_time_of_success() -> None:
    assert "last_success" not in metrics_text(example.failed("new"), "")


def test_a_part_of_a_scan_is_no_success() -> None:
    partial = replace(example.QUIET, entry=replace(example.ENTRY, status="partial"))
    assert "last_success" not in metrics_text(partial, "")


def test_what_is_no_number_or_cannot_be_judged_is_absent() -> None:
    took = (Took("index", math.nan, 1.0, math.inf, None),)
    unjudged = replace(example.BROKEN, kept=None)
    report = replace(
        example.QUIET, entry=replace(example.ENTRY, took=took), beside=(), expectations=(unjudged,)
    )
    text = metrics_text(report, "")
    assert "NaN" not in text
    assert "Inf" not in text
    assert "expectation" not in text
    assert of(text, "flow_duration_seconds", flow="index") is None
    assert of(text, "flow_duration_low_seconds", flow="index") == 1.0


def test_a_skipped_scan_does_not_say_that_nothing_changed() -> None:
    assert "pathtrace_changes" not in metrics_text(example.skipped(), "")
    assert of(metrics_text(FULL, ""), "changes", kind="step") == 1
    assert of(metrics_text(example.QUIET, ""), "changes", kind="step") == 0


NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20)


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_scenarios_share_a_file_whatever_their_names(names: list[str]) -> None:
    text = ""
    for name in (*names, *names):  # a second round replaces, and adds nothing
        text = metrics_text(renamed(FULL, name), text)
    alone = {name: values(metrics_text(renamed(FULL, name), "")) for name in names}
    assert values(text) == {key: value for each in alone.values() for key, value in each.items()}


@pytest.mark.parametrize("there", ["node_load1 0.5\n", "root:x:0:0:root:/root:/bin/bash\n", "# only words\n"])
def test_a_file_of_others_is_left_as_it_is(there: str, tmp_path: Path) -> None:
    path = tmp_path / "other.prom"
    path.write_text(there)
    with pytest.raises(UsageError, match="holds something else than metrics of pathtrace"):
        rewrite(path, lambda text: metrics_text(FULL, text))
    assert path.read_text() == there
    assert os.listdir(tmp_path) == ["other.prom"]


def test_names_of_another_version_are_left_out() -> None:
    text = metrics_text(FULL, '# TYPE pathtrace_old gauge\npathtrace_old{scenario="x"} 1\n')
    assert "pathtrace_old" not in text


def test_a_new_file_can_be_read_by_whoever_collects_metrics(tmp_path: Path) -> None:
    path = tmp_path / "pathtrace.prom"
    mask = os.umask(0o077)
    try:
        rewrite(path, lambda _: "one\n")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    path.chmod(0o640)
    rewrite(path, lambda text: text + "two\n")
    assert path.read_text() == "one\ntwo\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["pathtrace.prom"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    link, target = tmp_path / "link.prom", tmp_path / "target.prom"
    target.write_text("")
    link.symlink_to(target)
    rewrite(link, lambda _: "one\n")
    assert link.is_symlink()
    assert target.read_text() == "one\n"


def test_what_a_killed_scan_left_is_removed_and_what_another_writes_is_not(tmp_path: Path) -> None:
    old, young, editors = (tmp_path / f".p.prom.{end}" for end in ("ab12cd3_", "ef45gh67", "swp"))
    for left in (old, young, editors):
        left.write_text("")
    long_ago = time.time() - 7200
    for left in (old, editors):
        os.utime(left, (long_ago, long_ago))
    rewrite(tmp_path / "p.prom", lambda _: "one\n")
    assert sorted(os.listdir(tmp_path)) == [".p.prom.ef45gh67", ".p.prom.swp", "p.prom"]


@pytest.mark.parametrize("name", ["missing/p.prom", "folder", "pipe"])
def test_a_file_that_cannot_be_written_is_a_clear_error(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.symlink("/dev/null", tmp_path / "pipe")
    with pytest.raises(StoreError, match="cannot write"):
        rewrite(tmp_path / name, lambda _: "one\n")
