"""``pathtrace schedule``: add, list, remove, run, and the hidden start that reads a file of variables."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from pathtrace.cli.options import (
    debug_option,
    given_scenario,
    given_store,
    json_option,
    scenario_argument,
    store_option,
)
from pathtrace.cli.table import COMMANDS
from pathtrace.errors import EXIT_DONE, UsageError

if TYPE_CHECKING:
    from pathtrace.app.scheduling_jobs import Asked
    from pathtrace.model.schedule import ScheduleReport
    from pathtrace.scheduling.foreground import Foreground

Decorated = TypeVar("Decorated", bound=Callable[..., object])

_at = click.option("--at", metavar="HH:MM", help="Every day at this time of the host.")
_every = click.option(
    "--every", metavar="SPAN", help="So often instead: 30min, 6h, 24h (the default), 7d. Off the hour."
)
_system = click.option("--system", "scope", flag_value="system", help="For the whole host. Root's default.")
_user = click.option("--user", "scope", flag_value="user", help="For the one who calls. Default for others.")
_env_file = click.option(
    "--env-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Variables (NAME=value lines) that the scan gets: passwords, tokens.",
)
_dry_run = click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
_options = click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[-- SCAN OPTIONS]")


@click.group("schedule", invoke_without_command=True)
@debug_option
@click.pass_context
def command(ctx: click.Context) -> int:
    """Have a scan run every night: add, list, remove, run.

    A timer of systemd starts it, or cron where systemd does not run. Only units
    and lines of its own are ever changed.

    \b
    Example:
      pathtrace schedule add my-lab.yaml --at 03:17
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
    return EXIT_DONE


@command.command("add", short_help="Schedule a scan of a scenario.")
@scenario_argument
@_at
@_every
@_system
@_user
@click.option("--cron", "kind", flag_value="cron", help="By cron, also where systemd runs.")
@click.option("--systemd", "kind", flag_value="systemd", help="By systemd, also where it does not run yet.")
@store_option
@_env_file
@_dry_run
@json_option
@debug_option
@_options
def add(
    scenario: Path | None,
    at: str | None,
    every: str | None,
    scope: str | None,
    kind: str | None,
    store: Path | None,
    env_file: Path | None,
    dry_run: bool,
    as_json: bool,
    options: tuple[str, ...],
) -> int:
    """Schedule a scan of a scenario, in place of an earlier schedule of it.

    Without --at and --every it runs every night at a time that stays the same
    for this host and scenario. What follows -- goes to 'pathtrace scan'.

    \b
    Example:
      pathtrace schedule add my-lab.yaml --env-file ~/.pathtrace.env
    """
    from pathtrace.app import scheduling

    asked = _asked(scenario, store, options, at=at, every=every, env_file=env_file, scope=scope, kind=kind)
    add_it = scheduling.planned_add if dry_run else scheduling.add
    return _put_out(add_it(asked, os.environ), as_json)


@command.command("list", short_help="Show what is scheduled, when, and what is in its way.")
@json_option
@debug_option
def listing(as_json: bool) -> int:
    """Show what is scheduled, when it starts next, and what is in its way.

    \b
    Example:
      pathtrace schedule list
    """
    from pathtrace.app import scheduling

    return _put_out(scheduling.listed(os.environ), as_json)


@command.command("remove")
@click.argument("what", metavar="SCENARIO|NAME")
@_system
@_user
@_dry_run
@json_option
@debug_option
def remove(what: str, scope: str | None, dry_run: bool, as_json: bool) -> int:
    """Take a schedule away. A scan that goes on is not disturbed.

    \b
    Example:
      pathtrace schedule remove my-lab.yaml
    """
    from pathtrace.app import scheduling

    remove_it = scheduling.planned_removal if dry_run else scheduling.remove
    return _put_out(remove_it(what, scope, os.environ), as_json)


@command.command("run", short_help="Stay up and start the scans, for containers.")
@scenario_argument
@_at
@_every
@store_option
@_env_file
@debug_option
@_options
def run(
    scenario: Path | None,
    at: str | None,
    every: str | None,
    store: Path | None,
    env_file: Path | None,
    options: tuple[str, ...],
) -> int:
    """Stay up and start the scans, for containers, where no timer and no cron runs.

    Never starts two at once, and outlives a scan that fails. Ends on Ctrl-C or
    SIGTERM, which a scan that goes on gets too (twice: it stops at once).

    \b
    Example:
      pathtrace schedule run my-lab.yaml --every 6h
    """
    from pathtrace.app import scheduling
    from pathtrace.cli import event_loop, signals, streams

    asked = _asked(scenario, store, options, at=at, every=every, env_file=env_file)
    number = event_loop.run(_serve(scheduling.foreground(asked, os.environ, streams.say)))
    streams.say("stopped")
    return EXIT_DONE if number is None else signals.exit_code(number)


@command.command("start", hidden=True)
@_env_file
@debug_option
@_options
def start(env_file: Path | None, options: tuple[str, ...]) -> int:
    """Become a scan with the variables of a file: what a line of cron calls."""
    from pathtrace.app import scheduling_jobs

    if env_file is None:
        raise UsageError("start needs --env-file")
    words = scheduling_jobs.start_words(options)
    os.execve(words[0], words, scheduling_jobs.start_environ(env_file, os.environ))


async def _serve(scheduler: Foreground) -> int | None:
    """The signal that ended it."""
    from pathtrace.cli import signals

    asked: list[int] = []

    def ask(number: int) -> None:
        asked.append(number)
        scheduler.stop(number)

    with signals.passed_on(ask):
        await scheduler.serve()
    return asked[0] if asked else None


def _asked(
    scenario: Path | None,
    store: Path | None,
    options: tuple[str, ...],
    *,
    at: str | None,
    every: str | None,
    env_file: Path | None,
    scope: str | None = None,
    kind: str | None = None,
) -> Asked:
    from pathtrace.app.scheduling_jobs import Asked

    path = given_scenario(scenario, "schedule")
    _require_scan_options(path, options)
    return Asked(path, given_store(store), at, every, scope, kind, env_file, options)


def _require_scan_options(scenario: Path, options: tuple[str, ...]) -> None:
    """UsageError, as 'pathtrace scan' itself would say it, now rather than at night."""
    if any(option == "--store" or option.startswith("--store=") for option in options):
        raise UsageError("give --store before --")
    module, attribute = COMMANDS["scan"].target.split(":")
    scan: click.Command = getattr(import_module(module), attribute)
    with scan.make_context("pathtrace scan", [str(scenario), *options]):
        return


def _put_out(report: ScheduleReport, as_json: bool) -> int:
    from pathtrace.cli import streams
    from pathtrace.render.schedule import schedule_view, written_text
    from pathtrace.render.schedule_document import schedule_document

    if as_json:
        streams.write_json(schedule_document(report))
    else:
        streams.write_view(schedule_view(report))
        if report.dry_run and report.written:
            streams.write_text(written_text(report.written))
    return EXIT_DONE
