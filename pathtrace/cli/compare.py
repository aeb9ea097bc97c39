"""``pathtrace compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pathtrace.cli.change_options import changed_option, price_option
from pathtrace.cli.fail_on import fail_on_option, is_slower
from pathtrace.cli.options import debug_option, given_store, json_option, store_option
from pathtrace.errors import EXIT_DONE, EXIT_NOT_MEASURED, EXIT_VERDICT

if TYPE_CHECKING:
    from pathtrace.app.comparing import ComparedRuns


@click.command("compare")
@click.argument("before", metavar="BEFORE")
@click.argument("afters", nargs=-1, required=True, metavar="AFTER...")
@changed_option
@price_option
@fail_on_option
@store_option
@json_option
@debug_option
def command(
    before: str,
    afters: tuple[str, ...],
    changed: tuple[str, ...],
    prices: tuple[str, ...],
    fail_on: float | None,
    store: Path | None,
    as_json: bool,
) -> int:
    """Say what changed between runs, how sure that is, and why.

    The runs must have asked for the same work on the same data from the same
    start; everything else that differs is listed. With more than two runs the
    first is what each of the others is compared with.

    \b
    Example:
      pathtrace compare before after --changed lan --price "lan=120 EUR"
    """
    from pathtrace.app.comparing import compare_runs
    from pathtrace.cli import streams
    from pathtrace.render.compare_document import compare_document
    from pathtrace.render.comparison import comparison_view

    found = compare_runs(given_store(store), before, afters, changed, prices)
    if as_json:
        streams.write_json(compare_document(found.comparisons))
    else:
        streams.write_view(comparison_view(found.comparisons))
    for run in found.damaged:
        streams.say(f"warning: part of what {run} recorded is lost; what is left was compared")
    return _exit_code(found, fail_on)


def _exit_code(found: ComparedRuns, fail_on: float | None) -> int:
    """1 if a flow is slower by ``fail_on`` or more, and surely slower; 3 if anything was not measured or
    is lost."""
    ratios = [flow.ratio for each in found.comparisons for flow in each.flows]
    known = [ratio for ratio in ratios if ratio is not None]
    if fail_on is not None and any(is_slower(each.ratio, each.low, fail_on) for each in known):
        return EXIT_VERDICT
    whole = len(known) == len(ratios) and not found.damaged
    return EXIT_DONE if whole else EXIT_NOT_MEASURED
