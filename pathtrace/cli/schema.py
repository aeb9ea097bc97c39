"""``pathtrace schema``."""

from __future__ import annotations

import click

from pathtrace.cli.options import debug_option
from pathtrace.errors import EXIT_DONE


@click.command("schema")
@click.argument("document", type=click.Choice(["scenario", "run"]), default="scenario")
@debug_option
def command(document: str) -> int:
    """Print the JSON Schema of a scenario or a run.

    An editor that knows the scenario's schema completes keys and marks faults;
    the run's schema describes what 'pathtrace show --json' prints.

    \b
    Example:
      pathtrace schema scenario > pathtrace.schema.json
    """
    from pathtrace import app
    from pathtrace.cli import streams

    streams.write_json(app.scenario_schema() if document == "scenario" else app.run_schema())
    return EXIT_DONE
