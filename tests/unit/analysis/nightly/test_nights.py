"""What nights tell, one after the other, of what was planted in them. The noise is drawn."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.analysis.nightly.nights import changes, marks
from pathtrace.model.history import (
    CREEP,
    ENDED,
    FAILED,
    GROWTH,
    NEW,
    OUTAGE,
    SKIPPED,
    STANDING,
    STEP,
    HistoryEntry,
    Told,
)
from tests.unit.analysis.made_nights import (
    INDEX,
    INSERT,
    LINK,
    NAMES,
    heard,
    made,
    plus,
    quiet,
    run_id,
    told,
    with_status,
)

SLOWER = math.log(1.15)
LOAD, FILL = "load/weights->model", "index/embedder->library"
STEPPED = Told(STEP, FILL, run_id(40), NEW, 1.15, run_id(43))


def words(entries: list[HistoryEntry]) -> list[tuple[int, str, str, str]]:
    return [each.words for each in heard(entries)]


def test_a_step_is_told_once_of_its_hop_and_again_when_it_ends() -> None:
    found = heard(made(plus(quiet(100), INSERT, SLOWER, first=40, last=70)))
    assert [each.words for each in found] == [(43, STEP, NEW, FILL), (73, STEP, ENDED, FILL)]
    new, ended = (each.change for each in found)
    assert (new.since, new.nights, new.also) == (run_id(40), 4, ("index",))
    assert (new.resource, new.resource_before) == ("database:library",) * 2
    assert new.ratio == pytest.approx(1.15, abs=0.03)
    assert new.ratio is not None
    assert new.low is not None
    assert new.high is not None
    assert 1.0 < new.low < new.ratio < new.high < 1.3
    assert (new.before_s, new.after_s) == (pytest.approx(58, rel=0.03), pytest.approx(58 * 1.15, rel=0.03))
    assert (ended.before_s, ended.after_s) == (
        pytest.approx(58, rel=0.03),
        pytest.approx(58 * 1.15, rel=0.03),
    )
    assert (ended.since, ended.ended_with, ended.nights) == (run_id(40), run_id(73), 29)
    assert ended.ratio == pytest.approx(1.15, abs=0.03)


def test_meanwhile_it_stands() -> None:
    entries = made(plus(quiet(100), INSERT, SLOWER, first=40))
    (standing,) = changes(entries, [STEPPED])
    assert (standing.state, standing.since, standing.nights, standing.also) == (
        STANDING,
        run_id(40),
        60,
        ("index",),
    )
    assert standing.ratio == pytest.approx(1.15, abs=0.02)


def test_faster_is_a_change_too() -> None:
    (found,) = heard(made(plus(quiet(80), LINK, -SLOWER, first=40)))
    assert found.words == (43, STEP, NEW, LOAD)
    assert found.change.ratio == pytest.approx(1 / 1.15, abs=0.03)


def test_a_change_of_what_two_flows_share_is_one() -> None:
    shared = LINK | {"index", "index/archive->indexer"}
    (found,) = heard(made(plus(quiet(80), shared, math.log(1.5), first=40)))
    assert {found.change.name, *found.change.also} == shared
    assert found.change.name in (LOAD, "index/archive->indexer")


def test_a_second_step_on_top_is_told_and_both_end() -> None:
    noise = plus(plus(quiet(160), LINK, SLOWER, 40, 120), LINK, SLOWER, 80, 120)
    assert words(made(noise)) == [
        (43, STEP, NEW, LOAD),
        (84, STEP, NEW, LOAD),
        (123, STEP, ENDED, LOAD),
        (123, STEP, ENDED, LOAD),
    ]


def test_what_comes_and_goes_is_told_later_each_time() -> None:
    noise = quiet(300)
    for first in (40, 100, 160, 220):
        noise = plus(noise, LINK, SLOWER, first, first + 30)
    found = [each.words for each in heard(made(noise))]
    assert found[::2] == [(43, STEP, NEW, LOAD), (109, STEP, NEW, LOAD), (179, STEP, NEW, LOAD)]
    assert [state for _, _, state, _ in found] == [NEW, ENDED] * 3


def test_two_changes_of_different_flows_are_two() -> None:
    found = heard(made(plus(plus(quiet(90), INSERT, SLOWER, 40), LINK, SLOWER, 60)))
    assert [each.words for each in found] == [(43, STEP, NEW, FILL), (63, STEP, NEW, LOAD)]


@pytest.mark.parametrize("by", [0.5, 3.0, -1.0])
def test_one_bad_night_is_not_told(by: float) -> None:
    assert words(made(plus(quiet(100), INDEX | LINK, by, 50, 51))) == []


def test_a_creep_is_told_as_one_with_its_growth_in_a_week() -> None:
    weeks = np.maximum(0, np.arange(240) - 100) / 7
    (found,) = heard(made(plus(quiet(240), LINK, weeks * math.log(1.01))))
    assert found.words[1:] == (CREEP, NEW, LOAD)
    assert found.change.per_week is not None
    assert 1.005 < found.change.per_week < 1.025
    assert 100 + 5 * 7 < found.night < 100 + 10 * 7


def test_a_creep_that_stays_where_it_is_has_ended() -> None:
    weeks = np.clip(np.arange(300) - 100, 0, 100) / 7
    new, ended = heard(made(plus(quiet(300), LINK, weeks * math.log(1.01))))
    assert (new.change.kind, ended.change.kind, ended.change.state) == (CREEP, CREEP, ENDED)
    assert (ended.change.since, ended.change.settled) == (new.change.since, True)
    assert 210 < ended.night < 270


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_creep_that_goes_back_at_once_has_ended_and_is_no_step(seed: int) -> None:
    nights = np.arange(260)
    weeks = np.where(nights < 210, np.maximum(0, nights - 40) / 7, 0)
    new, ended = heard(made(plus(quiet(260, seed), INDEX, weeks * math.log(1.02))))
    assert (new.change.kind, new.change.state) == (CREEP, NEW)
    assert (ended.change.kind, ended.change.state, ended.change.name) == (CREEP, ENDED, new.change.name)
    assert 212 <= ended.night <= 216


@pytest.mark.parametrize("seed", range(4))
def test_a_creep_that_began_like_a_step_is_told_as_a_creep_too(seed: int) -> None:
    weeks = np.maximum(0, np.arange(200) - 40) / 7
    noise = plus(quiet(200, seed, spread=0.03), INSERT, weeks * math.log(1.04))
    [(night, _, state, name)] = [each for each in words(made(noise)) if each[1] == CREEP]
    assert (state, name in INSERT) == (NEW, True)
    assert night < 40 + 10 * 7


def test_a_step_on_top_of_a_creep_is_told_as_a_step() -> None:
    weeks = np.maximum(0, np.arange(260) - 100) / 7
    noise = plus(plus(quiet(260), LINK, weeks * math.log(1.01)), LINK, math.log(1.25), 220)
    creep, step = heard(made(noise))
    assert (creep.change.kind, step.words) == (CREEP, (223, STEP, NEW, LOAD))


def test_more_work_is_growth_and_no_slowness() -> None:
    weeks = np.maximum(0, np.arange(240) - 60) / 7 * math.log(1.01)
    nothing = np.zeros((240, 9))
    entries = made(plus(quiet(240), INDEX, weeks), work=plus(nothing, INDEX, weeks))
    (found,) = heard(entries)
    assert found.words[1:3] == (GROWTH, NEW)
    assert found.change.name in INDEX
    assert found.change.per_week == pytest.approx(1.01, abs=0.004)


def test_twice_the_documents_at_once_are_growth_too() -> None:
    more = math.log(2)
    entries = made(plus(quiet(80), INDEX, more, 40), work=plus(np.zeros((80, 9)), INDEX, more, 40))
    (found,) = heard(entries)
    assert (found.night, found.change.kind, found.change.per_week) == (43, GROWTH, None)
    assert found.change.ratio == pytest.approx(2, abs=0.1)


def test_slower_work_while_it_grows_is_a_step() -> None:
    weeks = np.arange(240) / 7 * math.log(1.01)
    noise = plus(plus(quiet(240), INDEX, weeks), INSERT, math.log(1.25), 200)
    found = heard(made(noise, work=plus(np.zeros((240, 9)), INDEX, weeks)))
    assert found[0].words[1:3] == (GROWTH, NEW)
    assert [each.words for each in found][1:] == [(203, STEP, NEW, FILL)]


def test_a_dead_link_is_an_outage_told_after_two_nights_and_when_it_is_back() -> None:
    new, ended = heard(made(quiet(80), missing=LINK, dead=(40, 41, 42)))
    assert (new.words, ended.words) == ((41, OUTAGE, NEW, "load"), (44, OUTAGE, ENDED, "load"))
    assert (new.change.since, new.change.ratio, new.change.nights) == (run_id(40), None, 2)
    assert (ended.change.nights, ended.change.ended_with) == (3, run_id(44))


def test_failed_scans_are_one_outage_of_everything() -> None:
    new, ended = heard(made(quiet(80), failed=(40, 41, 42)))
    assert (new.words[:3], ended.words[:3]) == ((41, OUTAGE, NEW), (44, OUTAGE, ENDED))
    assert {new.change.name, *new.change.also} == {"index", "load", "answer"}


@pytest.mark.parametrize("dead", [(40,), (40, 43), (30, 40, 50, 60)])
def test_a_single_failed_night_is_not_told(dead: tuple[int, ...]) -> None:
    assert words(made(quiet(80), failed=dead)) == []


def test_skipped_nights_do_not_count() -> None:
    entries = made(plus(quiet(80), INSERT, SLOWER, first=40))
    skipped = with_status(entries, range(41, 60), SKIPPED)
    assert words(skipped) == [(62, STEP, NEW, FILL)]


def test_a_new_baseline_begins_anew() -> None:
    entries = made(plus(quiet(100), INSERT, SLOWER, first=40))
    entries[60] = replace(entries[60], baseline=True)
    assert changes(entries[:61], [STEPPED]) == ()
    after = heard(made(plus(plus(quiet(100), INSERT, SLOWER, 40), INSERT, SLOWER, 90)))
    assert [each.change.since for each in after] == [run_id(40), run_id(90)]


def test_nights_in_another_order_tell_the_same() -> None:
    entries = made(plus(quiet(60), INSERT, SLOWER, first=50))
    shuffled = entries.copy()
    random.Random(1).shuffle(shuffled)
    assert changes(shuffled) == changes(entries) != ()


def test_a_clock_set_back_tells_nothing_twice() -> None:
    """The night after is named as if it had been an hour before the one that told."""
    entries = made(plus(quiet(60), INSERT, SLOWER, first=40))
    (found,) = [each.change for each in heard(entries[:44])]
    earlier = entries[43].at.replace(hour=2)
    odd = replace(entries[44], id=f"{earlier:%Y%m%d-%H%M%S}-bbbb", at=earlier)
    after = [
        changes([*entries[:44], odd, *entries[45:count]], [told(found, run_id(43))]) for count in (45, 50, 60)
    ]
    assert [[each.state for each in night] for night in after] == [[STANDING]] * 3


def test_the_likeliest_thing_that_changed_is_named_with_it() -> None:
    def around(night: int) -> tuple[tuple[str, str], ...]:
        late = night >= 40
        return (
            ("kernel of workstation", "Linux 6.18" if late else "Linux 6.12"),
            ("link lan", "1000 Mbit/s" if late else "2500 Mbit/s"),
        )

    entries = made(plus(quiet(80), LINK, math.log(2.4), first=40), environment=around)
    (found,) = heard(entries)
    assert [mark.what for mark in found.change.marks] == ["link lan", "kernel of workstation"]
    assert {mark.run for mark in found.change.marks} == {mark.run for mark in marks(entries)} == {run_id(40)}


def test_what_was_told_of_names_or_nights_that_are_gone_is_forgotten() -> None:
    entries = made(quiet(60))
    gone = Told(STEP, "old/a->b", run_id(40), NEW, 1.2)
    long_ago = Told(STEP, FILL, "20200101-000000-aaaa", NEW, 1.2)
    assert changes(entries, [gone, long_ago]) == ()


@pytest.mark.parametrize("count", [0, 1, 2, 5, 12])
def test_few_nights_tell_nothing(count: int) -> None:
    assert changes(made(quiet(count))) == ()


def test_a_history_of_failures_alone_tells_nothing() -> None:
    assert changes(with_status(made(quiet(5)), range(5), FAILED)) == ()


def test_an_end_told_by_a_night_of_later_than_now_is_an_end_as_well() -> None:
    entries = made(plus(quiet(160), INSERT, SLOWER, first=40, last=70))
    over = Told(STEP, FILL, run_id(40), ENDED, 1.15, "20991231-000000-aaaa")
    assert [changes(entries[:count], [STEPPED, over]) for count in range(74, 161)] == [()] * 87


def test_an_end_whose_night_is_not_known_is_an_end_as_well() -> None:
    entries = made(plus(quiet(160), INSERT, SLOWER, first=40, last=70))
    over = Told(STEP, FILL, run_id(40), ENDED, 1.15)
    assert [changes(entries[:count], [STEPPED, over]) for count in range(74, 161)] == [()] * 87


@given(
    st.lists(
        st.builds(
            Told,
            st.sampled_from([STEP, CREEP, GROWTH, OUTAGE, "something newer"]),
            st.sampled_from([*NAMES, "gone/a->b"]),
            st.integers(0, 90).map(run_id),
            st.sampled_from([NEW, STANDING, ENDED]),
            st.none() | st.floats(0.01, 100),
            st.none() | st.integers(0, 90).map(run_id),
        ),
        max_size=6,
    ),
    st.integers(0, 90),
    st.sets(st.integers(0, 89), max_size=30),
    st.integers(0, 5),
)
@settings(max_examples=150, deadline=None)
def test_whatever_was_told_of_whatever_nights_can_be_judged(
    so_far: list[Told], count: int, dead: set[int], seed: int
) -> None:
    noise = quiet(90, seed, spread=0.3)
    entries = made(noise, missing=LINK, dead=dead, failed=set(list(dead)[::3]))
    found = changes(entries[:count], so_far)
    known = {(each.kind, each.name, each.since) for each in so_far}
    told_well = {
        (each.kind, each.name, each.since)
        for each in so_far
        if each.kind == OUTAGE or each.ratio not in (None, 1)
    }
    assert all(
        (each.kind, each.name, each.since) in known for each in found if each.state in (STANDING, ENDED)
    )
    assert all((each.kind, each.name, each.since) not in told_well for each in found if each.state == NEW)


def test_times_of_nothing_are_left_out() -> None:
    entries = made(quiet(60))
    entries = [
        replace(entry, took=tuple(replace(took, median_s=0.0, low_s=0.0) for took in entry.took))
        for entry in entries
    ]
    assert changes(entries) == ()
