"""Options and arguments that several commands share, so that they read and behave alike."""

from __future__ import annotations

import os
import re
from pathlib import Path

import click

from pathtrace.errors import UsageError


class Settings:
    """What holds for the whole program, wherever it is given. (A dataclass would import ``inspect``.)"""

    def __init__(self) -> None:
        self.debug = False


def _remember_debug(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    settings = ctx.find_object(Settings)
    if settings is not None and value:
        settings.debug = True


debug_option = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_remember_debug,
    help="Show a traceback when something fails.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Write one JSON document to standard output, nothing else."
)
quiet_option = click.option("--quiet", is_flag=True, help="No progress and no remarks on standard error.")


def _a_store(ctx: click.Context, parameter: click.Parameter, given: str | None) -> Path | None:
    """Of an empty name, as an unset variable leaves it, not the folder that one happens to be in."""
    if given is not None and not given:
        raise UsageError("--store is empty", hint="name a folder; '.' is the one that you are in")
    return None if given is None else Path(given)


store_option = click.option(
    "--store",
    metavar="DIR",
    callback=_a_store,
    help="Where runs lie. Default: $PATHTRACE_STORE, else a folder of your own data.",
)


def usable_label(ctx: click.Context, parameter: click.Parameter, label: str | None) -> str | None:
    """A label by which a run can be found, and which a terminal can show."""
    if label is None or (label.strip() and label.isprintable() and not re.fullmatch(r"last(~\d+)?", label)):
        return label
    raise UsageError(
        f"--label {label!r} cannot name a run", hint="use a word or more of your own; 'last' has a meaning"
    )


def _narrow(ctx: click.Context, parameter: click.Parameter, given: str | None) -> float | None:
    """``3%`` as a ratio. UsageError if it is none, or none that repeats can come to."""
    if given is None:
        return None
    from pathtrace import units

    try:
        ratio = units.parse_ratio(given)
    except UsageError as error:
        raise UsageError(f"--until {error}", hint=error.hint) from error
    if 0 < ratio < 1:
        return ratio
    raise UsageError(
        f"--until {given!r} must lie between 0% and 100%", hint="3% is usual; the less, the more repeats"
    )


until_option = click.option(
    "--until",
    metavar="PERCENT",
    callback=_narrow,
    help="Repeat until the median of each flow is known to ±PERCENT, as in 3%: five repeats or more, the "
    "scenario's number at least. Ends with its budget; says which.",
)
scenario_argument = click.argument(
    "scenario", required=False, metavar="SCENARIO", type=click.Path(path_type=Path)
)


def given_scenario(scenario: Path | None, command: str) -> Path:
    """The scenario, or an error that says how to come by one."""
    if scenario is None:
        raise UsageError(
            f"{command} needs a scenario: a YAML file that describes your places and flows",
            hint=f"try 'pathtrace {command} scenarios/quickstart.yaml', then copy and adapt "
            "scenarios/household-archive.yaml",
        )
    return scenario


def given_store(store: Path | None) -> Path:
    """Where runs lie: as asked for, else the default of this machine's environment."""
    from pathtrace import app

    return store if store is not None else app.default_store(os.environ)
