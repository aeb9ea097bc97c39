from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from pathtrace.analysis import analyse
from pathtrace.model.run import Ceiling, Mount, Reached
from pathtrace.model.sample import Reading, Sample
from pathtrace.model.scenario import ProcessSpec
from tests.unit.analysis.builders import MB, MS, Desk, host, reached, run_of, scenario, steady, stream
from tests.unit.analysis.planted import (
    ANSWER,
    DOCUMENT,
    DOCUMENTS,
    INDEX,
    Details,
    answer_run,
    disk,
    hop,
    index_run,
    machine,
    own_cpu,
    server,
    while_busy,
)

SLOW_READ = (20 * MS, 1 * MS, 1 * MS)
SLOW_PROCESS = (1 * MS, 50 * MS, 1 * MS)
SLOW_INSERT = (1 * MS, 1 * MS, 40 * MS)
PAYLOAD = DOCUMENT * DOCUMENTS


def ceiling(resource: str, bytes_per_s: float | None, latency_s: float | None = None) -> Ceiling:
    return Ceiling(resource, bytes_per_s, None, latency_s, "measured", "alone", 1.0)


def shares(stage: int, *, cpu: float | None = None, finish: float = 0.0) -> Details:
    """CPU and finishing time of one stage, as shares of each operation."""

    def details(sample: Sample) -> Mapping[str, int]:
        if sample.stage != stage:
            return {}
        known = {} if cpu is None else {"cpu_ns": round(sample.elapsed_ns * cpu)}
        return {**known, "finish_ns": round(sample.elapsed_ns * finish)}

    return details


def test_bytes_off_a_full_device_are_limited_by_the_disk() -> None:
    run = index_run(SLOW_READ, readings=lambda a, b: disk(a, b, read=PAYLOAD, busy=0.96))
    first = hop(analyse(run), "index", "archive->indexer").limited_by
    assert (first.resource, first.while_busy) == ("disk:archive", "disk:archive")
    assert any("sda busy" in text for text in first.evidence)


def test_a_device_at_its_measured_ceiling_limits_though_its_busy_time_is_unknown() -> None:
    def readings(start: int, end: int) -> list[Reading]:
        return [r for r in disk(start, end, read=PAYLOAD) if r.metric != "busy_s"]

    run = index_run(SLOW_READ, readings=readings, ceilings=(ceiling("disk:archive", 55 * MB),))
    assert while_busy(run, "read@archive") == "disk:archive"


def test_a_disk_that_was_slower_alone_is_not_called_more_than_full() -> None:
    run = index_run(
        SLOW_READ,
        readings=lambda a, b: disk(a, b, read=PAYLOAD, busy=0.96),
        ceilings=(ceiling("disk:archive", 25 * MB),),
    )
    evidence = hop(analyse(run), "index", "archive->indexer").limited_by.evidence
    assert "faster than when the disk was measured alone (25 MB/s), which is no ceiling then" in evidence


def test_a_device_that_is_neither_full_nor_mostly_busy_leaves_the_limit_unknown() -> None:
    run = index_run(
        SLOW_READ,
        readings=lambda a, b: disk(a, b, read=PAYLOAD, busy=0.3),
        ceilings=(ceiling("disk:archive", 500 * MB),),
    )
    first = hop(analyse(run), "index", "archive->indexer").limited_by
    assert first.resource == "unknown"
    assert first.next_measurement is not None


def test_a_device_that_is_mostly_busy_at_depth_one_is_named_with_its_latency() -> None:
    run = index_run(
        SLOW_READ,
        readings=lambda a, b: disk(a, b, read=PAYLOAD, busy=0.7),
        ceilings=(ceiling("disk:archive", 500 * MB),),
    )
    first = hop(analyse(run), "index", "archive->indexer").limited_by
    assert first.resource == "disk:archive"
    assert any("latency" in text for text in first.evidence)


def test_bytes_from_memory_at_the_tracers_own_speed_are_limited_by_the_tracer() -> None:
    run = index_run(
        SLOW_READ,
        readings=lambda a, b: disk(a, b, read=0.0, busy=0.99),
        ceilings=(ceiling("tracer:index/0", 60 * MB),),
    )
    assert while_busy(run, "read@archive") == "tracer"


def test_bytes_from_memory_with_pathtraces_process_at_a_core_are_limited_by_the_tracer() -> None:
    run = index_run(SLOW_READ, readings=lambda a, b: disk(a, b) + own_cpu(a, b, 0.9))
    assert while_busy(run, "read@archive") == "tracer"


def test_bytes_from_memory_with_nothing_full_are_unknown() -> None:
    run = index_run(SLOW_READ, readings=lambda a, b: disk(a, b) + own_cpu(a, b, 0.2))
    assert while_busy(run, "read@archive") == "unknown"


def test_a_network_mount_is_never_called_a_disk() -> None:
    mount = Mount("/mnt/nas", "nas:/x", "nfs4", None, True)
    run = index_run(SLOW_READ, places=(Reached("archive", None, None, mount, None),))
    first = hop(analyse(run), "index", "archive->indexer").limited_by
    assert (first.resource, first.next_measurement) == (
        "unknown",
        "measure the link and the server's disk, each alone",
    )


def test_a_command_that_computes_holds_back_the_hop_before_it() -> None:
    report = analyse(index_run(SLOW_PROCESS, shares(1, cpu=0.95)))
    first, second = (hop(report, "index", name) for name in ("archive->indexer", "indexer->library"))
    assert first.limited_by.resource == "cpu:indexer"
    assert first.limited_by.while_busy == "unknown"
    assert second.limited_by.resource == second.limited_by.while_busy == "cpu:indexer"
    assert report.flows[0].bottleneck == "cpu:indexer"
    assert "indexer on workstation" in second.limited_by.evidence[0]


def test_a_command_that_waits_for_its_turn_on_a_full_machine_is_still_limited_by_cpu() -> None:
    run = index_run(SLOW_PROCESS, shares(1, cpu=0.6), readings=lambda a, b: machine(a, b, 3.8))
    assert while_busy(run, "process@indexer") == "cpu:indexer"


def test_an_even_half_of_a_full_machine_is_no_pause() -> None:
    run = index_run(SLOW_PROCESS, shares(1, cpu=0.45), readings=lambda a, b: machine(a, b, 3.9))
    assert while_busy(run, "process@indexer") == "cpu:indexer"


def test_a_fixed_pause_is_waiting_and_named_with_its_length() -> None:
    report = analyse(index_run((1 * MS, 220 * MS, 1 * MS), shares(1, cpu=0.08)))
    limit = hop(report, "index", "indexer->library").limited_by
    assert limit.resource == "wait:indexer"
    assert (
        limit.evidence[0] == "p10 202 ms, p90 202 ms without CPU: a fixed pause of about 202 ms at each call"
    )


def test_a_fixed_pause_beside_a_slow_start_of_the_command_is_still_waiting() -> None:
    assert while_busy(index_run(SLOW_PROCESS, shares(1, cpu=0.4)), "process@indexer") == "wait:indexer"


def test_the_middle_ground_of_a_command_is_unknown() -> None:
    report = analyse(index_run(SLOW_PROCESS, shares(1, cpu=0.65)))
    limit = hop(report, "index", "indexer->library").limited_by
    assert (limit.resource, limit.next_measurement is not None) == ("unknown", True)


def test_a_disk_that_is_busy_for_somebody_else_does_not_limit_a_command() -> None:
    def details(sample: Sample) -> Mapping[str, int]:
        return {"io_bytes": DOCUMENT, "cpu_ns": MS} if sample.stage == 1 else {}

    run = index_run(SLOW_PROCESS, details, readings=lambda a, b: disk(a, b, read=50 * PAYLOAD, busy=0.9))
    assert while_busy(run, "process@indexer") == "wait:indexer"


def test_a_command_that_reads_for_itself_is_limited_by_the_busy_disk() -> None:
    def details(sample: Sample) -> Mapping[str, int]:
        return {"cpu_ns": sample.elapsed_ns // 10, "io_bytes": DOCUMENT} if sample.stage == 1 else {}

    run = index_run(SLOW_PROCESS, details, readings=lambda a, b: disk(a, b, read=PAYLOAD, busy=0.95))
    assert while_busy(run, "process@indexer") == "disk:archive"


def test_the_stand_in_for_a_command_is_cpu_also_when_it_shares_the_interpreter() -> None:
    text = INDEX.replace('command: [extract, "{path}"]', "run: chunk")
    run = index_run(SLOW_PROCESS, shares(1, cpu=0.7), text=text, readings=lambda a, b: own_cpu(a, b, 0.95))
    assert while_busy(run, "process@indexer") == "cpu:indexer"


def test_a_service_whose_process_is_not_seen_is_the_server() -> None:
    run = index_run(SLOW_PROCESS)
    places = tuple(
        replace(place, spec=ProcessSpec(None, None, "http://localhost:1"))
        if place.name == "indexer"
        else place
        for place in run.scenario.places
    )
    run = replace(run, scenario=replace(run.scenario, places=places))
    assert while_busy(run, "process@indexer") == "server:indexer"


def test_half_of_an_insert_in_commits_is_the_commit() -> None:
    run = index_run(
        SLOW_INSERT, shares(2, finish=0.8, cpu=0.1), ceilings=(ceiling("commit:library", None, 0.004),)
    )
    report = analyse(run)
    limit = hop(report, "index", "indexer->library").limited_by
    assert (limit.resource, report.flows[0].bottleneck) == ("commit:library", "commit:library")
    assert limit.evidence[-1] == "one sync on that disk takes 4 ms alone"
    assert hop(report, "index", "archive->indexer").limited_by.resource == "commit:library"


def test_a_commit_spent_on_the_index_rather_than_on_syncing_is_the_database() -> None:
    run = index_run(
        SLOW_INSERT, shares(2, finish=0.8, cpu=0.7), ceilings=(ceiling("commit:library", None, 0.0002),)
    )
    limit = hop(analyse(run), "index", "indexer->library").limited_by
    assert limit.resource == "database:library"
    assert "the rest of a commit is the engine's own work, such as keeping its index" in limit.evidence


def test_a_slow_sync_is_the_commit_however_much_the_engine_computes() -> None:
    run = index_run(
        SLOW_INSERT, shares(2, finish=0.8, cpu=0.6), ceilings=(ceiling("commit:library", None, 0.02),)
    )
    assert hop(analyse(run), "index", "indexer->library").limited_by.resource == "commit:library"


def test_an_engine_inside_pathtraces_process_is_the_database_not_the_tracer() -> None:
    run = index_run(SLOW_INSERT, shares(2, cpu=0.6), readings=lambda a, b: own_cpu(a, b, 0.9))
    assert while_busy(run, "insert@library") == "database:library"


def test_documents_handed_on_unread_are_timed_by_the_command_that_opens_them() -> None:
    def details(sample: Sample) -> Mapping[str, int]:
        return {"io_bytes": 3 * MB, "bytes": 1000} if sample.stage == 1 else {}

    report = analyse(index_run((0, 20 * MS, 1 * MS), details))
    first = hop(report, "index", "archive->indexer")
    assert first.bytes == DOCUMENTS * DOCUMENT
    assert first.active_s == pytest.approx(hop(report, "index", "indexer->library").active_s, rel=0.1)
    assert first.limited_by.while_busy == "unknown"
    assert [caveat.code for caveat in first.caveats] == ["reads-itself"]


def test_a_copy_made_in_a_loaders_place_is_the_tracers_own_work() -> None:
    copied = stream(
        (Desk(), Desk()),
        lambda stage, k: (1 * MS, 10 * MS)[stage],
        40,
        details=lambda sample: {"bytes": 10 * MB, "cpu_ns": sample.elapsed_ns if sample.stage == 1 else -1},
    )
    run = run_of(scenario(ANSWER), [copied], places=(reached("weights", disk="sda"), reached("model")))
    assert while_busy(run, "load@model") == "tracer"


def test_an_insert_that_computes_is_the_database() -> None:
    assert while_busy(index_run(SLOW_INSERT, shares(2, cpu=0.9)), "insert@library") == "database:library"


def test_an_insert_that_neither_computes_nor_commits_is_unknown() -> None:
    assert while_busy(index_run(SLOW_INSERT, shares(2, cpu=0.2)), "insert@library") == "unknown"


@pytest.mark.parametrize(
    ("cores", "gpus", "visible", "expected"),
    [
        (1.7, (), True, "model:model"),
        (0.02, (), True, "wait:model"),
        (0.02, ("a GPU",), True, "model:model"),
        (0.0, (), False, "model:model"),
    ],
)
def test_a_model_is_judged_by_what_its_server_does(
    cores: float, gpus: tuple[str, ...], visible: bool, expected: str
) -> None:
    run = answer_run(
        gpus=gpus, visible=visible, readings=lambda a, b: server(a, b, cores=cores) if visible else []
    )
    limit = hop(analyse(run), "answer", "model->people").limited_by
    assert limit.resource == expected
    assert any("cannot be seen" in text for text in limit.evidence) is (not visible or bool(gpus))


def test_a_model_that_reads_its_weights_from_a_busy_disk_is_limited_by_that_disk() -> None:
    run = answer_run(
        readings=lambda a, b: server(a, b, cores=0.2, read=8000 * MB) + disk(a, b, read=8000 * MB, busy=0.9)
    )
    assert hop(analyse(run), "answer", "model->people").limited_by.resource == "disk:weights"


def test_two_resources_that_take_equally_long_are_both_named() -> None:
    def details(sample: Sample) -> Mapping[str, int]:
        share = {1: {"cpu_ns": sample.elapsed_ns}, 2: {"finish_ns": sample.elapsed_ns}}
        return share.get(sample.stage, {})

    desks = (Desk(), Desk(queue=DOCUMENTS), Desk(batch=DOCUMENTS))
    report = analyse(index_run((1 * MS, 10 * MS, 400 * MS), details, desks=desks))
    limit = hop(report, "index", "indexer->library").limited_by
    assert {limit.resource, *limit.also} == {"cpu:indexer", "commit:library"}


def test_evidence_is_never_empty_and_the_unknown_always_has_a_next_measurement() -> None:
    runs = [
        index_run(SLOW_READ),
        index_run(SLOW_PROCESS),
        index_run(SLOW_INSERT),
        answer_run(visible=False),
        index_run(SLOW_READ, hosts=(host("elsewhere"),), places=(reached("archive", fault="gone"),)),
    ]
    for run in runs:
        for each in analyse(run).hops:
            assert each.limited_by.evidence
            assert each.limited_by.resource != "unknown" or each.limited_by.next_measurement


def test_what_another_program_reads_from_the_device_does_not_count() -> None:
    def readings(start: int, end: int) -> list[Reading]:
        own = steady("self", "process", cpu_s=(start, end, 0.0), read_bytes=(start, end, 0.0))
        return disk(start, end, read=9 * PAYLOAD, busy=0.99) + own

    assert while_busy(index_run(SLOW_READ, readings=readings), "read@archive") == "unknown"


def test_a_hop_whose_path_is_mostly_handover_is_limited_by_the_tracer() -> None:
    def details(sample: Sample) -> Mapping[str, int]:
        late = sample.start_ns * 20
        return {"start_ns": late, "intended_ns": late, "cpu_ns": sample.elapsed_ns}

    run = index_run(SLOW_PROCESS, details, repeats=1)
    limit = hop(analyse(run), "index", "indexer->library").limited_by
    assert (limit.resource, limit.while_busy) == ("tracer", "cpu:indexer")


def test_a_stage_that_finished_early_was_blocked_while_it_had_something_to_hand_on() -> None:
    desks = (Desk(), Desk(queue=DOCUMENTS // 2), Desk())
    report = analyse(index_run((1 * MS, 50 * MS, 1 * MS), shares(1, cpu=0.95), desks=desks))
    assert hop(report, "index", "archive->indexer").limited_by.resource == "cpu:indexer"


def test_a_stage_that_finished_early_is_not_called_starved() -> None:
    desks = (Desk(), Desk(queue=DOCUMENTS), Desk(batch=DOCUMENTS))
    report = analyse(index_run((20 * MS, 20 * MS, 4000 * MS), shares(2, finish=0.9), desks=desks))
    assert hop(report, "index", "indexer->library").limited_by.resource == "commit:library"


def test_weights_that_a_server_reads_from_memory_at_each_request_name_the_model_and_its_loads() -> None:
    def reads(start: int, end: int) -> list[Reading]:
        moments = ((start, 0.0), (end, 20 * 400.0 * MB))
        seen = server(start, end, cores=0.3)
        return [r for r in seen if r.metric != "rchar_bytes"] + [
            Reading(at, "process", "model", "rchar_bytes", value) for at, value in moments
        ]

    report = analyse(answer_run((900 * MS, 100 * MS), readings=reads))
    (answer,) = [each for each in report.hops if each.flow == "answer"]
    assert answer.limited_by.resource == "model:model"
    assert answer.limited_by.evidence[-1] == (
        "its server read 343 MiB at each operation: the weights are loaded anew, from this host's memory"
    )
