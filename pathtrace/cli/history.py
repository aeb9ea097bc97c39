"""``pathtrace history``."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pathtrace.cli.options import debug_option, given_store, json_option, store_option
from pathtrace.errors import EXIT_DONE, StoreError, UsageError

if TYPE_CHECKING:
    from pathtrace.app.history import Past

MANY = 1000
"""Folders to read from which on it is said that this takes a while."""


@click.command("history")
@click.argument("scenario", required=False, metavar="[SCENARIO]")
@click.option("--flow", metavar="NAME", help="This flow only, and its hops beside it.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(min=1), help="The last N nights only, all of them listed."
)
@click.option(
    "--csv",
    "table",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="Write a table for spreadsheets, a row for each night and hop.",
)
@click.option("--rebuild", is_flag=True, help="Make the index anew from the run folders first.")
@store_option
@json_option
@debug_option
def command(
    scenario: str | None,
    flow: str | None,
    limit: int | None,
    table: Path | None,
    rebuild: bool,
    store: Path | None,
    as_json: bool,
) -> int:
    """Show runs over time and what changed between them.

    SCENARIO is a scenario's name or its file; without it all are shown in
    short, or the only one whole. Each flow and hop has a bar for every night, a
    dot where it was not measured, and below it a mark where the surroundings
    changed. Runs that were skipped or failed are history too.

    \b
    Example:
      pathtrace history household-archive --flow index
    """
    from pathtrace.app.history import Asked, look_back, look_back_anew

    if as_json and str(table) == "-":
        raise UsageError(
            "--csv - and --json exclude each other: both are standard output",
            hint="write the table into a file: --csv nights.csv",
        )
    look = look_back_anew if rebuild else look_back
    with _without_collecting():
        past = look(given_store(store), Asked(_name(scenario), flow, limit), _say_much)
        _write(past, flow, limit, table, as_json)
    return EXIT_DONE


@contextmanager
def _without_collecting() -> Iterator[None]:
    """A hundred thousand values without a cycle among them: looking for some takes a quarter of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _write(past: Past, flow: str | None, limit: int | None, table: Path | None, as_json: bool) -> None:
    from pathtrace.cli import streams

    if table is not None:
        _write_table(past, table)
    if as_json:
        from pathtrace.render.history_document import history_document

        streams.write_json(history_document(past.scenarios, past.caveats))
    elif table is None:
        from pathtrace.render.history import history_view

        streams.write_view(history_view(past.scenarios, past.caveats, flow, limit))


def _name(scenario: str | None) -> str | None:
    """Of a file the name that stands in it."""
    if scenario is None or not (scenario.endswith((".yaml", ".yml")) or os.sep in scenario):
        return scenario
    from pathtrace import app

    return app.load_scenario(Path(scenario), os.environ).name


def _say_much(done: int, of: int) -> None:
    from pathtrace.cli import streams

    if of >= MANY and (done == of or done % MANY == 0):
        streams.say(f"reading run folders into the index: {done:,} of {of:,}")


def _write_table(past: Past, path: Path) -> None:
    """Into a file, or to standard output where that is called ``-``. StoreError."""
    import csv
    import io

    from pathtrace.cli import streams
    from pathtrace.render.history_document import history_rows

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(history_rows(past.scenarios))
    if str(path) == "-":
        streams.write_text(text.getvalue().rstrip("\n"))
        return
    try:
        path.write_text(text.getvalue(), encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"cannot write: {(error.strerror or str(error)).lower()}", where=str(path)
        ) from error
    streams.say(f"written: {path}")
