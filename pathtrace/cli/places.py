"""``pathtrace places``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import click

from pathtrace.cli.options import debug_option, json_option
from pathtrace.errors import EXIT_DONE

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pathtrace.registry import KindInfo


@click.command("places")
@json_option
@debug_option
def command(as_json: bool) -> int:
    """List the kinds of place.

    Says which ways of being a place this version has, and what each needs.

    \b
    Example:
      pathtrace places
    """
    from rich.console import Group

    from pathtrace import app
    from pathtrace.cli import streams

    kinds = app.place_kinds()
    if as_json:
        streams.write_json({"format": "pathtrace.places/1", "places": [_entry(info) for info in kinds]})
    else:
        streams.write_view(Group(*_view(kinds)))
    return EXIT_DONE


def _entry(info: KindInfo) -> dict[str, object]:
    return {
        "kind": info.kind.value,
        "name": info.name,
        "available": info.available,
        "summary": info.summary,
        "needs": info.needs or None,
    }


def _view(kinds: tuple[KindInfo, ...]) -> Iterator[RenderableType]:
    from rich.text import Text

    from pathtrace.render.layout import Pairs, line

    for number, (kind, group) in enumerate(groupby(kinds, key=lambda info: info.kind)):
        yield line(f"\n{kind.value}" if number else kind.value, "bold")
        yield Pairs(tuple((info.name, Text(_said(info), "" if info.available else "dim")) for info in group))


def _said(info: KindInfo) -> str:
    needs = f"; needs {info.needs}" if info.needs and info.available else ""
    return f"{info.summary}{needs}" + ("" if info.available else " (not available in this version)")
