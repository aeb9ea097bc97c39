"""``pathtrace whatif``."""

from __future__ import annotations

from pathlib import Path

import click

from pathtrace.cli.options import debug_option, given_store, json_option, store_option
from pathtrace.errors import EXIT_DONE, EXIT_NOT_MEASURED, UsageError


@click.command("whatif")
@click.argument("run", default="last")
@click.option(
    "--set", "settings", multiple=True, metavar="WHAT=VALUE", help="A change; several are made together."
)
@store_option
@json_option
@debug_option
def command(run: str, settings: tuple[str, ...], store: Path | None, as_json: bool) -> int:
    """Predict what a change would give.

    Plays the operations of a stored run again with the change, held by the next
    thing that is full. What can be set: a link (lan=10GbE), its round trip
    (lan.latency=0.2ms), a disk (disk:archive=500MB/s), a place's batch, depth or
    workers (library.batch=500), a model in memory (model.loaded=true). The
    prediction is kept with the run.

    \b
    Example:
      pathtrace whatif last --set lan=10GbE --set archive.depth=16
    """
    from pathtrace import app
    from pathtrace.cli import streams
    from pathtrace.render.whatif import whatif_document, whatif_view

    if not settings:
        raise UsageError("whatif needs a change", hint="give one with --set, as in --set lan=10GbE")
    predicted = app.whatif(given_store(store), run, settings)
    if as_json:
        streams.write_json(whatif_document(predicted.prediction))
    else:
        streams.write_view(whatif_view(predicted.prediction))
    if predicted.unstored is not None:
        raise predicted.unstored
    return EXIT_NOT_MEASURED if predicted.damaged else EXIT_DONE
