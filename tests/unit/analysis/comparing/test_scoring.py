from dataclasses import replace

import pytest

from pathtrace.analysis.comparing.comparison import compare
from pathtrace.model.comparison import Comparison, Foretold, ForetoldChange, Prediction, StoredPrediction
from pathtrace.model.run import Ceiling, Run
from tests.unit.analysis.builders import scenario
from tests.unit.analysis.compared import AFTER_TEXT, BEFORE_TEXT, facts, measured, run, upgraded

TEN_GIGABIT = 1.25e9
PREDICTED = StoredPrediction(
    "2026-11-30T09:30:00+00:00",
    (ForetoldChange("link:lan", TEN_GIGABIT),),
    (Foretold("index", 0.202, 0.05, 0.04, 0.07),),
)


def held(
    *predictions: StoredPrediction,
    before: Run | None = None,
    after: Run | None = None,
    changed: tuple[str, ...] = ("lan",),
) -> Comparison:
    later = replace(after or upgraded(), started_at="2026-12-01T09:14:12+00:00")
    earlier = measured(before or run())
    return compare(earlier, measured(later), changed=changed, predictions=predictions)


def scored(
    *predictions: StoredPrediction, after: Run | None = None, changed: tuple[str, ...] = ("lan",)
) -> tuple[Prediction, ...]:
    return held(*predictions, after=after, changed=changed).predictions


def with_card(
    speed: float, text: str = BEFORE_TEXT, measured: float | None = None, driver: str | None = None
) -> Run:
    """The later run: the card that the route takes, and what was measured across ``lan``."""
    seen = facts(speed=speed)
    seen = replace(seen, interfaces=(replace(seen.interfaces[0], driver=driver),))
    made = run(text, read_ms=4, hosts=(seen,), id="20261201-091412-bbbb")
    if measured is None:
        return made
    crossed = Ceiling("link:lan", measured, None, None, "measured", "", 1.0, "nas->workstation")
    return replace(made, ceilings=(crossed,))


def to(speed: float) -> StoredPrediction:
    return replace(PREDICTED, changes=(ForetoldChange("link:lan", speed),))


def test_a_prediction_stands_beside_the_fact() -> None:
    [found] = scored(PREDICTED)
    assert (found.flow, found.expected_s, found.low, found.high) == ("index", 0.05, 0.04, 0.07)
    assert found.error == pytest.approx(found.actual_s / 0.05 - 1)
    assert found.actual_s == pytest.approx(0.042, rel=0.01)


def test_the_latest_one_of_this_change_counts() -> None:
    later = replace(PREDICTED, flows=(Foretold("index", 0.202, 0.04, 0.03, 0.05),))
    assert [each.expected_s for each in scored(PREDICTED, later)] == [0.04]


@pytest.mark.parametrize(
    "other",
    [
        replace(PREDICTED, at="2026-12-02T00:00:00+00:00"),
        replace(PREDICTED, changes=(ForetoldChange("link:lan", 3.125e8),)),
        replace(PREDICTED, changes=(*PREDICTED.changes, ForetoldChange("library.batch", 500))),
        replace(PREDICTED, changes=(ForetoldChange("disk:library", 5e8),)),
        replace(PREDICTED, changes=()),
        replace(PREDICTED, flows=(Foretold("index", 0.4, 0.1, 0.1, 0.1),)),
        replace(PREDICTED, flows=(Foretold("index", 0.202, 0.202, 0.202, 0.202),)),
        replace(PREDICTED, flows=(Foretold("other", 0.202, 0.1, 0.1, 0.1),)),
    ],
    ids=[
        "made afterwards",
        "other speed",
        "one more",
        "other resource",
        "none",
        "other time",
        "unchanged",
        "other flow",
    ],
)
def test_one_of_something_else_does_not(other: StoredPrediction) -> None:
    assert scored(other) == ()


def test_of_several_that_fit_the_one_with_the_most_changes_counts() -> None:
    """``whatif --all`` keeps one for each change; one of two changes that both came says more."""
    text = AFTER_TEXT.replace("batch: 100", "batch: 500")
    after = replace(upgraded(), scenario=scenario(text))
    batch = ForetoldChange("library.batch", 500)
    both = replace(
        PREDICTED, changes=(*PREDICTED.changes, batch), flows=(Foretold("index", 0.202, 0.03, 0.02, 0.04),)
    )
    alone = replace(PREDICTED, changes=(batch,))
    found = scored(both, PREDICTED, alone, after=after, changed=("lan", "library.batch"))
    assert [each.expected_s for each in found] == [0.03]


def test_another_round_trip_is_not_another_speed() -> None:
    latency = replace(PREDICTED, changes=(ForetoldChange("link:lan.latency", 0.0002),))
    assert scored(latency) == ()
    moved = run(BEFORE_TEXT.replace("10.0.0.2", "10.0.9.2"), address="10.0.9.2", id="20261201-091412-bbbb")
    assert len(scored(latency, after=moved)) == 1


def test_a_speed_that_nobody_declared_is_the_cards() -> None:
    silent = replace(upgraded(), scenario=scenario(AFTER_TEXT.replace(", speed: 10 Gbit/s", "")))
    other = replace(PREDICTED, changes=(ForetoldChange("link:lan", 3.125e8),))
    assert len(scored(PREDICTED, after=silent)) == 1
    assert scored(other, after=silent) == ()


def test_a_new_link_is_known_by_the_hosts_that_it_joins() -> None:
    new = replace(PREDICTED, changes=(ForetoldChange("link:nas-workstation", TEN_GIGABIT),))
    direct = "\n  direct: {hosts: [nas, workstation], speed: 10 Gbit/s, kind: direct}\nplaces:"
    after = replace(upgraded(), scenario=scenario(BEFORE_TEXT.replace("\nplaces:", direct)))
    assert len(scored(new, after=after, changed=("direct",))) == 1


def test_another_way_to_read_is_known_by_its_word() -> None:
    way = replace(PREDICTED, changes=(ForetoldChange("archive.access", "direct"),))
    text = BEFORE_TEXT.replace("path: /mnt/archive}", "path: /mnt/archive, access: direct}")
    after = run(text, id="20261201-091412-bbbb")
    assert len(scored(way, after=after, changed=("archive.access",))) == 1
    other = replace(way, changes=(ForetoldChange("archive.access", "mmap"),))
    assert scored(other, after=after, changed=("archive.access",)) == ()


def test_a_setting_must_have_come_to_the_value_that_was_predicted_with() -> None:
    after = run(BEFORE_TEXT.replace("batch: 100", "batch: 500"), id="20261201-091412-bbbb")
    fits, other = (replace(PREDICTED, changes=(ForetoldChange("library.batch", n),)) for n in (500, 200))
    assert len(scored(fits, after=after, changed=("library.batch",))) == 1
    assert scored(other, after=after, changed=("library.batch",)) == ()


def test_another_setting_of_a_place_is_not_another_disk_below_it() -> None:
    disk = replace(PREDICTED, changes=(ForetoldChange("disk:library", 2e9),))
    batch = replace(PREDICTED, changes=(ForetoldChange("library.batch", 500),), flows=PREDICTED.flows)
    after = run(BEFORE_TEXT.replace("batch: 100", "batch: 500"), id="20261201-091412-bbbb")
    assert scored(disk, after=after, changed=("library.batch",)) == ()
    assert len(scored(batch, disk, after=after, changed=("library.batch",))) == 1


def test_a_disk_that_nobody_can_see_is_believed_where_it_is_named() -> None:
    disk = replace(PREDICTED, changes=(ForetoldChange("disk:archive", 5e8),))
    after = run(id="20261201-091412-bbbb")
    assert scored(disk, after=after, changed=()) == ()
    assert len(scored(disk, after=after, changed=("disk:archive",))) == 1


GBIT = 125e6


@pytest.mark.parametrize("changed", [("lan",), ()])
def test_a_card_that_was_changed_outdoes_the_speed_that_the_scenario_still_says(
    changed: tuple[str, ...],
) -> None:
    whole = held(to(10 * GBIT), after=with_card(10 * GBIT), changed=changed)
    assert [each.what for each in whole.differences] == ["workstation.interface.eth0.speed"]
    assert [each.flow for each in whole.predictions] == ["index"]
    assert whole.unscored == ()


def test_one_that_still_has_its_old_speed_outdoes_what_the_scenario_hopes_for() -> None:
    whole = held(to(10 * GBIT), after=with_card(GBIT, BEFORE_TEXT.replace("speed: 1 ", "speed: 10 ")))
    assert whole.predictions == ()
    assert whole.unscored == ("lan = 10 Gbit/s was predicted, and its card eth0 has 1 Gbit/s",)


def test_of_a_link_whose_other_end_was_slower_than_the_card_the_scenario_tells() -> None:
    before, text = with_card(10 * GBIT), BEFORE_TEXT.replace("speed: 1 ", "speed: 2.5 ")
    before = replace(before, id="20261130-091412-aaaa")
    slow = replace(to(2.5 * GBIT), flows=(Foretold("index", 0.042, 0.03, 0.02, 0.04),))
    assert len(held(slow, before=before, after=with_card(10 * GBIT, text)).predictions) == 1


@pytest.mark.parametrize(
    ("crossed", "wanted", "fits"),
    [(9.4, 10, True), (6.0, 10, True), (0.94, 10, False), (2.35, 2.5, True), (9.4, 2.5, False)],
)
def test_what_was_measured_across_a_link_comes_first(crossed: float, wanted: float, fits: bool) -> None:
    after = with_card(10 * GBIT, measured=crossed * GBIT)
    whole = held(to(wanted * GBIT), after=after)
    assert (len(whole.predictions), len(whole.unscored)) == (int(fits), int(not fits))
    assert fits or whole.unscored[0].endswith(" was measured across it")


def test_the_speed_of_a_virtual_card_means_nothing() -> None:
    assert scored(to(10 * GBIT), after=with_card(10 * GBIT, driver="veth")) == ()
    fast = with_card(2 * GBIT, BEFORE_TEXT.replace("speed: 1 ", "speed: 10 "), driver="veth")
    assert len(scored(to(10 * GBIT), after=fast)) == 1


def test_a_link_that_nobody_declared_has_its_card_too() -> None:
    silent = BEFORE_TEXT.replace("links:\n  lan: {hosts: [nas, workstation], speed: 1 Gbit/s}\n", "")
    named = [replace(PREDICTED, changes=(ForetoldChange("link:nas-workstation", n * GBIT),)) for n in (10, 5)]
    found = [held(each, before=run(silent), after=with_card(10 * GBIT, silent), changed=()) for each in named]
    assert [len(each.predictions) for each in found] == [1, 0]


def test_why_none_fits_is_told_of_what_changed_first_and_each_reason_once() -> None:
    others = [
        replace(PREDICTED, at="2026-12-02T00:00:00+00:00"),
        replace(PREDICTED, changes=(ForetoldChange("disk:archive", 5e8),)),
        replace(PREDICTED, changes=(ForetoldChange("library.batch", 500),)),
        replace(PREDICTED, changes=(ForetoldChange("link:lan.latency", 0.0002),)),
        replace(PREDICTED, changes=()),
    ]
    whole = held(*others, to(2.5 * GBIT), to(2.5 * GBIT), after=with_card(10 * GBIT))
    assert whole.unscored == (
        "lan = 2.5 Gbit/s was predicted, and its card eth0 has 10 Gbit/s",
        "lan.latency = 200 µs was predicted, and workstation.interface.eth0.speed became 10 Gbit/s from "
        "1 Gbit/s",
        "that of 2026-11-30T09:30:00+00:00 is about no change",
        "library.batch is as it was, and 500 was predicted",
        "nothing that is known of archive differs, and disk:archive = 500 MB/s was predicted",
        "that of 2026-12-02T00:00:00+00:00 was made after the later run began",
    )


@pytest.mark.parametrize(
    ("flows", "reason"),
    [
        (
            (Foretold("index", 0.4, 0.1, 0.1, 0.1),),
            "was predicted from 400 ms, and the earlier run took 202 ms",
        ),
        ((Foretold("index", 0.202, 0.202, 0.2, 0.21),), "was predicted to stay as it is"),
        ((Foretold("other", 0.202, 0.1, 0.1, 0.1),), "was not measured in both runs"),
    ],
)
def test_of_one_about_this_change_the_flows_say_why(flows: tuple[Foretold, ...], reason: str) -> None:
    assert held(replace(PREDICTED, flows=flows)).unscored == (f"{flows[0].flow}: {reason}",)
    assert held(replace(PREDICTED, flows=())).unscored == ("of the change that came nothing could be told",)
    assert held().unscored == ()


def test_a_faster_sync_is_believed_where_it_is_named_and_told_in_time() -> None:
    commit = replace(PREDICTED, changes=(ForetoldChange("commit:library", 0.0002),))
    after = run(id="20261201-091412-bbbb")
    assert len(scored(commit, after=after, changed=("commit:library",))) == 1
    assert held(commit, after=after, changed=()).unscored == (
        "nothing that is known of library differs, and commit:library = 200 µs was predicted",
    )
