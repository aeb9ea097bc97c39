"""Inserts that slow down as rows are stored, against runs whose slope is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.analysis import analyse
from pathtrace.model.report import Finding
from pathtrace.model.run import Run
from pathtrace.model.sample import SampleTable
from tests.unit.analysis.builders import MS, Desk, reached, run_of, scenario, stream

TEXT = """
pathtrace: 1
places:
  archive: {kind: files, path: /data}
  indexer: {kind: process, run: chunk}
  library: {kind: database, url: "postgresql://localhost/lab", batch: 100}
flows:
  index: {path: [archive, indexer, library], frequency: per-document}
"""
BATCHES = 240
INSERT = 2
Service = Callable[[int], int]


def filled(*repeats: Service, size: Callable[[int], int] = lambda batch: 50_000, workers: int = 1) -> Run:
    """``repeats``: per repeat, nanoseconds that the insert of each batch takes, 2 ms of it committing."""
    executions, at = [], 0
    for repeat, took in enumerate(repeats):
        samples, window = stream(
            (Desk(), Desk(), Desk(workers=workers)),
            lambda stage, k, took=took: took(k) + 2 * MS if stage == INSERT else 0,  # type: ignore[misc]
            BATCHES,
            offset=at,
            repeat=repeat,
            details=lambda sample: {"finish_ns": 2 * MS} if sample.stage == INSERT else {},
        )
        inserts = iter(range(BATCHES))
        sized = [each._replace(bytes=size(next(inserts)) if each.stage == INSERT else 1) for each in samples]
        executions.append((sized, window))
        at = window.end_ns + 1000 * MS
    return run_of(scenario(TEXT), executions, places=(reached("archive"), reached("library")))


def found(run: Run) -> list[Finding]:
    return [finding for finding in analyse(run).findings if finding.code == "index-slope"]


def steady(batch: int) -> int:
    return 20 * MS


def slowing(batch: int) -> int:
    """10 ms for the first batch, 30 ms for the last: 60 ms more for every 72,000 rows."""
    return 10 * MS + 20 * MS * batch // BATCHES


def test_a_slope_is_found_with_its_rates() -> None:
    (finding,) = found(filled(slowing))
    # Quarters take 12.46, 17.46, 22.46 and 27.46 ms a batch.
    assert finding.text == (
        "inserts into library slowed from 8,027 to 3,642 rows/s as 24,000 rows were stored: an index is kept "
        "up to date at each insert"
    )
    assert finding.evidence == (
        "rows/s by quarter, commits apart: 8,027, 5,728, 4,453, 3,642",
        "11.4 MiB stored, from 4.01 MB/s to 1.82 MB/s",
        "every 10,000 rows stored add 83.3 µs to the next one's insert; filling first and indexing "
        "afterwards avoids it",
    )


def test_with_two_workers_the_rate_is_that_of_both() -> None:
    (finding,) = found(filled(slowing, workers=2))
    assert "slowed from 16,0" in finding.text


def test_even_inserts_have_no_slope() -> None:
    assert found(filled(steady)) == []


def test_inserts_that_become_faster_have_no_slope() -> None:
    assert found(filled(lambda batch: slowing(BATCHES - batch))) == []


def test_commits_that_become_slower_are_no_index() -> None:
    run = filled(steady)
    rows = run.samples.rows.copy()
    inserts = rows["stage"] == INSERT
    rows["elapsed_ns"][inserts] += range(0, BATCHES * MS, MS)
    rows["finish_ns"][inserts] += range(0, BATCHES * MS, MS)
    assert found(replace(run, samples=SampleTable(rows))) == []


def test_larger_rows_are_no_slope() -> None:
    """Each takes longer, but no longer for its bytes."""
    assert found(filled(slowing, size=lambda batch: slowing(batch) // 1000)) == []


def test_one_slow_stretch_is_no_slope() -> None:
    assert found(filled(lambda batch: 60 * MS if batch >= 220 else 20 * MS)) == []


def test_one_slowing_repeat_of_three_is_none_and_two_are_one() -> None:
    assert found(filled(steady, slowing, steady)) == []
    assert len(found(filled(slowing, steady, slowing))) == 1


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(5, 40), min_size=24, max_size=24))
def test_the_same_times_never_slow_down_both_ways(times: list[int]) -> None:
    forth = found(filled(lambda batch: times[batch // 10] * MS))
    back = found(filled(lambda batch: times[-1 - batch // 10] * MS))
    assert not (forth and back)
