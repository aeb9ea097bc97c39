"""``pathtrace map``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pathtrace.cli.options import debug_option, given_store, json_option, store_option
from pathtrace.errors import EXIT_DONE, EXIT_NOT_MEASURED

if TYPE_CHECKING:
    from pathtrace.model.report import Report
    from pathtrace.model.scenario import Scenario

    Drawn = tuple[Scenario, str | None, Report | None]

SCENARIO_ENDINGS = (".yaml", ".yml")


@click.command("map")
@click.argument("targets", nargs=-1, metavar="[SCENARIO or RUN]...")
@click.option("--format", "form", type=click.Choice(["text", "mermaid"]), default="text", show_default=True)
@store_option
@json_option
@debug_option
def command(targets: tuple[str, ...], form: str, store: Path | None, as_json: bool) -> int:
    """Draw the path, with figures when given a run.

    Solid arrows are passed at every request, dashed ones less often. Without
    SCENARIO or RUN, the last run is drawn.

    \b
    Example:
      pathtrace map scenarios/household-archive.yaml --format mermaid
    """
    from pathtrace import app
    from pathtrace.cli import streams
    from pathtrace.render.map_document import map_document

    drawn = [_found(target, store) for target in targets or ("last",)]
    if as_json:
        streams.write_json(map_document(drawn))
    else:
        streams.write_text("\n\n".join(_drawing(entry, form) for entry in drawn))
    reports = [report for _, _, report in drawn if report is not None]
    return EXIT_NOT_MEASURED if any(map(app.is_damaged, reports)) else EXIT_DONE


def _found(target: str, store: Path | None) -> Drawn:
    """A scenario where the name is that of a YAML file, else a stored run."""
    from pathtrace import app

    path = Path(target)
    if path.suffix in SCENARIO_ENDINGS or path.is_file():
        return app.picture(app.load_scenario(path, os.environ)), None, None
    outcome = app.show(given_store(store), target)
    return outcome.run.scenario, outcome.run.id, outcome.report


def _drawing(entry: Drawn, form: str) -> str:
    from pathtrace.cli import streams
    from pathtrace.render import diagram
    from pathtrace.render.mermaid import mermaid_map

    scenario, _, report = entry
    if form == "mermaid":
        return mermaid_map(scenario, report)
    strokes = diagram.UNICODE if streams.can_draw(sys.stdout) else diagram.ASCII
    return diagram.text_map(scenario, report, strokes, streams.drawing_width())
