"""``pathtrace probe``."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from pathtrace.model.probe import ProbeReport


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
    from pathtrace.cli import event_loop, signals, streams
    from pathtrace.render.probes import probe_document, probe_view

    loaded = app.load_scenario(given_scenario(scenario, "probe"), os.environ)
    asked: list[int] = []
    probing = app.probe(loaded, given_store(store), app.all_probes(os.environ))
    try:
        report = event_loop.run(_unless_stopped(probing, asked))
    except asyncio.CancelledError:
        streams.say("interrupted")
        return signals.exit_code(asked[0] if asked else None)
    if as_json:
        streams.write_json(probe_document(report))
    else:
        streams.write_view(probe_view(report))
    return EXIT_DONE if report.complete else EXIT_NOT_MEASURED


async def _unless_stopped(work: Coroutine[Any, Any, ProbeReport], asked: list[int]) -> ProbeReport:
    """The report; after a signal, noted in ``asked``, CancelledError once all has been tidied up."""
    from pathtrace.cli import signals

    probing = asyncio.ensure_future(work)

    def stop(number: int) -> None:
        asked.append(number)
        probing.cancel()

    with signals.passed_on(stop):
        return await probing
