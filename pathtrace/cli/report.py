"""``pathtrace report``."""

from __future__ import annotations

from pathlib import Path

import click

from pathtrace.cli.change_options import changed_option, price_option
from pathtrace.cli.options import debug_option, given_store, json_option, store_option
from pathtrace.errors import EXIT_DONE, EXIT_NOT_MEASURED, UsageError

MARKDOWN = "md"
_PLANNED = ("html",)


def _known(ctx: click.Context, parameter: click.Parameter, given: str) -> str:
    if given == MARKDOWN:
        return given
    hint = f"--format {MARKDOWN} prints the page as Markdown, from which other programs make HTML"
    if given in _PLANNED:
        raise UsageError(f"--format {given} is planned, and not in this version", hint=hint)
    raise UsageError(f"--format {given!r} is not known", hint=hint)


@click.command("report")
@click.argument("run", default="last")
@click.argument("after", required=False)
@click.option("--format", "form", default=MARKDOWN, metavar="md", callback=_known, help="Markdown.")
@changed_option
@price_option
@store_option
@json_option
@debug_option
def command(
    run: str,
    after: str | None,
    form: str,
    changed: tuple[str, ...],
    prices: tuple[str, ...],
    store: Path | None,
    as_json: bool,
) -> int:
    """Print a page on a run, or on a change between two.

    Of one run: question, verdict, task, configuration, result, spread and what
    was not measured. With AFTER: the question, what was predicted, what was
    changed and what came of it. As JSON it is what 'show' and 'compare' give.

    \b
    Example:
      pathtrace report before after --changed lan > change.md
    """
    if after is not None:
        return _two(given_store(store), run, after, changed, prices, as_json)
    if changed or prices:
        word = "--changed" if changed else "--price"
        raise UsageError(f"{word} is about two runs", hint="name the later run too: report BEFORE AFTER")
    return _one(given_store(store), run, as_json)


def _one(store: Path, run: str, as_json: bool) -> int:
    from pathtrace import app
    from pathtrace.app.asking import page_of
    from pathtrace.cli import streams
    from pathtrace.render.json_document import run_document

    outcome = app.show(store, run)
    if as_json:
        streams.write_json(run_document(outcome.run, outcome.report))
    else:
        streams.write_text(page_of(outcome.run, outcome.report).removesuffix("\n"))
    return EXIT_NOT_MEASURED if app.is_damaged(outcome.report) else EXIT_DONE


def _two(
    store: Path, before: str, after: str, changed: tuple[str, ...], prices: tuple[str, ...], as_json: bool
) -> int:
    from pathtrace.app.comparing import compare_runs
    from pathtrace.cli import streams
    from pathtrace.render.before_after import before_after_page
    from pathtrace.render.compare_document import compare_document

    found = compare_runs(store, before, (after,), changed, prices)
    [later], [whole] = found.afters, found.comparisons
    if as_json:
        streams.write_json(compare_document(found.comparisons))
    else:
        page = before_after_page(whole, found.before.run, later.run, later.report)
        streams.write_text(page.removesuffix("\n"))
    for run in found.damaged:
        streams.say(f"warning: part of what {run} recorded is lost; what is left was compared")
    measured = all(flow.ratio is not None for flow in whole.flows)
    return EXIT_DONE if measured and not found.damaged else EXIT_NOT_MEASURED
