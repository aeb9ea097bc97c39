"""Which commands there are: name -> where it is defined, and its one-line help.

A command's module is imported when it is run or its own help is asked for, not before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Entry(NamedTuple):
    target: str
    """``module:attribute``."""
    help: str


COMMANDS: Mapping[str, Entry] = {
    "check": Entry("pathtrace.cli.check:command", "Reach every place and say what a run would need."),
    "run": Entry("pathtrace.cli.run:command", "Replay a scenario and say where the waiting goes."),
    "show": Entry("pathtrace.cli.show:command", "Show a stored run again."),
    "whatif": Entry("pathtrace.cli.whatif:command", "Predict what a change would give."),
    "map": Entry("pathtrace.cli.map:command", "Draw the path, with figures when given a run."),
    "compare": Entry(
        "pathtrace.cli.compare:command", "Say what changed between runs, how sure that is, and why."
    ),
    "scan": Entry("pathtrace.cli.scan:command", "Measure as every night, and say whether anything changed."),
    "schedule": Entry(
        "pathtrace.cli.schedule:command", "Have a scan run every night: add, list, remove, run."
    ),
    "history": Entry("pathtrace.cli.history:command", "Show runs over time and what changed between them."),
    "baseline": Entry("pathtrace.cli.baseline:command", "Choose the run that later ones are held against."),
    "note": Entry("pathtrace.cli.note:command", "Keep a remark, a file, a label or a pin with a run."),
    "report": Entry("pathtrace.cli.report:command", "Print a page on a run, or on a change between two."),
    "probe": Entry("pathtrace.cli.probe:command", "Measure each resource alone."),
    "respond": Entry("pathtrace.cli.respond:command", "Be the other end of a link probe."),
    "schema": Entry("pathtrace.cli.schema:command", "Print the JSON Schema of a scenario or a run."),
    "places": Entry("pathtrace.cli.places:command", "List the kinds of place."),
}

NOT_YET: tuple[str, ...] = (
    "capture",
    "doctor",
    "explain",
    "init",
    "observe",
)
"""Commands that are planned and named in documents, but not in this version."""
