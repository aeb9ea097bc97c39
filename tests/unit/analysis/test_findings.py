from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from pathtrace.analysis import analyse
from pathtrace.model.run import Activity, Ceiling, Run
from pathtrace.model.sample import Sample
from pathtrace.model.work import PlaceFacts
from tests.unit.analysis.builders import GIB, MB, MS, Desk, host, reached, run_of, scenario, stream
from tests.unit.analysis.planted import DOCUMENT, DOCUMENTS, INDEX, disk, index_run

READ = (10 * MS, 1 * MS, 1 * MS)
SLOW = (1 * MS, 50 * MS, 1 * MS)


def codes(run: Run) -> list[str]:
    return [finding.code for finding in analyse(run).findings]


def ceiling(rate: float) -> Ceiling:
    return Ceiling("disk:archive", rate, None, None, "measured", "direct reads", 1.0)


def lasting(*milliseconds: int) -> Run:
    """One repeat for each duration of the only document."""
    at, executions = 0, []
    for repeat, took in enumerate(milliseconds):

        def service(stage: int, k: int, each: int = took * MS // 3) -> int:
            return each

        executions.append(stream([Desk()] * 3, service, 1, offset=at, repeat=repeat))
        at += took * MS + MS
    return run_of(scenario(INDEX), executions)


def test_a_rate_above_the_disk_that_memory_explains_is_a_cache() -> None:
    run = index_run(READ, readings=lambda a, b: disk(a, b, read=0.0), ceilings=(ceiling(50 * MB),))
    assert codes(run) == ["cache"]


def test_a_rate_above_the_disk_that_nothing_explains_is_impossible() -> None:
    read = DOCUMENT * DOCUMENTS
    run = index_run(READ, readings=lambda a, b: disk(a, b, read=read), ceilings=(ceiling(50 * MB),))
    assert codes(run) == ["impossible"]


def test_more_bytes_off_the_device_than_asked_for_is_amplification() -> None:
    run = index_run(READ, readings=lambda a, b: disk(a, b, read=3 * DOCUMENT * DOCUMENTS))
    finding = analyse(run).findings[0]
    assert (finding.code, finding.text) == (
        "read-amplification",
        "sda read 3.0 times what archive was asked for: read ahead, or for other programs",
    )


def test_small_and_sparse_data_are_flagged() -> None:
    place = replace(
        reached("archive"), facts=PlaceFacts("there", files=3, bytes=GIB // 2, sparse_bytes=GIB // 4)
    )
    run = index_run(READ, places=(place,))
    assert [(finding.code, finding.text) for finding in analyse(run).findings] == [
        ("sparse", "50 % of archive is holes, which no disk has to read"),
        (
            "small-data",
            "smaller than the memory of workstation (16 GiB), so may be read from there: archive (512 MiB)",
        ),
    ]


@pytest.mark.parametrize(("percent", "expected"), [(5.0, []), (10.0, ["other-activity"])])
def test_other_work_of_more_than_a_quarter_of_a_core_is_named(percent: float, expected: list[str]) -> None:
    run = replace(index_run(READ), activity=(Activity("workstation", percent, None, None, ("backup",)),))
    assert codes(replace(run, environment=replace(run.environment, hosts=(host(cores=4),)))) == expected


@pytest.mark.parametrize(
    ("took", "expected"),
    [
        ((30, 30, 30, 30, 30), []),
        ((60, 30, 31, 30, 30), ["warm-repeats"]),
        ((60, 30, 31, 30, 30, 31), ["warm-repeats"]),
        ((60, 30, 33, 36, 39, 42), ["warm-repeats", "drift"]),
        ((30, 33, 36, 39, 42), ["drift"]),
        ((30, 45, 30, 45, 30), ["bimodal"]),
        ((30, 33, 32, 36, 35, 39, 38, 42), ["drift"]),
        ((30, 45, 31, 46, 30, 45, 90), ["bimodal"]),
        ((30, 31, 30, 90, 30), ["outlier"]),
        ((30, 45), []),
        ((30, 31, 30, 33, 30), []),
    ],
)
def test_repeats_that_a_median_hides_are_told(took: tuple[int, ...], expected: list[str]) -> None:
    assert codes(lasting(*took)) == expected


def test_repeats_that_read_different_amounts_tell_of_changed_data() -> None:
    def growing(sample: Sample) -> Mapping[str, int]:
        return {"bytes": 1000 * (1 + sample.repeat)}

    assert "data-changed" in codes(index_run(READ, growing))
    assert "data-changed" not in codes(index_run(READ))


def test_failed_operations_are_counted_with_what_they_said() -> None:
    run = index_run(READ, lambda sample: {"outcome": 1} if sample.stage == 1 and sample.operation < 6 else {})
    finding = analyse(replace(run, faults=("the command crashed",))).findings[0]
    assert (finding.code, finding.evidence) == ("errors", ("the command crashed",))
    assert " of 40 operations failed in process at indexer" in finding.text


def test_a_command_that_always_fails_leaves_no_figure_and_is_to_be_mended() -> None:
    report = analyse(index_run(SLOW, lambda sample: {"outcome": 1} if sample.stage == 1 else {}))
    assert (
        report.findings[0].text == "40 of 40 operations failed in process at indexer: no figure of it holds"
    )
    limit = report.hops[1].limited_by
    assert (limit.resource, limit.evidence) == ("unknown", ("every operation failed",))
    assert limit.next_measurement == "mend the command, then run again"


def test_a_command_that_mostly_fails_is_not_limited_by_what_its_few_results_took() -> None:
    run = index_run(SLOW, lambda sample: {"outcome": 1} if sample.stage == 1 and sample.operation % 4 else {})
    report = analyse(run)
    assert report.findings[0].code == "mostly-failed"
    limit = report.hops[1].limited_by
    assert (limit.resource, limit.next_measurement) == ("unknown", "mend the command, then run again")
    assert limit.evidence[0].endswith(" of 40 operations failed")


def test_a_failure_is_told_by_what_its_own_place_said() -> None:
    run = index_run(READ, lambda sample: {"outcome": 1} if sample.stage == 1 and sample.operation < 6 else {})
    said = ("library: locked", "indexer: exit code 2", "no result within the time limit of 3 s")
    assert analyse(replace(run, faults=said)).findings[0].evidence == said[1:]


def test_a_repeat_far_from_the_others_is_named_marked_and_counted() -> None:
    report = analyse(lasting(30, 31, 30, 90, 30))
    (finding,) = (each for each in report.findings if each.code == "outlier")
    assert finding.text == "index took far longer or shorter than usual in repeat 4: marked, and kept"
    assert [each.outlier for each in report.repeats] == [False, False, False, True, False]
    assert report.flows[0].duration_s is not None
    assert report.flows[0].duration_s.n == 5


def test_of_many_repeats_the_first_and_the_last_are_shown() -> None:
    (finding,) = (each for each in analyse(lasting(*[30, 45] * 10)).findings if each.code == "bimodal")
    assert finding.evidence[0].count(",") == 12
    assert "… (8 more)" in finding.evidence[0]
