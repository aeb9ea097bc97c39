"""``pathtrace run``."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pathtrace.cli.options import (
    debug_option,
    given_scenario,
    given_store,
    json_option,
    quiet_option,
    scenario_argument,
    store_option,
    until_option,
    usable_label,
)
from pathtrace.errors import EXIT_DONE, EXIT_NOT_MEASURED

if TYPE_CHECKING:
    from pathtrace.app import Outcome, StopRequest

FAULTS_SAID = 5
"""Of operations, each distinct text once; all of them lie with the run."""


@click.command("run")
@scenario_argument
@click.option(
    "--label", metavar="TEXT", callback=usable_label, help="A name for this run, to find it by later."
)
@click.option("--no-probes", is_flag=True, help="Measure no resource alone: quicker, and less is known.")
@until_option
@store_option
@json_option
@quiet_option
@debug_option
def command(
    scenario: Path | None,
    label: str | None,
    no_probes: bool,
    until: float | None,
    store: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Replay a scenario and say where the waiting goes.

    Measures every hop, prints the verdict, the hops and a ranking in time per
    day, and stores the run with a one-page report.md. What is yours is only
    read; scratch data is removed. Ctrl-C ends early and keeps what was measured.

    \b
    Example:
      pathtrace run scenarios/quickstart.yaml --label before
    """
    from pathtrace import app
    from pathtrace.cli import event_loop
    from pathtrace.cli.progress import progress_for
    from pathtrace.cli.show import write_outcome
    from pathtrace.cli.stopping import stoppable

    loaded = app.load_scenario(given_scenario(scenario, "run"), os.environ)
    stop = app.StopRequest()
    probing = app.no_probes() if no_probes else app.needed_probes(os.environ)
    with closing(progress_for(loaded, quiet)) as progress:
        replaying = app.run(
            loaded,
            given_store(store),
            label=label,
            progress=progress,
            stop=stop,
            probing=probing,
            until=until,
        )
        outcome = event_loop.run(stoppable(replaying, progress, stop))
    write_outcome(outcome, as_json)
    if as_json:
        say_faults(outcome)
    if outcome.unstored is not None:
        raise outcome.unstored
    return exit_code(outcome, stop)


def say_faults(outcome: Outcome) -> None:
    """What could not be measured, where the document on standard output is for a program."""
    from pathtrace.cli import streams

    unreached = (reached.fault for reached in outcome.run.reached if reached.fault is not None)
    for fault in dict.fromkeys((*unreached, *outcome.run.faults[:FAULTS_SAID])):
        streams.say(f"error: {fault}")


def exit_code(outcome: Outcome, stop: StopRequest) -> int:
    """0 if all was measured; 130 or 143 if a signal ended it; 3 if anything is missing."""
    from pathtrace.cli import signals

    if outcome.run.status == "interrupted":
        return signals.exit_code(stop.signal)
    unmeasured = any(hop.duration_s is None for hop in outcome.report.hops)
    return EXIT_NOT_MEASURED if unmeasured or outcome.run.status == "partial" else EXIT_DONE
