"""Lines that wrap under themselves, and rows that line up where the terminal is wide enough.

Knows rich's values and widths; what is said is the callers'. Leaves no blanks at the end of a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from pathtrace.render.wording import plain

GAP = 2
INDENT = 2
NARROWEST = 12
"""Columns below which text is let run over rather than be cut to shreds."""
WIDEST_NAME = 26


@dataclass(frozen=True, slots=True)
class Wrapped:
    """Text that wraps; ``lead`` stands before its first line, and the others are set in as far."""

    text: Text
    indent: int = 0
    lead: Text | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lead = self.lead or Text()
        hang = self.indent + lead.cell_len
        width = max(options.max_width - hang, NARROWEST)
        for number, part in enumerate(self.text.wrap(console, width)):
            part.rstrip()
            start = Text(" " * self.indent).append_text(lead) if number == 0 else Text(" " * hang)
            yield start.append_text(part)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Names, and beside each what there is to say of it; below it where the terminal is narrow."""

    rows: tuple[tuple[str, Text], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        longest = max((cell_len(name) for name, _ in self.rows), default=0)
        beside = longest <= WIDEST_NAME and options.max_width >= INDENT + longest + GAP + 2 * NARROWEST
        for name, said in self.rows:
            if beside:
                lead = Text(plain(name) + " " * (longest - cell_len(plain(name)) + GAP))
                yield Wrapped(said, INDENT, lead)
            else:
                yield line(name, indent=INDENT)
                yield Wrapped(said, 2 * INDENT)


def heading(title: str, detail: str = "") -> Wrapped:
    """A section's first line: an empty line above, the title bold, what holds for all of it behind."""
    text = Text("\n").append(plain(title), "bold")
    return Wrapped(text.append(f"  {plain(detail)}", "dim") if detail else text)


def line(text: str, style: str = "", indent: int = 0) -> Wrapped:
    return Wrapped(Text(plain(text), style), indent)


def bullet(mark: str, text: Text) -> Wrapped:
    return Wrapped(text, INDENT, Text(f"{mark} ", "yellow"))


@dataclass(frozen=True, slots=True)
class Row:
    """One row's cells, and lines that belong below it and may wrap. A row without cells is a heading."""

    cells: tuple[str, ...] = ()
    above: Text | None = None
    below: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows under one header. ``right`` holds the columns that are set to the right.

    Where they do not fit, the first cell gets a line of its own and the others line up below it; where
    even that is too wide, they follow each other with their columns' names.
    """

    header: tuple[str, ...]
    rows: tuple[Row, ...]
    right: frozenset[int] = frozenset()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = self._widths()
        whole = INDENT + sum(widths) + GAP * (len(widths) - 1)
        if whole <= options.max_width:
            draw = self._aligned
            yield Text(self._set(self.header, widths, 0), "dim")
        elif whole + INDENT - widths[0] - GAP <= options.max_width:
            draw = self._below
            yield Text(self._set(self.header, widths, 1), "dim")
        else:
            draw = self._named
        for row in self.rows:
            if row.above is not None:
                yield Wrapped(row.above, INDENT)
            if row.cells:
                yield from draw(row.cells, widths)
            yield from (Wrapped(text, 2 * INDENT) for text in row.below)

    def _widths(self) -> list[int]:
        tables = [self.header, *(row.cells for row in self.rows if row.cells)]
        return [max(cell_len(plain(cells[column])) for cells in tables) for column in range(len(self.header))]

    def _aligned(self, cells: tuple[str, ...], widths: list[int]) -> Iterator[RenderableType]:
        yield Text(self._set(cells, widths, 0))

    def _below(self, cells: tuple[str, ...], widths: list[int]) -> Iterator[RenderableType]:
        yield line(cells[0], "bold", INDENT)
        yield Text(self._set(cells, widths, 1))

    def _named(self, cells: tuple[str, ...], widths: list[int]) -> Iterator[RenderableType]:
        yield line(cells[0], "bold", INDENT)
        named = (f"{name} {cell}" for name, cell in zip(self.header[1:], cells[1:], strict=True) if cell)
        yield line(" · ".join(named), indent=2 * INDENT)

    def _set(self, cells: tuple[str, ...], widths: list[int], first: int) -> str:
        """The cells from the column ``first`` on, each filled up to its column's width."""
        parts = []
        for column in range(first, len(cells)):
            text = plain(cells[column])
            space = " " * (widths[column] - cell_len(text))
            parts.append(space + text if column in self.right else text + space)
        return " " * INDENT * (first + 1) + (" " * GAP).join(parts).rstrip()
