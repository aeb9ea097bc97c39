from dataclasses import replace

import pytest

from pathtrace.analysis.comparing.comparison import compare
from pathtrace.errors import UsageError
from pathtrace.model.comparison import Comparison, Foretold, ForetoldChange, StoredPrediction
from pathtrace.model.prediction import Price
from pathtrace.model.run import Run
from tests.unit.analysis.compared import measured, run, upgraded

PREDICTED = StoredPrediction(
    "2026-11-30T09:30:00+00:00",
    (ForetoldChange("link:lan", 1.25e9),),
    (Foretold("index", 0.202, 0.05, 0.04, 0.07),),
    Price(200.0, "EUR"),
)


def held(*prices: str, after: Run | None = None, kept: tuple[StoredPrediction, ...] = ()) -> Comparison:
    later = replace(after or upgraded(), started_at="2026-12-01T09:14:12+00:00")
    return compare(measured(run()), measured(later), changed=("lan",), prices=prices, predictions=kept)


def test_without_a_price_nothing_is_said_of_cost() -> None:
    assert held().cost is None


def test_a_price_stands_beside_the_seconds_a_day_that_were_saved() -> None:
    """Once a day 0.202 s become 0.042 s; energy is not measured."""
    cost = held("lan=120 EUR").cost
    assert cost is not None
    assert (cost.price, cost.energy_wh) == (Price(120.0, "EUR"), None)
    assert cost.seconds_per_day_saved == pytest.approx(0.16, rel=0.05)
    assert cost.seconds_per_day_saved_per_price == pytest.approx(cost.seconds_per_day_saved / 120)


def test_prices_of_several_things_are_added() -> None:
    cost = held("lan=120", "kernel of workstation=30", after=upgraded(kernel="Linux 6.18")).cost
    assert cost is not None
    assert cost.price == Price(150.0, None)


def test_what_surely_changed_nothing_saves_nothing_and_what_is_slower_costs_time() -> None:
    same, slower = (held("lan=120", after=upgraded(read_ms=ms)).cost for ms in (20, 40))
    assert same is not None
    assert slower is not None
    assert same.seconds_per_day_saved == 0.0
    assert slower.seconds_per_day_saved == pytest.approx(-0.2, rel=0.05)


def test_a_price_that_was_kept_with_the_prediction_counts_unless_another_is_given() -> None:
    kept, said = held(kept=(PREDICTED,)).cost, held("lan=120", kept=(PREDICTED,)).cost
    assert kept is not None
    assert said is not None
    assert (kept.price, said.price) == (Price(200.0, "EUR"), Price(120.0, None))


@pytest.mark.parametrize("text", ["lam=120", "lan", "lan=cheap"])
def test_a_price_of_nothing_that_differs_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        held(text)
