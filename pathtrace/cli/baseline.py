"""``pathtrace baseline``."""

from __future__ import annotations

from pathlib import Path

import click

from pathtrace.cli.options import debug_option, given_store, store_option
from pathtrace.errors import EXIT_DONE, UsageError


@click.command("baseline")
@click.argument("run", required=False, metavar="[RUN]")
@click.option("--clear", is_flag=True, help="Hold later runs against what is usual again.")
@store_option
@debug_option
def command(run: str | None, clear: bool, store: Path | None) -> int:
    """Choose the run that later ones are held against.

    There is one for each scenario and the work that it asks for; a new one
    takes the place of the old one, and changes are looked for from it on.
    Without a baseline later runs are held against the median of the last ones
    that are like them. Without RUN the baselines are listed.

    \b
    Example:
      pathtrace baseline last
    """
    folder = given_store(store)
    if run is None:
        if clear:
            raise UsageError("--clear needs a run", hint="pathtrace baseline lists the baselines")
        _list(folder)
    elif clear:
        _clear(folder, run)
    else:
        _choose(folder, run)
    return EXIT_DONE


def _list(store: Path) -> None:
    from pathtrace.app.marking import baselines
    from pathtrace.cli import streams

    found = baselines(store)
    for entry in found:
        label = f"  {entry.label}" if entry.label else ""
        streams.write_text(f"{entry.id}  {entry.scenario}{label}")
    if not found:
        streams.say("no baseline was chosen: pathtrace baseline RUN chooses one")


def _clear(store: Path, run: str) -> None:
    from pathtrace.app.marking import clear_baseline
    from pathtrace.cli import streams

    name, was = clear_baseline(store, run)
    streams.say(f"{name} is no longer the baseline" if was else f"{name} was no baseline: nothing changed")


def _choose(store: Path, run: str) -> None:
    from datetime import UTC, datetime

    from pathtrace.app.marking import choose_baseline
    from pathtrace.cli import streams

    chosen = choose_baseline(store, run, datetime.now(UTC))
    before = f", no longer {', '.join(chosen.before)}" if chosen.before else ""
    streams.say(f"{chosen.run} is the baseline of {chosen.scenario}{before}")
