"""What a change cost, and what it gives a day: prices as said on the command line, or with the prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pathtrace.analysis.predicting.sources import prices_of
from pathtrace.model.comparison import FASTER, SLOWER, Compared, Cost, Difference
from pathtrace.model.prediction import Price
from pathtrace.model.report import FlowReport, Report


def change_cost(
    said: Sequence[str],
    kept: Price | None,
    names: Sequence[str],
    before: Report,
    flows: Sequence[Compared],
) -> Cost | None:
    """``said``: ``lan=120``, of what is in ``names``; else ``kept``, with the prediction. None without
    either, UsageError of another name."""
    prices = prices_of(said, names)
    price = _sum(prices) if prices else kept
    if price is None:
        return None
    old = {flow.name: flow for flow in before.flows}
    return Cost(price, sum(_saved(flow, old.get(flow.name)) for flow in flows))


def bought(differences: Sequence[Difference], changed: Sequence[str]) -> tuple[str, ...]:
    """Names that a price may be given for: what was meant to differ, and what does and may matter."""
    return tuple(dict.fromkeys((*changed, *(each.cause for each in differences if each.matters))))


def _sum(prices: Mapping[str, Price]) -> Price:
    return Price(sum(price.amount for price in prices.values()), next(iter(prices.values())).currency)


def _saved(flow: Compared, before: FlowReport | None) -> float:
    """Seconds a day; 0 where it is not sure that anything changed."""
    if before is None or flow.ratio is None or flow.verdict not in (FASTER, SLOWER):
        return 0.0
    per_day_s = (before.seconds_per_execution or 0.0) * before.executions_per_day
    return per_day_s * (1 - flow.ratio.ratio)
