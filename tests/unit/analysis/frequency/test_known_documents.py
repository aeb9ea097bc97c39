from __future__ import annotations

import pytest

from pathtrace.analysis import analyse
from pathtrace.model.report import Report
from pathtrace.model.sample import Sample
from tests.unit.analysis.builders import MB, MS, Desk, reached, run_of, scenario, stream
from tests.unit.analysis.planted import INDEX, hop

STARTUP = 3 * MB
"""What the command's own program reads, whatever the document."""
AGAIN = INDEX.replace("frequency: every 24 h", "frequency: per-document")


def indexed(shares: tuple[float, ...], text: str = AGAIN) -> Report:
    """One run of the same forty documents, of different sizes, for each share of them that is read."""
    executions, at = [], 0
    for repeat, share in enumerate(shares):
        samples, window = stream(
            (Desk(), Desk(), Desk()),
            lambda stage, k: (0, 2 * MS, 1 * MS)[stage],
            40,
            offset=at,
            repeat=repeat,
        )
        sizes = {
            s.operation: (1 + number % 7) * MB for number, s in enumerate(s for s in samples if not s.stage)
        }
        executions.append(([_with_bytes(s, sizes, share) for s in samples], window))
        at = window.end_ns + 1000 * MS
    return analyse(run_of(scenario(text), executions, places=(reached("archive"), reached("library"))))


def _with_bytes(sample: Sample, sizes: dict[int, int], share: float) -> Sample:
    if sample.stage == 0:
        return sample._replace(bytes=sizes[sample.operation])
    if sample.stage == 1:
        return sample._replace(io_bytes=STARTUP + round(share * sizes[sample.cause]))
    return sample


def test_a_command_that_reads_all_documents_again_is_said_first() -> None:
    report = indexed((1.0, 1.0, 1.0))
    frequency = hop(report, "index", "archive->indexer").frequency
    assert (frequency.declared, frequency.observed) == ("per-document", "every run")
    assert report.verdict.lines[0] == (
        "index: declared per-document, observed at every run: indexer read the same 148 MiB again each time; "
        "keep the list of known documents (free)."
    )


def test_a_command_that_knows_its_documents_keeps_to_what_was_declared() -> None:
    report = indexed((1.0, 0.0, 0.0))
    frequency = hop(report, "index", "archive->indexer").frequency
    assert (frequency.declared, frequency.observed) == ("per-document", "per-document")
    assert [finding for finding in report.findings if finding.code == "read-again"] == []


@pytest.mark.parametrize("shares", [(1.0,), (0.0, 0.0), (1.0, 0.0, 1.0)])
def test_what_one_run_or_a_mixture_shows_is_no_observation(shares: tuple[float, ...]) -> None:
    assert hop(indexed(shares), "index", "archive->indexer").frequency.observed is None


def test_of_a_nightly_run_the_seconds_a_day_are_said() -> None:
    (found,) = [f for f in indexed((1.0, 1.0), INDEX).findings if f.code == "read-again"]
    assert found.evidence[1].endswith("a day")
