"""Draws rich values as a terminal of a given width would, without colour."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType


def drawn(view: RenderableType, width: int) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, markup=False, highlight=False, emoji=False, no_color=True)
    console.print(view)
    return stream.getvalue()
