"""``pathtrace scan``."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pathtrace.cli.fail_on import fail_on_option, is_slower
from pathtrace.cli.options import (
    debug_option,
    given_scenario,
    given_store,
    json_option,
    quiet_option,
    scenario_argument,
    store_option,
    usable_label,
)
from pathtrace.errors import EXIT_DONE, EXIT_NOT_MEASURED, EXIT_USAGE, EXIT_VERDICT, UsageError

if TYPE_CHECKING:
    from pathtrace.app import StopRequest
    from pathtrace.app.scanning_night import Scanned


def _below(ctx: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    from pathtrace.units import parse_ratio

    if text is None:
        return None
    try:
        ratio = parse_ratio(text)
    except UsageError as error:
        raise UsageError(f"--quiet-below {error}", hint=error.hint) from error
    if 0 < ratio <= 1:
        return ratio
    raise UsageError(f"--quiet-below {text!r} must lie above 0% and not above 100%", hint="20% is usual")


def _wait(ctx: click.Context, parameter: click.Parameter, text: str) -> float:
    from pathtrace.units import parse_duration

    try:
        return parse_duration(text)
    except UsageError as error:
        raise UsageError(f"--wait {error}", hint=error.hint) from error


@click.command("scan")
@scenario_argument
@click.option(
    "--quiet-below",
    metavar="PERCENT",
    callback=_below,
    help="Wait until CPU, disks and network of this host are busy with other work for less than that, "
    "as in 20%.",
)
@click.option(
    "--wait",
    metavar="DURATION",
    default="30 min",
    show_default=True,
    callback=_wait,
    help="How long to wait for a quiet host, or for another scan to end. Then this one is skipped.",
)
@click.option("--label", metavar="TEXT", callback=usable_label, help="A name to find this run by later.")
@click.option("--no-probes", is_flag=True, help="Measure no resource alone: quicker, and less is known.")
@fail_on_option
@store_option
@json_option
@quiet_option
@debug_option
def command(
    scenario: Path | None,
    quiet_below: float | None,
    wait: float,
    label: str | None,
    no_probes: bool,
    fail_on: float | None,
    store: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Measure as every night, and say whether anything changed.

    Runs the scenario within its budget, holds it against the baseline or the
    last runs, judges what the scenario expects and tells whom it says (expect,
    tell). Skipped and failed scans are kept, too. One scan at a time.

    \b
    Example:
      pathtrace scan my-lab.yaml --quiet-below 20%
    """
    from pathtrace import app
    from pathtrace.app.scanning import Wanted, scan
    from pathtrace.app.scanning_turn import Patience
    from pathtrace.cli import event_loop
    from pathtrace.cli.progress import progress_for
    from pathtrace.cli.stopping import stoppable

    loaded = app.load_scenario(given_scenario(scenario, "scan"), os.environ)
    stop = app.StopRequest()
    probing = app.no_probes() if no_probes else app.needed_probes(os.environ)
    wanted = Wanted(label, Patience(wait, quiet_below))
    with closing(progress_for(loaded, quiet)) as progress:
        work = scan(
            loaded, given_store(store), os.environ, wanted, progress=progress, stop=stop, probing=probing
        )
        scanned = event_loop.run(stoppable(work, progress, stop))
    return _end(scanned, stop, fail_on, as_json)


def _end(scanned: Scanned, stop: StopRequest, fail_on: float | None, as_json: bool) -> int:
    """Show the scan, then say by a code what became of it."""
    from pathtrace.cli import signals, streams
    from pathtrace.cli.run import say_faults
    from pathtrace.model.scanning import MEASURED
    from pathtrace.render.scan import scan_view

    error = scanned.error
    if error is not None and scanned.run is None and error.exit_code == EXIT_USAGE:
        raise error
    if as_json:
        streams.write_json(scanned.document)
    else:
        kept = str(scanned.folder) if scanned.folder is not None else None
        streams.write_view(scan_view(scanned.report, scanned.caveats, kept))
    if scanned.run is not None and scanned.report.outcome == MEASURED:
        say_faults(scanned.run)
    if stop.asked:
        return signals.exit_code(stop.signal)
    if error is not None:
        raise error
    return _exit_code(scanned, fail_on)


def _exit_code(scanned: Scanned, fail_on: float | None) -> int:
    """1 if what is expected is broken, or a flow is slower by ``fail_on``; 3 if anything is missing."""
    from pathtrace.model.history import SKIPPED

    report = scanned.report
    if report.outcome == SKIPPED:
        return EXIT_DONE
    flows = [each for each in report.beside if "/" not in each.name]
    slower = fail_on is not None and any(is_slower(each.ratio, each.low, fail_on) for each in flows)
    if slower or any(each.kept is False for each in report.expectations):
        return EXIT_VERDICT
    run = scanned.run
    whole = run is not None and run.run.status == "complete"
    measured = run is not None and all(hop.duration_s is not None for hop in run.report.hops)
    return EXIT_DONE if whole and measured and scanned.compared else EXIT_NOT_MEASURED
