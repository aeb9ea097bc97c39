"""Doubts -> the section that ends a view: each once, with what it is about and what would end it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.text import Text

from pathtrace.model.report import Caveat
from pathtrace.render import wording
from pathtrace.render.layout import bullet, heading


def doubts_view(caveats: Iterable[Caveat]) -> Iterator[RenderableType]:
    """Nothing where there are none."""
    distinct = wording.distinct(caveats)
    if distinct:
        yield heading("Mind")
    for caveat, subjects in distinct:
        text = Text(wording.caveat_line(caveat, subjects))
        yield bullet("•", text.append(f" → {wording.plain(caveat.remedy)}", "dim") if caveat.remedy else text)
