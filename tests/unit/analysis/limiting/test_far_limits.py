from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.analysis import analyse
from pathtrace.model.network import PathFacts
from pathtrace.model.run import Ceiling
from pathtrace.model.sample import Reading, ReadingTable, SampleTable
from tests.unit.analysis.builders import MB, MS, Desk, reached, run_of, scenario, steady, stream
from tests.unit.analysis.far import (
    LAN,
    TEXT,
    Way,
    black_hole,
    ceiling,
    cores,
    disk,
    first_hop,
    found,
    limit,
    line,
    on_mount,
    process,
    report,
    run,
)
from tests.unit.analysis.planted import while_busy

FULL = Way(took_ms=89)  # 10 MB in 89 ms: 112 MB/s, 95 % of the line
HALF = Way(took_ms=170)  # 59 MB/s, half of the line


def test_a_link_that_is_full_while_busy_is_the_limit() -> None:
    hop = first_hop(FULL)
    assert (hop.limited_by.resource, hop.limited_by.also) == ("link:lan", ())
    assert hop.limited_by.evidence[-1] == (
        "112 MB/s (899 Mbit/s) crossed link:lan nas->workstation: 95 % of the 942 Mbit/s that it carries "
        "(measured)"
    )


def test_a_link_at_four_fifths_is_not() -> None:
    assert limit(replace(FULL, took_ms=106)) != "link:lan"


def test_an_interface_that_counts_merged_packets_tells_the_same() -> None:
    assert limit(replace(FULL, merged=True)) == "link:lan"


def test_a_declared_link_is_held_against_what_its_speed_carries_of_payload() -> None:
    assert limit(replace(FULL, ceilings=())) == "link:lan"
    assert limit(replace(FULL, took_ms=106, ceilings=())) == "unknown"


def test_a_link_that_is_full_by_its_declared_speed_alone_is_to_be_measured() -> None:
    declared, measured = (first_hop(way).limited_by for way in (replace(FULL, ceilings=()), FULL))
    assert (declared.resource, measured.resource) == ("link:lan", "link:lan")
    assert declared.next_measurement is not None
    assert declared.next_measurement.startswith("run `pathtrace respond` on nas")
    assert measured.next_measurement is None


def test_a_link_of_which_nothing_is_known_is_unknown_and_says_how_to_measure_it() -> None:
    got = first_hop(replace(FULL, links="{}", ceilings=())).limited_by
    assert (got.resource, got.next_measurement) == (
        "unknown",
        "run `pathtrace respond` on nas, name it (`responder:` under hosts.nas), "
        "then `pathtrace run SCENARIO`",
    )


def test_an_undeclared_link_bears_the_names_of_both_hosts() -> None:
    way = replace(FULL, links="{}", ceilings=line(name="nas-workstation"))
    assert limit(way) == "link:nas-workstation"


def test_without_counters_of_what_crossed_the_next_step_is_to_count_it() -> None:
    got = first_hop(replace(FULL, sockets=False, interface=False)).limited_by
    assert got.resource == "unknown"
    assert (got.next_measurement or "").startswith("name the address of nas")


def test_other_traffic_fills_a_link_too_and_is_told_of() -> None:
    way = replace(HALF, others=0.95)
    assert limit(way) == "link:lan"
    (finding,) = found(way, "other-traffic")
    assert finding.text == "other traffic took 49 % of what eth0 carried nas->workstation meanwhile"
    assert found(replace(HALF, others=0.02), "other-traffic") == []


def test_without_its_connections_counted_the_payload_is_taken_for_its_own() -> None:
    assert limit(replace(FULL, sockets=False)) == "link:lan"
    assert found(replace(FULL, sockets=False), "other-traffic") == []


@pytest.mark.parametrize(("lost", "resource"), [(0.01, "loss:lan"), (0.0005, "server:weights")])
def test_segments_that_come_out_of_order_on_a_half_idle_link_are_loss(lost: float, resource: str) -> None:
    assert limit(replace(HALF, lost=lost)) == resource


def test_loss_on_a_full_link_is_how_a_link_is_filled() -> None:
    assert limit(replace(FULL, lost=0.01)) == "link:lan"


def test_little_loss_is_no_verdict_where_the_links_ceiling_is_not_known() -> None:
    way = replace(HALF, links="{}", ceilings=())
    assert limit(replace(way, lost=0.004)) == "unknown"
    assert limit(replace(way, lost=0.02)) == "loss:nas-workstation"


def test_large_packets_that_vanish_on_a_trickling_path_are_the_mtu() -> None:
    slow = replace(HALF, took_ms=2000, paths=(black_hole(),), lost=0.01)
    assert limit(slow) == "mtu:lan"
    assert "1500 bytes pass, 9000 vanish" in first_hop(slow).limited_by.evidence
    assert limit(replace(slow, paths=(), lost=0.0)) != "mtu:lan"


def test_a_black_hole_that_does_not_hold_is_a_finding_only() -> None:
    way = replace(FULL, paths=(black_hole(),))
    assert limit(way) == "link:lan"
    assert [finding.code for finding in found(way, "mtu-black-hole")] == ["mtu-black-hole"]


def test_operations_that_hang_on_a_black_hole_are_the_mtu_and_not_just_failures() -> None:
    hanging = replace(HALF, outcome=2, paths=(black_hole(),))
    assert limit(hanging) == "mtu:lan"
    unseen = first_hop(replace(hanging, paths=())).limited_by
    assert (unseen.resource, unseen.next_measurement) == (
        "unknown",
        "`pathtrace probe SCENARIO` finds the largest packet that passes to nas",
    )


def far_disk_way(busy: float, read: float = 1.0) -> Way:
    return replace(HALF, more=lambda a, b: disk(a, b, read=read * HALF.payload, busy=busy))


def test_a_busy_disk_on_the_other_host_is_the_limit() -> None:
    got = first_hop(far_disk_way(0.96)).limited_by
    assert got.resource == "disk:weights"
    assert got.evidence[-1] == "nas/sda: 381 MiB read, 0 B written, busy 96 % of the time"


def test_a_disk_that_is_half_busy_is_not() -> None:
    assert limit(far_disk_way(0.45)) == "server:weights"


def test_a_disk_that_is_busy_most_of_the_time_is_where_requests_wait_for_one_another() -> None:
    got = first_hop(far_disk_way(0.7)).limited_by
    assert got.resource == "disk:weights"
    assert got.evidence[-1].endswith("more than all else: requests wait for one another")


def test_a_link_that_negotiated_more_than_the_scenario_says_carries_what_the_scenario_says() -> None:
    computed = Ceiling("link:lan", 1177 * MB, None, None, "computed", "", 0.0, "nas->workstation")
    assert limit(replace(FULL, ceilings=(computed,))) == "link:lan"


def test_a_disk_that_is_busy_for_somebody_else_is_not() -> None:
    assert limit(far_disk_way(0.96, read=0.1)) != "disk:weights"


def test_the_disk_that_the_share_lies_on_counts_where_it_is_known() -> None:
    def two(start: int, end: int) -> list[Reading]:
        mine = disk(start, end, read=HALF.payload, busy=0.95, name="sdb")
        return mine + disk(start, end, read=3 * HALF.payload, busy=0.3)

    assert limit(replace(HALF, more=two, place=on_mount(far_disk="sdb"))) == "disk:weights"
    assert limit(replace(HALF, more=two, place=on_mount(far_disk="sda"))) != "disk:weights"


@pytest.mark.parametrize(
    ("alone", "resource"),
    [(62 * MB, "disk:weights"), (300 * MB, "server:weights"), (20 * MB, "server:weights")],
)
def test_a_rate_near_what_the_disk_does_on_its_own_host_is_the_disk(alone: float, resource: str) -> None:
    ceilings = (*line(), ceiling("disk:weights", alone))
    assert limit(replace(HALF, ceilings=ceilings)) == resource


def test_what_a_probe_read_through_a_mount_here_is_no_disk() -> None:
    place = on_mount("fuse.myfs")
    assert place.mount is not None
    place = replace(place, mount=replace(place.mount, network=False))
    way = replace(HALF, ceilings=(*line(), ceiling("disk:weights", 62 * MB)), place=place)
    assert limit(way) == "server:weights"


def test_as_many_operations_as_the_disk_does_alone_are_the_disk() -> None:
    ceilings = (*line(), ceiling("disk:weights", operations=6.0))
    assert limit(replace(HALF, ceilings=ceilings)) == "disk:weights"


def test_two_limits_within_a_tenth_are_both_named() -> None:
    both = replace(FULL, more=lambda a, b: disk(a, b, read=FULL.payload, busy=0.95))
    got = first_hop(both).limited_by
    assert (got.resource, got.also) == ("link:lan", ("disk:weights",))
    assert "nas/sda" in got.evidence[-1]
    apart = replace(FULL, more=lambda a, b: disk(a, b, read=FULL.payload, busy=0.6))
    assert first_hop(apart).limited_by.also == ()


@pytest.mark.parametrize(("used", "resource"), [(0.93, "cpu:weights"), (0.45, "server:weights")])
def test_a_server_that_fills_a_core_is_the_limit(used: float, resource: str) -> None:
    def more(start: int, end: int) -> list[Reading]:
        return cores(start, end, used, 0.1) + process(start, end, "smbd[77]", used)

    got = first_hop(replace(HALF, more=more)).limited_by
    assert got.resource == resource
    if resource == "cpu:weights":
        assert got.evidence[-1] == "smbd[77] on nas uses 93 % of a core"


def test_another_program_that_fills_a_core_beside_an_idle_one_is_no_limit_but_told_of() -> None:
    def more(start: int, end: int) -> list[Reading]:
        seen = cores(start, end, 0.95, 0.1) + process(start, end, "smbd[77]", 0.2)
        return seen + process(start, end, "ffmpeg[9]", 0.95)

    way = replace(HALF, more=more)
    assert limit(way) == "server:weights"
    (finding,) = found(way, "other-activity")
    assert finding.evidence == ("ffmpeg[9] used 0.95 cores",)


def test_a_host_whose_only_core_others_fill_is_limited_by_it() -> None:
    def more(start: int, end: int) -> list[Reading]:
        seen = cores(start, end, 0.99) + process(start, end, "smbd[77]", 0.3)
        return seen + process(start, end, "ffmpeg[9]", 0.69)

    got = first_hop(replace(HALF, more=more)).limited_by
    assert (got.resource, got.evidence[-1]) == (
        "cpu:weights",
        "the only core of nas is full (99 %), most of it with ffmpeg[9]",
    )


def test_a_full_host_whose_server_hardly_wants_to_run_is_no_limit() -> None:
    def more(start: int, end: int) -> list[Reading]:
        seen = cores(start, end, 0.99) + process(start, end, "smbd[77]", 0.05)
        return seen + process(start, end, "ffmpeg[9]", 0.94)

    assert limit(replace(HALF, more=more)) == "server:weights"


def test_a_full_core_of_the_kernel_counts_where_no_program_was_seen() -> None:
    way = replace(HALF, more=lambda a, b: cores(a, b, 0.94, 0.1))
    assert limit(way) == "cpu:weights"


@pytest.mark.parametrize(
    ("metrics", "resource"),
    [
        ({"cpu_s": 1.2, "thread_cpu_s": 0.95}, "cpu:weights"),
        ({"cpu_s": 1.2, "thread_cpu_s": 0.45}, "server:weights"),
        ({"cpu_s": 0.97}, "cpu:weights"),
        ({"cpu_s": 0.2, "run_delay_s": 0.7}, "cpu:weights"),
        ({"cpu_s": 0.2, "run_delay_s": 0.2}, "server:weights"),
    ],
)
def test_a_program_under_the_mount_is_judged_by_its_fullest_thread(
    metrics: dict[str, float], resource: str
) -> None:
    def more(start: int, end: int) -> list[Reading]:
        wall_s = (end - start) / 1e9
        grown = {name: (start, end, share * wall_s) for name, share in metrics.items()}
        return steady("helper", "weights/ssh[12]", **grown)

    way = replace(HALF, more=more, place=on_mount("fuse.sshfs"))
    got = first_hop(way).limited_by
    assert got.resource == resource
    if resource == "cpu:weights":
        assert "ssh[12] on workstation" in got.evidence[-1]


def test_a_thread_of_pathtraces_client_that_is_full_is_the_tracer() -> None:
    def thread(share: float, held: float = 0.0) -> Way:
        return replace(
            HALF,
            more=lambda a, b: steady(
                "self",
                "thread:smb",
                cpu_s=(a, b, share * (b - a) / 1e9),
                run_delay_s=(a, b, held * (b - a) / 1e9),
            ),
        )

    assert limit(thread(0.9)) == "tracer"
    assert limit(thread(0.5, held=0.4)) == "tracer"
    assert limit(thread(0.5)) == "server:weights"


@pytest.mark.parametrize(("alone", "resource"), [(66 * MB, "tracer"), (85 * MB, "server:weights")])
def test_four_fifths_of_the_protocols_own_ceiling_are_the_tracer(alone: float, resource: str) -> None:
    ceilings = (*line(), ceiling("tracer:load/0", alone))
    assert limit(replace(HALF, ceilings=ceilings)) == resource


def test_what_arrived_and_was_not_taken_is_our_own_slowness() -> None:
    assert limit(replace(HALF, queue=9e6)) == "tracer"


SMALL = Way(took_ms=8, each=16_384, blocks=500, rtt_s=0.002, requests=4)


def test_small_operations_of_a_few_round_trips_are_round_trips() -> None:
    got = first_hop(SMALL).limited_by
    assert got.resource == "round-trips:weights"
    assert got.evidence[-1] == "an operation takes 8 ms: about 4 round trips of 2 ms one after the other"


def test_few_requests_in_a_long_time_are_the_servers() -> None:
    assert limit(replace(SMALL, requests=1)) == "server:weights"


def test_round_trips_shorter_than_a_servers_work_are_the_servers() -> None:
    assert limit(replace(SMALL, took_ms=1, rtt_s=0.0001, requests=10)) == "server:weights"


def test_a_busy_link_is_not_idling_on_round_trips() -> None:
    way = replace(SMALL, each=1 * MB, took_ms=10)
    assert limit(way) != "round-trips:weights"


def test_where_requests_are_not_counted_only_very_few_round_trips_are_named() -> None:
    trip = (*line(), ceiling("round-trips:weights", latency_s=0.002))
    way = replace(SMALL, sockets=False, ceilings=trip)
    assert limit(way) == "round-trips:weights"
    assert limit(replace(way, took_ms=40)) != "round-trips:weights"


def test_mapped_pages_over_a_network_are_round_trips_however_short() -> None:
    text = TEXT.replace('url: "smb://nas/models/x.bin"', "path: /mnt/nas/x.bin, host: nas, access: mmap")
    alone = Ceiling("round-trips:weights", 131_072 / 0.0025, None, 0.0025, "measured", "one page alone", 1.0)
    way = Way(took_ms=200, each=10 * MB, text=text, place=on_mount(), ceilings=(*line(), alone), requests=80)
    assert limit(way) == "round-trips:weights"


def test_a_server_that_was_seen_idle_with_a_fixed_pause_is_waiting() -> None:
    pausing = replace(
        SMALL,
        took_ms=60,
        more=lambda a, b: cores(a, b, 0.02, 0.01) + disk(a, b, read=SMALL.payload, busy=0.01),
    )
    assert limit(pausing) == "wait:weights"
    assert limit(replace(pausing, more=lambda a, b: [])) == "server:weights"


def test_as_fast_as_from_the_servers_own_memory_is_the_server() -> None:
    ceilings = (*line(), ceiling("server:weights", 62 * MB))
    got = first_hop(replace(HALF, ceilings=ceilings, sockets=False)).limited_by
    assert got.resource == "server:weights"
    assert got.evidence[-1] == "95 % of what the same files give when nas has them in memory"


def test_the_far_side_is_named_only_on_evidence_of_the_connection() -> None:
    got = first_hop(HALF).limited_by
    assert got.resource == "server:weights"
    assert got.next_measurement == (
        "add `ssh: user@nas` to host nas: then its disk and its cores are seen too"
    )
    assert limit(replace(HALF, sockets=False)) == "unknown"


def test_a_warm_repeat_is_never_taken_for_the_share() -> None:
    warm = replace(FULL, took_ms=2, crossed=0.001)
    got = first_hop(warm).limited_by
    assert got.resource == "unknown"
    assert got.evidence[0] == "391 KiB crossed for 381 MiB asked for: a cache of this host"
    assert got.next_measurement == "repeat with `start: cold`, so that this host's cache is empty"
    (finding,) = found(warm, "client-cache")
    assert "in 1 of 1 repeats" in finding.text


def test_a_warm_repeat_beside_a_link_that_others_fill_is_still_not_the_share() -> None:
    assert limit(replace(FULL, crossed=0.001, others=1.0)) == "unknown"


def test_writing_over_a_full_link_is_limited_by_it_in_its_own_direction() -> None:
    text = """
pathtrace: 1
hosts: {nas: {address: 10.0.0.2}}
links: LINKS
places:
  archive: {kind: files, path: /data}
  weights: {kind: files, url: "smb://nas/out", data: output}
flows:
  copy: {path: [archive, weights], frequency: once}
"""
    part = stream(
        (Desk(), Desk()), lambda stage, k: (MS, 89 * MS)[stage], 40, details=lambda sample: {"bytes": 10 * MB}
    )
    start, end = part[1].start_ns, part[1].end_ns
    seen = steady(
        "tcp",
        "weights",
        bytes_received=(start, end, 4000.0),
        bytes_sent=(start, end, 400e6),
        segments_out=(start, end, 276_000.0),
        segments_in=(start, end, 20_000.0),
    )
    made = run_of(
        scenario(text.replace("LINKS", LAN)),
        [part],
        readings=seen,
        ceilings=line(),
        places=(reached("archive", disk="sda"), reached("weights")),
    )
    got = analyse(made).hops[0].limited_by
    assert got.resource == "link:lan"
    assert any("workstation->nas" in text for text in got.evidence)


def test_a_rate_far_above_a_links_ceiling_is_refused_as_a_limit() -> None:
    assert limit(replace(FULL, took_ms=20)) != "link:lan"


@settings(max_examples=40, deadline=None)
@given(took_ms=st.integers(20, 400), top=st.floats(20, 500))
def test_a_link_is_named_exactly_where_it_is_nine_tenths_full(took_ms: int, top: float) -> None:
    way = replace(FULL, took_ms=took_ms, ceilings=line(top * MB), links="{lan: {hosts: [nas, workstation]}}")
    share = first_hop(way).throughput.active_bytes_per_s or 0.0
    share /= top * MB
    if 0.91 <= share <= 1.2:
        assert limit(way) == "link:lan"
    if share <= 0.89 or share >= 1.3:
        assert limit(way) != "link:lan"


@settings(max_examples=30, deadline=None)
@given(
    sockets=st.booleans(),
    interface=st.booleans(),
    measured=st.booleans(),
    took_ms=st.sampled_from((5, 89, 170, 900)),
    crossed=st.sampled_from((0.0, 0.7, 1.0, 1.5)),
)
def test_whatever_is_missing_evidence_is_given_and_the_unknown_has_a_next_step(
    sockets: bool, interface: bool, measured: bool, took_ms: int, crossed: float
) -> None:
    way = Way(
        took_ms=took_ms,
        crossed=crossed,
        sockets=sockets,
        interface=interface,
        ceilings=line() if measured else (),
    )
    for hop in report(way).hops:
        assert hop.limited_by.evidence
        assert hop.limited_by.resource != "unknown" or hop.limited_by.next_measurement


def test_a_link_at_its_ceiling_most_of_the_time_holds_though_pauses_lower_the_mean() -> None:
    paused = replace(FULL, took_ms=101)  # 84 % in the mean

    def counted(burst_ms: int) -> str:
        """Every 500 ms begin with ``burst_ms`` in which all that comes in them comes."""
        made = run(paused)
        start, end = made.windows[0].start_ns, made.windows[0].end_ns
        share = [min(1.0, (at % (500 * MS)) / (burst_ms * MS)) for at in range(0, end - start, 50 * MS)]
        per_burst = paused.payload * 500 * MS / (end - start)
        readings = [r for r in made.readings.rows if (r.observer, r.metric) != ("interface", "rx_bytes")]
        for number, part in enumerate(share):
            at = start + number * 50 * MS
            carried = (at - start) // (500 * MS) * per_burst + part * per_burst
            readings.append(Reading(at, "interface", "eth0", "rx_bytes", carried * 1.0456))
        rows = tuple(sorted(readings, key=lambda reading: reading.at_ns))
        return analyse(replace(made, readings=ReadingTable(rows))).hops[0].limited_by.resource

    assert counted(400) == "link:lan"
    assert counted(500) != "link:lan"


LIBRARY = """
pathtrace: 1
hosts: {db: {address: 10.0.0.3}}
links: {lan: {hosts: [db, workstation], speed: 1 Gbit/s}}
places:
  archive: {kind: files, path: /data}
  indexer: {kind: process, run: chunk}
  library: {kind: database, url: "postgresql://db/lab", batch: 100}
flows:
  index: {path: [archive, indexer, library], frequency: every 24 h}
"""


def inserting(
    requests: int, rtt_s: float, more: Callable[[int, int], list[Reading]] = lambda start, end: []
) -> str:
    """What limits inserts of 40 ms each that need so many requests."""
    part = stream(
        (Desk(), Desk(), Desk()),
        lambda stage, k: (MS, MS, 40 * MS)[stage],
        100,
        details=lambda sample: {"bytes": 1000},
    )
    start, end = part[1].start_ns, part[1].end_ns
    seen = steady(
        "tcp",
        "library",
        bytes_received=(start, end, 1e5),
        bytes_sent=(start, end, 200.0 * requests * 100),
        segments_out=(start, end, 100.0 * requests),
        segments_in=(start, end, 100.0 * requests),
    )
    seen += [Reading(at, "tcp", "library", "min_rtt_s", rtt_s) for at in range(start, end, 100 * MS)]
    places = (reached("archive", disk="sda"), reached("indexer"), reached("library"))
    made = run_of(scenario(LIBRARY), [part], readings=seen + more(start, end), places=places)
    return while_busy(made, "insert@library")


def test_inserts_that_ask_again_and_again_over_a_long_way_are_round_trips() -> None:
    assert inserting(15, 0.002) == "round-trips:library"
    assert inserting(3, 0.002) == "database:library"
    assert inserting(15, 0.0001) == "database:library"


def test_a_database_whose_disk_on_its_own_host_is_busy_is_limited_by_it() -> None:
    def busy(start: int, end: int, share: float) -> list[Reading]:
        seconds_busy = share * (end - start) / 1e9
        return steady(
            "far_disk",
            "db/sda",
            read_bytes=(start, end, 1.0),
            write_bytes=(start, end, 4e7),
            busy_s=(start, end, seconds_busy),
        )

    assert inserting(3, 0.0001, lambda a, b: busy(a, b, 0.97)) == "disk:library"
    assert inserting(3, 0.0001, lambda a, b: busy(a, b, 0.4)) == "database:library"


def test_a_link_that_was_measured_beside_others_is_full_when_what_they_left_is() -> None:
    beside = replace(HALF, others=1.0, ceilings=line(62 * MB), links="{lan: {hosts: [nas, workstation]}}")
    got = first_hop(beside).limited_by
    assert got.resource == "link:lan"
    assert got.evidence[1].endswith("58.8 MB/s of it for this: 95 % of the 496 Mbit/s left beside others")
    assert limit(replace(beside, ceilings=line(90 * MB), others=1.4)) != "link:lan"


@pytest.mark.parametrize(("share", "busy", "resource"), [(0.6, 1.9, "tracer"), (0.45, 1.9, "server:weights")])
def test_a_client_that_waits_its_turn_on_a_full_machine_is_the_tracer(
    share: float, busy: float, resource: str
) -> None:
    way = replace(
        HALF,
        details={"cpu_ns": round(share * HALF.took_ms * MS)},
        more=lambda a, b: steady("cpu", "all", busy_s=(a, b, 2 * busy * (b - a) / 1e9)),
    )
    assert limit(way) == resource


@pytest.mark.parametrize(
    ("own", "served", "resource", "said"),
    [
        (0.6, 0.3, "tracer", "pathtrace's own client computes 60 % of the time"),
        (0.3, 0.6, "cpu:weights", "smbd[77] on nas computes 60 % of the time"),
        (0.45, 0.4, "server:weights", "no core of nas is full"),
    ],
)
def test_where_requests_follow_one_another_whoever_computes_most_of_the_time_is_the_limit(
    own: float, served: float, resource: str, said: str
) -> None:
    def more(start: int, end: int) -> list[Reading]:
        return cores(start, end, served, 0.1) + process(start, end, "smbd[77]", served)

    got = first_hop(replace(HALF, details={"cpu_ns": round(own * HALF.took_ms * MS)}, more=more)).limited_by
    assert got.resource == resource
    assert said in got.evidence[-1]


def test_a_ceiling_of_ours_that_was_read_through_a_mount_without_a_cache_is_none() -> None:
    ceilings = (*line(), ceiling("tracer:load/0", 66 * MB), ceiling("server:weights", 63 * MB))
    way = replace(HALF, ceilings=ceilings, place=on_mount("fuse.sshfs"))
    assert limit(way) == "server:weights"
    kept = (*line(), ceiling("tracer:load/0", 66 * MB), ceiling("server:weights", 40 * MB))
    assert limit(replace(way, ceilings=kept)) == "tracer"


def test_our_own_full_thread_tells_more_than_a_host_that_others_fill() -> None:
    def more(start: int, end: int) -> list[Reading]:
        seen = cores(start, end, 0.97, 0.96) + process(start, end, "smbd[77]", 0.4)
        seen += process(start, end, "ffmpeg[9]", 1.4)
        return seen + steady("self", "thread:smb", cpu_s=(start, end, 0.9 * (end - start) / 1e9))

    assert limit(replace(HALF, more=more)) == "tracer"


def test_mapped_pages_that_take_as_long_to_carry_as_to_ask_for_are_still_round_trips() -> None:
    text = TEXT.replace('url: "smb://nas/models/x.bin"', "path: /mnt/nas/x.bin, host: nas, access: mmap")
    alone = Ceiling("round-trips:weights", 91 * MB, None, 0.00144, "measured", "one page alone", 1.0)
    way = Way(took_ms=240, text=text, place=on_mount(), ceilings=(*line(), alone), requests=80)
    got = first_hop(way).limited_by
    assert got.resource == "round-trips:weights"
    assert got.evidence[-1].endswith("are 71 % of the time that the link does not take")


def test_a_connect_of_this_run_tells_more_than_the_least_that_an_old_connection_ever_saw() -> None:
    probed = PathFacts("nas", "10.0.0.2", (), 1500, 1500, False, 0.002, (), 1.0)
    old = replace(SMALL, rtt_s=0.00001)
    assert limit(old) == "server:weights"
    assert limit(replace(old, paths=(probed,))) == "round-trips:weights"


def test_segments_sent_again_to_a_server_that_sleeps_are_no_loss() -> None:
    def sent(busy: float, held: float = 0.0) -> str:
        def more(start: int, end: int) -> list[Reading]:
            wall_s = (end - start) / 1e9
            return steady(
                "tcp",
                "library",
                retransmits=(start, end, 34.0),
                busy_s=(start, end, busy * wall_s),
                rwnd_limited_s=(start, end, held * wall_s),
            )

        return inserting(81, 0.0001, more)

    assert sent(0.1) == "database:library"
    assert sent(0.9, held=0.8) == "database:library"
    assert sent(0.9) == "loss:lan"


def test_our_own_work_for_other_stages_is_not_taken_for_a_short_read() -> None:
    quick = replace(HALF, took_ms=2, each=100_000, more=lambda a, b: _thread(a, b, 0.5))
    made = run(quick)
    rows = made.samples.rows.copy()
    rows["start_ns"] += rows["operation"] // 2 * 50 * MS
    rows["intended_ns"] = rows["start_ns"]
    windows = tuple(
        replace(w, end_ns=int((rows["start_ns"] + rows["elapsed_ns"]).max())) for w in made.windows
    )
    kept = [r for r in made.readings.rows if r.observer != "self"] + _thread(0, windows[0].end_ns, 0.5)
    ordered = ReadingTable(tuple(sorted(kept, key=lambda reading: reading.at_ns)))
    got = analyse(replace(made, samples=SampleTable(rows), windows=windows, readings=ordered)).hops[0]
    assert not any("thread smb" in text for text in got.limited_by.evidence)


def _thread(start: int, end: int, share: float) -> list[Reading]:
    return steady("self", "thread:smb", cpu_s=(start, end, share * (end - start) / 1e9))
