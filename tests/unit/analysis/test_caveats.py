from __future__ import annotations

from dataclasses import replace

import pytest

from pathtrace.analysis import analyse
from pathtrace.analysis.caveats import about, fault_text
from pathtrace.model.report import Caveat
from pathtrace.model.run import FlowWidth, OwnCost, Until
from pathtrace.model.work import PlaceFacts
from tests.unit.analysis.builders import MS, reached
from tests.unit.analysis.planted import ANSWER, INDEX, answer_run, index_run


def codes(run) -> list[tuple[str, str | None]]:  # type: ignore[no-untyped-def]
    return [(caveat.code, caveat.subject) for caveat in analyse(run).caveats]


def test_a_run_of_stated_things_and_several_repeats_has_none() -> None:
    assert codes(index_run()) == []


def test_stand_ins_are_named() -> None:
    text = INDEX.replace('command: [extract, "{path}"]', "run: chunk")
    assert codes(index_run(text=text)) == [("stand-in", "indexer")]


def test_the_runs_own_caveats_come_first_and_are_not_said_twice() -> None:
    own = (Caveat("clock", "a doubt"), Caveat("one-repeat", "only one"))
    assert [c.text for c in analyse(replace(index_run(repeats=1), caveats=own)).caveats] == [
        "a doubt",
        "only one",
    ]


def test_a_cost_of_more_than_one_percent_is_said() -> None:
    assert codes(replace(index_run(), cost=OwnCost(0.004, 0.004, 400.0))) == []
    assert codes(replace(index_run(), cost=OwnCost(0.008, 0.004, 400.0))) == [("tracer-cost", None)]


def test_more_work_than_the_workers_had_time_for_is_a_doubt() -> None:
    run = index_run((5 * MS, 5 * MS, 5 * MS))
    windows = tuple(replace(window, workers=(1, 1, 1)) for window in run.windows)
    rows = run.samples.rows.copy()
    rows["blocked_ns"] += 5 * MS
    changed = replace(run, samples=type(run.samples)(rows), windows=windows)
    assert ("time-identity", "index") in codes(changed)


def test_only_those_about_a_subject_travel_with_it() -> None:
    found = (Caveat("a", "", subject="x"), Caveat("b", ""), Caveat("c", "", subject="y"))
    assert about(found, ("y", "z")) == (found[2],)


@pytest.mark.parametrize(
    ("flows", "text", "remedy"),
    [
        (
            (FlowWidth("index", 9, 0.06, False, False), FlowWidth("load", 9, 0.04, False, False)),
            "the ±3 % asked for was not reached: a difference below 6 % may be chance",
            "raise `budget`, or end what else goes on",
        ),
        (
            (FlowWidth("index", 9, 0.02, True, False),),
            "the ±3 % asked for was not reached: a difference below 2 % may be chance",
            "find out what drifts, then run again",
        ),
        (
            (),
            "the ±3 % asked for was not reached: no spread is known",
            "raise `budget`, or end what else goes on",
        ),
    ],
)
def test_a_run_that_was_not_repeated_often_enough_says_what_it_cannot_tell(
    flows: tuple[FlowWidth, ...], text: str, remedy: str
) -> None:
    (found,) = analyse(replace(index_run(), until=Until(0.03, False, 9, flows, "time"))).caveats
    assert found == Caveat("until", text, remedy)


def test_a_run_that_was_has_no_such_doubt() -> None:
    flows = (FlowWidth("index", 9, 0.02, False, False),)
    assert codes(replace(index_run(), until=Until(0.03, True, 9, flows))) == []


def test_a_fault_bears_its_places_name_once() -> None:
    assert [fault_text(reached("model", fault=fault)) for fault in ("refused", "model: refused")] == [
        "model: refused",
        "model: refused",
    ]


def test_what_a_place_told_when_it_was_opened_is_said_of_the_run() -> None:
    told = PlaceFacts("there", files=3, warnings=("passed over: 2 folders", "sparse"))
    places = (replace(reached("archive"), facts=told), reached("library"))
    found = analyse(index_run(places=places)).caveats
    assert Caveat("place", "archive: passed over: 2 folders; sparse", None, "archive") in found


def test_an_open_loop_says_what_waits_count_from_and_how_late_it_was_itself() -> None:
    text = ANSWER.replace("acceptable_wait: 3 s", "rate: 2/s, acceptable_wait: 3 s")
    late = answer_run(text=text, details=lambda sample: {"intended_ns": sample.start_ns - 3 * MS})
    found = {caveat.code: caveat for caveat in analyse(late).caveats}
    assert "closed-loop" not in found
    assert found["open-loop"].text == (
        "open loop: requests come at 2/s whatever the answers do, and waits count from when each was due; "
        "pathtrace itself began them at most 3 ms late"
    )
    assert found["open-loop"].remedy is None


def test_an_open_loop_that_was_far_too_late_has_a_remedy() -> None:
    text = ANSWER.replace("acceptable_wait: 3 s", "rate: 2/s, acceptable_wait: 3 s")
    late = answer_run(text=text, details=lambda sample: {"intended_ns": sample.start_ns - 300 * MS})
    (found,) = [caveat for caveat in analyse(late).caveats if caveat.code == "open-loop"]
    assert found.remedy == "ask from a machine that has less to do"
