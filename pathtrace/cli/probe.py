"""``pathtrace probe``."""

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


@click.command("probe")
@scenario_argument
@store_option
@json_option
@debug_option
def command(scenario: Path | None, store: Path | None, as_json: bool) -> int:
    """Measure each resource alone.

    Links, disks, commits, round trips, protocol and server, pathtrace itself.

    A link is measured with 'pathtrace respond' or an iperf3 server on the other
    host, a disk over there by ssh with nothing installed. Nothing is stored.

    \b
    Example:
      pathtrace probe scenarios/quickstart.yaml
    """
    from pathtrace import app
    from pathtrace.cli import event_loop, streams
    from pathtrace.render.probes import probe_document, probe_view

    loaded = app.load_scenario(given_scenario(scenario, "probe"), os.environ)
    report = event_loop.run(app.probe(loaded, given_store(store), app.needed_probes(os.environ)))
    if as_json:
        streams.write_json(probe_document(report))
    else:
        streams.write_view(probe_view(report))
    return EXIT_DONE if report.complete else EXIT_NOT_MEASURED
