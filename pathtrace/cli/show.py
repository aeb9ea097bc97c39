"""``pathtrace show``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pathtrace.cli.options import debug_option, given_store, json_option, store_option
from pathtrace.errors import EXIT_DONE, EXIT_NOT_MEASURED, PathtraceError

if TYPE_CHECKING:
    from pathtrace.app import Outcome


@click.command("show")
@click.argument("run", default="last")
@store_option
@json_option
@debug_option
def command(run: str, store: Path | None, as_json: bool) -> int:
    """Show a stored run again.

    RUN is an id, the beginning of one, a label, a run's folder, or 'last',
    'last~1' and so on. Without it, the last run is shown.

    \b
    Example:
      pathtrace show last~1
    """
    from pathtrace import app
    from pathtrace.store.runs import PrunedRunError

    try:
        outcome = app.show(given_store(store), run)
    except PrunedRunError as error:
        return _show_kept(given_store(store), run, error, as_json)
    write_outcome(outcome, as_json)
    return EXIT_NOT_MEASURED if app.is_damaged(outcome.report) else EXIT_DONE


def _show_kept(store: Path, run: str, error: PathtraceError, as_json: bool) -> int:
    """What was written when the run was made; its samples are no more."""
    from pathtrace.app.keeping import kept
    from pathtrace.cli import streams

    found = kept(store, run)
    streams.say(f"{found.folder.name}: {error.message}; this is what was written when it was made")
    if as_json:
        streams.write_json(found.document)
    else:
        streams.write_text(found.page.rstrip("\n"))
    return EXIT_DONE


def write_outcome(outcome: Outcome, as_json: bool) -> None:
    """A run and its report on standard output, as ``run`` and ``show`` both give them."""
    from pathtrace.cli import streams
    from pathtrace.render.json_document import run_document
    from pathtrace.render.tables import run_view

    if as_json:
        streams.write_json(run_document(outcome.run, outcome.report))
    else:
        streams.write_view(run_view(outcome.run, outcome.report, str(outcome.folder)))
