"""What makes sense for a run is tried, and ranked by what it saves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathtrace.analysis import analyse
from pathtrace.analysis.predicting.upgrades import candidates_of, median_repeats, purchasable, upgrades
from pathtrace.errors import EvidenceError
from pathtrace.model.prediction import Price, Upgrades
from pathtrace.model.run import Run
from tests.unit.analysis import far
from tests.unit.analysis.builders import MB, run_of, scenario
from tests.unit.analysis.predicting.test_prediction import INDEX, answered, indexed

ANY = 10**9
FULL = far.Way(took_ms=86, repeats=3, ceilings=(*far.line(), far.ceiling("disk:weights", 200 * MB)))
"""A full link, and behind it a disk that is 1.7 times as fast."""


def ranked(run: Run, most: int = ANY, **prices: float) -> Upgrades:
    report = analyse(run)
    priced = {name: Price(amount, "EUR") for name, amount in prices.items()}
    return upgrades(run, report, priced, candidates_of(run, report), most)


def tried(run: Run) -> set[str]:
    return {text for each in candidates_of(run, analyse(run)) for text in each.settings}


def order(found: Upgrades) -> list[tuple[str, ...]]:
    return [each.settings for each in found.ranked]


def test_only_what_a_flow_uses_and_what_is_faster_is_tried() -> None:
    assert tried(far.run(FULL)) == {
        "link:lan=2.5GbE",
        "link:lan=10GbE",
        "disk:weights=500MB/s",
        "disk:weights=3000MB/s",
        "weights.depth=4",
        "weights.depth=16",
    }
    assert tried(indexed((1, 40, 1))) == {
        "archive.depth=4",
        "archive.depth=16",
        "indexer.workers=4",
        "library.batch=100",
        "library.batch=500",
    }
    assert tried(answered(1500)) == {"model.loaded=true"}


def test_where_a_disk_holds_next_it_is_tried_together_with_the_link() -> None:
    """10GbE alone comes to the disk's 2 s, as 2.5GbE does; with an NVMe disk to far less."""
    found = ranked(far.run(FULL))
    assert order(found)[0] == ("link:lan=10GbE", "disk:weights=3000MB/s")
    assert ("link:lan=2.5GbE",) in order(found)
    assert ("link:lan=10GbE",) not in order(found)
    assert ("disk:weights=500MB/s",) in [each.settings for each in found.without_gain]


def test_where_commits_hold_a_disk_that_syncs_quicker_is_tried_unless_it_does_already() -> None:
    slow = indexed((1, 1, 20), finish_ms=19)
    assert "commit:library=0.5ms" in tried(slow)
    assert "commit:library" in purchasable(candidates_of(slow, analyse(slow)))
    [disk] = [each for each in ranked(slow).ranked if each.settings == ("commit:library=0.5ms",)]
    assert (disk.free, disk.prediction.seconds_per_day_saved) == (False, pytest.approx(1.85, rel=0.02))
    quick = replace(slow, ceilings=(far.ceiling("commit:library", latency_s=0.0004),))
    assert "commit:library=0.5ms" not in tried(quick)


def test_what_is_free_is_marked_and_costs_no_money() -> None:
    found = ranked(indexed((1, 1, 20), finish_ms=19), library=1.0)
    best = found.ranked[0]
    assert (best.settings, best.free, best.price) == (("library.batch=100",), True, None)


def test_with_prices_the_most_for_each_unit_of_money_comes_first() -> None:
    dear = ranked(far.run(FULL), **{"lan": 100.0, "lan=10GbE": 1000.0, "disk:weights": 50.0})
    gains = [each.seconds_per_day_saved_per_price or 0.0 for each in dear.ranked]
    assert gains == sorted(gains, reverse=True)
    [cheap] = [each for each in dear.ranked if each.settings == ("link:lan=2.5GbE",)]
    assert cheap.price == Price(100.0, "EUR")
    assert cheap.seconds_per_day_saved_per_price == pytest.approx(
        cheap.prediction.seconds_per_day_saved / 100
    )
    [both] = [each for each in dear.ranked if each.settings == ("link:lan=10GbE", "disk:weights=3000MB/s")]
    assert both.price == Price(1050.0, "EUR")


def test_what_has_no_price_comes_after_what_has_one() -> None:
    found = ranked(far.run(FULL), lan=100_000.0)
    assert order(found)[0] == ("link:lan=2.5GbE",)
    assert found.ranked[-1].price is None


def test_what_people_wait_for_comes_first() -> None:
    [only] = ranked(answered(1500)).ranked
    assert only.people_seconds_per_day_saved == pytest.approx(150, rel=0.01)
    assert only.prediction.seconds_per_day_saved == only.people_seconds_per_day_saved


def test_people_who_do_not_wait_too_long_need_nothing_bought() -> None:
    run = answered(1500)
    workload = replace(run.scenario.workload, acceptable_wait_s=10.0)
    found = ranked(replace(run, scenario=replace(run.scenario, workload=workload)))
    assert found.content == ("answer",)
    assert found.ranked[0].people_seconds_per_day_saved == 0.0


def test_what_can_be_bought_is_named_with_and_without_its_value() -> None:
    run = far.run(FULL)
    names = purchasable(candidates_of(run, analyse(run)))
    assert {"lan", "link:lan", "lan=10GbE", "disk:weights", "disk:weights=500MB/s"} <= set(names)
    assert not any("depth" in name for name in names)


def test_of_a_large_run_the_median_repeat_is_played_alone_and_that_is_said() -> None:
    run = far.run(FULL)
    whole, bounded = ranked(run), ranked(run, most=len(run.samples) * 5)
    assert (whole.median_only, bounded.median_only) == (False, True)
    assert (whole.left_out, bounded.left_out) == (0, 0)
    assert order(bounded)[0] == order(whole)[0]
    assert len(median_repeats(run).samples) == len(run.samples) // 3


def test_of_a_run_that_is_larger_still_fewer_are_tried() -> None:
    run = far.run(FULL)
    assert ranked(run, most=len(run.samples)).left_out == 6 - 2
    assert ranked(run, most=1).left_out == 6
    assert ranked(run, most=1).ranked == ()


def test_a_run_without_anything_measured_has_no_upgrades() -> None:
    with pytest.raises(EvidenceError, match="no flow of this run was measured to its end"):
        ranked(run_of(scenario(INDEX), []))


def test_of_what_is_free_only_the_best_is_named() -> None:
    """Of a batch for each row 100 rows save 99 of 100 commits, and 500 nothing more that counts."""
    named = [text for (text,) in order(ranked(indexed((1, 1, 20), finish_ms=19))) if "batch" in text]
    assert named == ["library.batch=100"]


@settings(deadline=None, max_examples=3)
@given(times=st.floats(0.01, 1000.0))
def test_in_another_currency_the_order_is_the_same(times: float) -> None:
    prices = {"lan": 100.0, "lan=10GbE": 300.0, "disk:weights": 50.0}
    dearer = {name: amount * times for name, amount in prices.items()}
    assert order(ranked(far.run(FULL), **dearer)) == order(ranked(far.run(FULL), **prices))


def test_what_would_have_to_be_known_to_try_more_is_said() -> None:
    """A server that does not tell how long it loaded its model."""
    found = ranked(answered(None))
    assert [each.what for each in found.unsaid] == ["how long model loaded its model"]
    assert found.ranked == ()
