from __future__ import annotations

from dataclasses import replace

from pathtrace.analysis import analyse
from pathtrace.model.report import Caveat, Verdict
from pathtrace.model.sample import SampleTable
from tests.unit.analysis.builders import reached, run_of, scenario
from tests.unit.analysis.limiting.test_limits import SLOW_PROCESS, shares
from tests.unit.analysis.planted import ANSWER, INDEX, answer_run, index_run

LAN = """
hosts:
  nas: {address: nas.lan}
  workstation: {here: true}
links:
  lan: {hosts: [nas, workstation], speed: 1 Gbit/s}
"""


def test_it_names_what_is_waited_for_and_what_to_do_first() -> None:
    assert analyse(index_run(SLOW_PROCESS, shares(1, cpu=0.95))).verdict == Verdict(
        (
            'Nobody waits, but most time goes into process@indexer in indexer->library ("index"): '
            "2 s a pass, 99.9 % of its time, 2 s a day, limited by cpu:indexer.",
            "First: `workers: 4` at indexer uses cores that are idle, saves at most 2 s a day (free).",
        )
    )


def test_a_link_that_no_measured_hop_crosses_is_said_to_change_nothing() -> None:
    lines = analyse(index_run(SLOW_PROCESS, shares(1, cpu=0.95), text=INDEX + LAN)).verdict.lines
    assert lines[1] == "No measured hop crosses lan: a faster link would change none of these times."
    assert len(lines) == 3


def test_a_link_that_a_hop_crosses_is_named_with_the_share_of_its_time() -> None:
    text = INDEX.replace("path: /data}", "path: /data, host: nas}") + LAN
    lines = analyse(index_run(SLOW_PROCESS, shares(1, cpu=0.95), text=text)).verdict.lines
    assert lines[1] == (
        "lan carries archive->indexer: <0.1 % of the time of index, limited by cpu:indexer; "
        "what the link itself can do was not measured."
    )


def test_a_stand_in_that_rank_one_rests_on_is_in_the_first_line() -> None:
    text = INDEX.replace('command: [extract, "{path}"]', "run: chunk")
    first = analyse(index_run(SLOW_PROCESS, shares(1, cpu=0.95), text=text)).verdict.lines[0]
    assert first.endswith(", limited by cpu:indexer — but this rests on a stand-in (indexer).")


def test_a_run_that_never_came_to_what_people_wait_for_says_that_first() -> None:
    run = answer_run()
    kept = run.samples.rows[run.samples.rows["flow"] == 0]
    lines = analyse(replace(run, samples=SampleTable(kept), status="interrupted")).verdict.lines
    assert lines[0] == (
        'People wait for "answer", which was not measured (the run was interrupted before its turn).'
    )
    assert lines[1].startswith("Of what was measured, most time goes into read@weights in weights->model")


def test_a_budget_that_ended_the_run_before_what_people_wait_for_is_named() -> None:
    run = answer_run()
    kept = run.samples.rows[run.samples.rows["flow"] == 0]
    spent = (Caveat("budget", "the budget of bytes ended the run", "raise budget", None),)
    lines = analyse(replace(run, samples=SampleTable(kept), caveats=spent, status="partial")).verdict.lines
    assert lines[0] == (
        'People wait for "answer", which was not measured (the budget ended the run before its turn).'
    )


def test_most_operations_failing_comes_before_what_limits_the_rest() -> None:
    run = index_run(
        SLOW_PROCESS, lambda sample: {"outcome": 1} if sample.stage == 1 and sample.operation % 4 else {}
    )
    lines = analyse(replace(run, faults=("indexer: exit code 2",))).verdict.lines
    assert lines[0].endswith(
        "failed in process at indexer: its figures are of the others (indexer: exit code 2)."
    )
    assert lines[1].endswith("limited by what is not known yet.")


def test_nothing_measured_says_so_with_the_fault() -> None:
    run = run_of(
        scenario(INDEX), [], places=(reached("archive", fault="/data is not there"),), status="partial"
    )
    assert analyse(run).verdict.lines == ("Nothing was measured (archive: /data is not there).",)


def test_nothing_measured_without_a_fault_says_how_the_run_ended() -> None:
    run = replace(run_of(scenario(INDEX), []), status="interrupted")
    assert analyse(run).verdict.lines == ("Nothing was measured (interrupted).",)


def test_a_link_that_carries_nothing_is_a_finding_with_the_paths_that_people_wait_for() -> None:
    found = [f for f in analyse(answer_run(text=ANSWER + LAN)).findings if f.code == "unused-link"]
    assert [(finding.text, finding.evidence) for finding in found] == [
        (
            "No measured hop crosses lan: a faster link would change none of these times",
            ("answer (model -> people) stays on workstation",),
        )
    ]
