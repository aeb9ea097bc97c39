import statistics
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.analysis.comparing.comparison import compare
from pathtrace.errors import UsageError
from pathtrace.model.comparison import Comparison, LikeTimes, OutputDifference
from pathtrace.model.run import Activity, Run
from tests.unit.analysis import compared
from tests.unit.analysis.builders import MB, MS, asked, run_of, scenario
from tests.unit.analysis.compared import BEFORE_TEXT, archive, facts, measured, run, started, upgraded

OPPOSITE = {"faster": "slower", "slower": "faster", "same": "same", "unclear": "unclear"}


def held(before: Run, after: Run, *changed: str) -> Comparison:
    return compare(measured(before), measured(after), changed=changed)


def verdicts(whole: Comparison) -> list[tuple[str, str]]:
    return [(each.name, each.verdict) for each in (*whole.flows, *whole.hops)]


def test_a_faster_link_is_compared_listed_and_is_the_one_cause() -> None:
    whole = held(run(), upgraded(), "lan")
    assert (whole.comparable, whole.reasons, whole.cause) == (True, (), "lan")
    assert whole.verdict[0].startswith('"index" is faster, 4.')
    assert whole.verdict[1:3] == (
        "Only what was expected to differ does: lan.",
        "The output is the same.",
    )
    assert {each.what for each in whole.differences if each.matters} == {
        "lan.speed",
        "nas.addresses",
        "archive.path",
        "archive.mount.path",
        "archive.mount.device",
        "archive.mount.server",
        "nas.route.address",
        "nas.route.interface",
    }
    assert all(each.expected for each in whole.differences if each.matters)
    assert verdicts(whole)[:2] == [("index", "faster"), ("archive->indexer", "faster")]


def test_a_cable_of_its_own_beside_the_old_link_is_one_cause() -> None:
    direct = "\n  direct: {hosts: [nas, workstation], speed: 10 Gbit/s, kind: direct}\nplaces:"
    after = upgraded()
    cable = replace(after.environment.hosts[0].interfaces[0], kind="direct")
    there = replace(after.environment.hosts[0], interfaces=(cable,))
    text = BEFORE_TEXT.replace("\nplaces:", direct)
    later = replace(
        after,
        scenario=scenario(text),
        environment=replace(after.environment, hosts=(there,)),
    )
    whole = held(run(), later, "direct")
    assert whole.cause == "direct"
    assert {each.cause for each in whole.differences if each.matters} == {"direct"}


def test_one_thing_that_nobody_announced_is_named() -> None:
    whole = held(run(), run(hosts=(facts(kernel="Linux 6.18"),)))
    assert whole.cause == "kernel of workstation"
    assert "One thing differs, and nobody announced it: kernel of workstation." in whole.verdict


def test_what_was_expected_and_one_thing_more_leaves_the_cause_unclear() -> None:
    whole = held(run(), upgraded(kernel="Linux 6.18"), "lan")
    assert whole.cause == "unclear"
    assert (
        "The cause is unclear, since more than one thing differs: lan (expected), kernel of workstation."
        in whole.verdict
    )


def test_two_unexpected_changes_leave_the_cause_unclear_whatever_the_speed() -> None:
    whole = held(run(), upgraded(kernel="Linux 6.18"))
    assert (whole.cause, whole.flows[0].verdict) == ("unclear", "faster")


def test_what_makes_nothing_faster_is_listed_and_is_no_cause() -> None:
    text = BEFORE_TEXT + "repeats: 7\nlifetime: 10 d\n"
    whole = held(run(), run(text))
    assert [(each.what, each.matters) for each in whole.differences] == [
        ("control.repeats", False),
        ("control.lifetime_s", False),
    ]
    assert whole.cause == "none"


def test_the_start_of_a_layer_that_is_known_only_once_is_listed() -> None:
    whole = held(run(start=started("cold", "cold")), run(start=started("cold", "unknown")))
    assert [(each.what, each.before, each.after) for each in whole.differences] == [
        ("start.client_cache", "cold", "unknown")
    ]


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (
            run(),
            run(reached=archive(fingerprint="f2")),
            "another data set at archive: 10 files, 9.54 MiB (f1), then 10 files, 9.54 MiB (f2)"
            " (run one of them again over the other's files)",
        ),
        (
            run(reached=archive(fingerprint=None)),
            run(reached=archive(files=11)),
            "another data set at archive: 10 files, 9.54 MiB, then 11 files, 10.5 MiB (f1)"
            " (run one of them again over the other's files)",
        ),
        (
            run(start=started("cold", "cold")),
            run(start=started("warm", "warm")),
            "another start condition: cold, then warm",
        ),
        (
            run(start=started("as-is", "cold")),
            run(start=started("as-is", "warm")),
            "another start condition: client cache cold, then warm",
        ),
        (
            run(),
            run(hosts=(replace(facts(), congestion_control="bbr"),)),
            "another congestion control on workstation: cubic, then bbr",
        ),
        (
            run(),
            run(BEFORE_TEXT.replace("input: 512", "input: 2048")),
            "other prompt or output lengths: workload.model.input was 512, is 2048"
            " (run one of them again with the other's)",
        ),
        (
            run(),
            run(BEFORE_TEXT.replace("output: 256", "output: 64")),
            "other prompt or output lengths: workload.model.output was 256, is 64"
            " (run one of them again with the other's)",
        ),
        (
            run(),
            run(BEFORE_TEXT.replace("requests: 3", "requests: 4")),
            "another workload: workload.requests was 3, is 4 (run one of them again with the other's)",
        ),
    ],
)
def test_what_is_not_the_same_experiment_is_refused(before: Run, after: Run, reason: str) -> None:
    whole = held(before, after)
    assert (whole.comparable, whole.reasons, whole.flows) == (False, (reason,), ())
    assert whole.verdict == ("These runs cannot be compared.",)


def test_the_work_itself_cannot_be_announced_away() -> None:
    more = run(BEFORE_TEXT.replace("requests: 3", "requests: 4"))
    assert held(run(), more, "workload.requests").comparable is False


def test_a_setting_that_is_announced_is_compared() -> None:
    batched = run(BEFORE_TEXT.replace("batch: 100", "batch: 500"))
    assert held(run(), batched).reasons == (
        "another workload: library.batch was 100, is 500 "
        "(if that is the change to be judged: --changed library.batch)",
    )
    whole = held(run(), batched, "library.batch")
    assert (whole.comparable, whole.cause, whole.output.quality_unchecked) == (True, "library.batch", False)


def test_across_another_precision_quality_is_unchecked_unless_there_are_checks() -> None:
    text = BEFORE_TEXT.replace("4-bit", "8-bit")
    unchecked = held(run(), run(text), "workload.model.precision")
    assert unchecked.output.quality_unchecked
    assert unchecked.verdict[0].startswith("Quality unchecked")
    checked = held(run(passed=(True, True)), run(text, passed=(True, False)), "workload.model.precision")
    assert (checked.output.quality_unchecked, checked.output.checks) == (False, (1.0, 0.5))
    assert "The output differs: checks passed before 100 %, after 50 %." in checked.verdict


def test_less_that_was_read_is_told_before_speed_is_praised() -> None:
    whole = held(run(), run(size=MB // 2, read_ms=10))
    assert whole.output.same is False
    assert whole.output.differences[0] == OutputDifference(
        "index, read@archive", "bytes", 10 * MB, 10 * MB // 2
    )
    assert whole.verdict[0].startswith("The output differs (index, read@archive: 9.54 MiB → 4.77 MiB")
    assert whole.verdict[1].startswith('"index" is faster')


@settings(max_examples=10, deadline=None)
@given(st.floats(1, 100))
def test_a_run_beside_itself_is_the_same(read_ms: float) -> None:
    made = run(read_ms=read_ms)
    whole = held(made, made)
    assert {verdict for _, verdict in verdicts(whole)} == {"same"}
    assert (whole.differences, whole.cause, whole.output.same) == ((), "none", True)


@settings(max_examples=10, deadline=None)
@given(st.floats(1, 100), st.floats(1, 100))
def test_swapped_gives_the_inverse(one: float, other: float) -> None:
    first, second = run(read_ms=one), run(read_ms=other, id="20261201-091412-bbbb")
    there, back = held(first, second), held(second, first)
    assert verdicts(back) == [(name, OPPOSITE[verdict]) for name, verdict in verdicts(there)]
    for forth, again in zip(there.flows, back.flows, strict=True):
        assert forth.ratio is not None
        assert again.ratio is not None
        assert again.ratio.ratio == pytest.approx(1 / forth.ratio.ratio)
        assert again.ratio.low == pytest.approx(1 / forth.ratio.high)


def test_days_that_differ_more_than_the_change_make_it_unclear() -> None:
    before, after = measured(run(read_ms=20)), measured(run(read_ms=24, id="20261201-091412-bbbb"))
    assert compare(before, after).flows[0].verdict == "slower"
    history = (LikeTimes("index", (0.2, 0.26, 0.17)),)
    whole = compare(before, after, history=history)
    assert whole.flows[0].verdict == "unclear"
    assert whole.hops[0].verdict == "slower"
    assert not any("no history" in text for text in whole.caveats)


def test_what_others_took_of_the_cpu_may_explain_a_slower_run() -> None:
    """A third of the cores in one of the two runs: as much as half as long again."""
    quiet = Activity("workstation", 1.0, None, None, ())
    busy = replace(quiet, cpu_percent=33.0)
    before = replace(run(read_ms=20), activity=(quiet,))
    after = replace(run(read_ms=24, id="20261201-091412-bbbb"), activity=(busy,))
    assert held(before, replace(after, activity=(quiet,))).flows[0].verdict == "slower"
    whole = held(before, after)
    assert whole.flows[0].verdict == "unclear"
    assert "other work on the host alone may do 49 %; repeat when it is quiet" in whole.verdict[0]
    assert held(before, replace(run(read_ms=40), activity=(busy,), id="x")).flows[0].verdict == "slower"


def test_without_a_history_that_is_said() -> None:
    whole = held(run(), run(id="20261201-091412-bbbb"))
    assert any("there is no history of like runs" in text for text in whole.caveats)


def test_what_was_expected_and_did_not_come_is_said() -> None:
    assert held(run(), run(), "lan").caveats == (
        "lan was expected to differ, and nothing that is known of it does",
    )


def test_a_name_that_no_run_has_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UsageError, match="--changed 'libary' is nothing") as caught:
        held(run(), run(), "libary")
    assert caught.value.hint == "did you mean 'library'?"


def test_a_resource_means_its_place() -> None:
    batched = run(BEFORE_TEXT.replace("batch: 100", "batch: 500"))
    assert held(run(), batched, "database:library").comparable


def paced(took_ms: int) -> Run:
    text = """
pathtrace: 1
workload: {requests: 4, rate: 1/s}
places:
  model: {kind: inference, url: "http://localhost:1", model: x}
  people: {kind: user}
flows:
  answer: {path: [model, people], frequency: per-request}
"""
    executions = []
    for repeat in range(5):
        samples, window = asked(4, (took_ms * MS, MS), repeat=repeat, offset=repeat * 100_000 * MS)
        spread = [
            sample._replace(start_ns=sample.start_ns + sample.request * (1000 - took_ms - 1) * MS)
            for sample in samples
        ]
        spread = [sample._replace(intended_ns=sample.start_ns) for sample in spread]
        executions.append((spread, replace(window, end_ns=max(s.start_ns + s.elapsed_ns for s in spread))))
    return run_of(scenario(text), executions)


def test_requests_that_come_at_a_rate_are_compared_by_what_one_takes() -> None:
    """All of them together take as long as the rate says, however fast the answers are."""
    whole = held(paced(100), paced(200))
    flow = whole.flows[0]
    assert [flow.before_s, flow.after_s] == pytest.approx([0.101, 0.201])
    assert flow.verdict == "slower"
    assert whole.hops[0].after_s == pytest.approx(0.201)


def test_a_flow_that_was_measured_once_only_is_not_compared() -> None:
    empty = replace(run_of(scenario(BEFORE_TEXT), ()), environment=run().environment, routes=run().routes)
    whole = held(run(), empty)
    assert [each.ratio for each in whole.flows] == [None]
    assert whole.verdict[0] == '"index" was not measured in both runs.'
    assert whole.output.same is None


def test_times_are_medians_of_all_repeats() -> None:
    flow = held(run(), run()).flows[0]
    assert flow.repeats == (5, 5)
    assert flow.before_s == pytest.approx(0.202, rel=0.01)
    assert flow.spread[0] == pytest.approx(statistics.stdev(compared.SPREAD), rel=0.1)
