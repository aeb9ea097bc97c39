"""``pathtrace check``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from pathtrace.cli.options import (
    debug_option,
    given_scenario,
    given_store,
    json_option,
    scenario_argument,
    store_option,
)
from pathtrace.errors import EXIT_DONE, EXIT_NOT_MEASURED


@click.command("check")
@scenario_argument
@store_option
@json_option
@debug_option
def command(scenario: Path | None, store: Path | None, as_json: bool) -> int:
    """Reach every place and say what a run would need.

    Says what each repeat would read and write, how long it may take, and the
    room and memory needed against what is there. Changes nothing.

    \b
    Example:
      pathtrace check scenarios/quickstart.yaml
    """
    from pathtrace import app
    from pathtrace.cli import event_loop, streams
    from pathtrace.render.checks import check_view
    from pathtrace.render.json_document import check_document

    loaded = app.load_scenario(given_scenario(scenario, "check"), os.environ)
    report = event_loop.run(app.check(loaded, given_store(store)))
    if as_json:
        streams.write_json(check_document(report))
    else:
        streams.write_view(check_view(report))
    return EXIT_DONE if report.usable else EXIT_NOT_MEASURED
