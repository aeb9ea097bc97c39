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
@click.option(
    "--add-link",
    "links",
    multiple=True,
    metavar="HOST,HOST=SPEED",
    help="A new direct link, as in nas,workstation=10GbE: what crosses between the two moves to it, "
    "others stay.",
)
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="TEXT",
    help='Where a value comes from: "text; 2026-03; vendor", or independent, or own. Kept and shown with it. '
    "One for all changes, or one for each.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Rank the upgrades and settings that make sense for the run."
)
@click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="NAME=MONEY",
    help='With --all: what a thing costs, as in lan=120, lan=10GbE="320 EUR" or disk:archive=90.',
)
@store_option
@json_option
@debug_option
def command(
    run: str,
    settings: tuple[str, ...],
    links: tuple[str, ...],
    sources: tuple[str, ...],
    everything: bool,
    prices: tuple[str, ...],
    store: Path | None,
    as_json: bool,
) -> int:
    """Predict what a change would give.

    Plays the operations of a stored run again with the change, held by the next
    thing that is full. What can be set: a link (lan=10GbE), its round trip
    (lan.latency=0.2ms), a disk (disk:archive=500MB/s), what a commit takes
    (commit:library=0.5ms), a place's batch, depth, workers or access
    (library.batch=500), a model in memory (model.loaded=true).
    The prediction is kept with the run.

    \b
    Example:
      pathtrace whatif last --set lan=10GbE --set archive.depth=16
      pathtrace whatif last --all --price "lan=120 EUR"
    """
    if everything:
        if settings or links or sources:
            raise UsageError(
                "--all asks for everything that makes sense", hint="leave out --set, --add-link, --source"
            )
        return _all(given_store(store), run, prices, as_json)
    if not settings and not links:
        raise UsageError(
            "whatif needs a change", hint="give one with --set, as in --set lan=10GbE, or ask --all"
        )
    if prices:
        raise UsageError("--price ranks what --all finds", hint="ask --all with it")
    return _one(given_store(store), run, settings, links, sources, as_json)


def _one(
    store: Path,
    run: str,
    settings: tuple[str, ...],
    links: tuple[str, ...],
    sources: tuple[str, ...],
    as_json: bool,
) -> int:
    from pathtrace.app.asking import Question, ask
    from pathtrace.cli import streams
    from pathtrace.render.whatif import whatif_document, whatif_view

    answered = ask(store, run, Question(settings, links, sources))
    if as_json:
        streams.write_json(whatif_document(answered.prediction))
    else:
        streams.write_view(whatif_view(answered.prediction))
    if answered.unstored is not None:
        raise answered.unstored
    return EXIT_DONE if answered.known and not answered.damaged else EXIT_NOT_MEASURED


def _all(store: Path, run: str, prices: tuple[str, ...], as_json: bool) -> int:
    from pathtrace.app.asking import ask_all
    from pathtrace.cli import streams
    from pathtrace.render.upgrades import upgrades_document, upgrades_view

    ranked = ask_all(store, run, prices)
    if as_json:
        streams.write_json(upgrades_document(ranked.upgrades))
    else:
        streams.write_view(upgrades_view(ranked.upgrades))
    if ranked.unstored is not None:
        raise ranked.unstored
    return EXIT_NOT_MEASURED if ranked.damaged else EXIT_DONE
