"""Upgrades and settings, ranked: what a terminal shows, and the ``upgrades`` of ``pathtrace.whatif/1``."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from pathtrace.model.prediction import Price, Unknown, Upgrade, Upgrades
from pathtrace.render.figures import Document, finite
from pathtrace.render.layout import Row, Rows, bullet, heading, line
from pathtrace.render.whatif import (
    LITTLE,
    WHATIF_FORMAT,
    change_document,
    checked,
    flow_document,
    is_wide,
    self_check_document,
    unknowns,
)
from pathtrace.render.whatif_words import changes_words, gives, is_felt
from pathtrace.units import format_duration

NOTHING = "Nothing that could be tried here saves a second a day, and 5 % of a flow."


def upgrades_document(found: Upgrades) -> Document:
    """The flows and changes at its top are those of the run as it is: none is changed."""
    document: Document = {
        "format": WHATIF_FORMAT,
        "run": found.run,
        "changes": [],
        "self_check": self_check_document(found.self_check),
        "flows": [flow_document(flow) for flow in found.flows],
        "seconds_per_day_saved": 0.0,
        "unknowns": [{"what": one.what, "measure": one.measure} for one in _not_known(found)],
        "unchanged": [],
        "stand_ins": list(found.stand_ins),
        "upgrades": [_document(each) for each in (*found.ranked, *found.without_gain)],
    }
    return {key: finite(value) for key, value in document.items()}


def _document(each: Upgrade) -> Document:
    """``energy_wh`` is null: nothing measures energy yet."""
    prediction, price = each.prediction, each.price
    return {
        "name": changes_words(prediction.changes),
        "set": list(each.settings),
        "free": each.free,
        "seconds_per_day_saved": prediction.seconds_per_day_saved,
        "people_seconds_per_day_saved": each.people_seconds_per_day_saved,
        "price": price_document(price),
        "seconds_per_day_saved_per_price": each.seconds_per_day_saved_per_price,
        "energy_wh": None,
        "changes": [change_document(change) for change in prediction.changes],
        "flows": [flow_document(flow) for flow in prediction.flows],
        "unknowns": [{"what": one.what, "measure": one.measure} for one in prediction.unknowns],
    }


def price_document(price: Price | None) -> Document | None:
    """Null where nobody said one."""
    return None if price is None else {"amount": price.amount, "currency": price.currency}


def upgrades_view(found: Upgrades) -> RenderableType:
    """The best first, in words."""
    return Group(
        *_head(found),
        *_table(found),
        *_without(found),
        *_unknowns(found),
        *checked(found.flows),
        *_bounds(found),
    )


def _head(found: Upgrades) -> Iterator[RenderableType]:
    if found.ranked:
        yield line(f"First {upgrade_words(found.ranked[0])}.", "bold")
    else:
        yield line(NOTHING, "bold")
    for name in found.content:
        yield line(f"{name} comes within the acceptable wait: nothing needs buying for it.")
    if found.stand_ins:
        names = ", ".join(found.stand_ins)
        yield line(f"Rests on stand-ins ({names}): real parts may rank otherwise.", "yellow")


def upgrade_words(each: Upgrade) -> str:
    """What it is, what it gives each flow that it changes, and what it costs."""
    changed = [gives(flow) for flow in each.prediction.flows if is_felt(flow)]
    free = " (free)" if each.free else ""
    saved = format_duration(each.prediction.seconds_per_day_saved)
    return f"{changes_words(each.prediction.changes)}{free}: {'; '.join(changed)}, saves {saved} a day"


def _table(found: Upgrades) -> Iterator[RenderableType]:
    if not found.ranked:
        return
    yield heading("Upgrades and settings", "by seconds a day saved, people's before jobs'")
    priced = any(each.price is not None for each in found.ranked)
    header = (
        ("", "saves a day", "for people", "price", "a day for each")
        if priced
        else ("", "saves a day", "for people", "costs")
    )
    rows = tuple(_row(number, each, priced) for number, each in enumerate(found.ranked, 1))
    yield Rows(header, rows, right=frozenset({1, 2, 4} if priced else {1, 2}))


def _row(number: int, each: Upgrade, priced: bool) -> Row:
    people = each.people_seconds_per_day_saved
    cells = [f"{number}.", format_duration(each.prediction.seconds_per_day_saved)]
    cells += [format_duration(people) if people > 0 else "-", _price(each)]
    if priced:
        for_each = each.seconds_per_day_saved_per_price
        cells.append("" if for_each is None else format_duration(for_each))
    changed = [flow for flow in each.prediction.flows if is_felt(flow)]
    text = Text(changes_words(each.prediction.changes), "bold")
    text.append(f": {'; '.join(gives(flow) for flow in changed)}", "not bold")
    then = ", ".join(dict.fromkeys(flow.bottleneck_after for flow in changed))
    text.append(f"; then limited by {then}", "not bold")
    wide = [flow.name for flow in changed if is_wide(flow)]
    if wide:
        try_it = "; free to try, then `pathtrace compare` tells" * each.free
        text.append(f"\ntoo wide a range to decide by: {', '.join(wide)}{try_it}", "yellow")
    return Row(tuple(cells), below=(text, Text(f"--set {' --set '.join(each.settings)}", "dim")))


def _price(each: Upgrade) -> str:
    if each.free:
        return "free"
    return "money" if each.price is None else price_words(each.price)


def price_words(price: Price) -> str:
    return f"{price.amount:,.10g} {price.currency or ''}".rstrip()


def _without(found: Upgrades) -> Iterator[RenderableType]:
    if found.without_gain:
        yield heading("Not worth it", "less than a second a day, or than 5 % of a flow")
        for each in found.without_gain:
            gained = [gives(flow) for flow in each.prediction.flows if flow.seconds_per_day_saved > LITTLE]
            said = f": {'; '.join(gained)}" if gained else ""
            yield bullet("-", Text(changes_words(each.prediction.changes) + said))


def _unknowns(found: Upgrades) -> Iterator[RenderableType]:
    yield from unknowns(_not_known(found))


def _not_known(found: Upgrades) -> tuple[Unknown, ...]:
    """Of what is worth it and of what nothing can be said of, each once."""
    worth = (one for each in found.ranked for one in each.prediction.unknowns)
    return tuple(dict.fromkeys((*worth, *found.unsaid)))


def _bounds(found: Upgrades) -> Iterator[RenderableType]:
    if found.median_only:
        yield line("A large run: only the median repeat of each flow was played again.", "dim")
    if found.left_out:
        yield line(f"{found.left_out} more could not be tried, since the run is so large.", "dim")
