"""The ``pathtrace`` command itself: finds its subcommands in the table and loads only the one asked for."""

from __future__ import annotations

from importlib import import_module
from typing import cast

import click

from pathtrace import __version__
from pathtrace.cli.options import debug_option
from pathtrace.cli.table import COMMANDS, NOT_YET
from pathtrace.errors import UsageError


class LazyGroup(click.Group):
    """A group whose help is printed from the table, without importing a single command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module, attribute = entry.target.split(":")
        return cast("click.Command", getattr(import_module(module), attribute))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in NOT_YET:
            raise UsageError(f"'{name}' is not available in this version", hint=_available())
        if name not in COMMANDS and not name.startswith("-"):
            raise UsageError(f"there is no command '{name}'", hint=_nearest(name))
        return super().resolve_command(ctx, args)


def _available() -> str:
    return f"available are {', '.join(COMMANDS)}"


def _nearest(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name.lower(), COMMANDS, n=1, cutoff=0.5)
    return f"did you mean '{near[0]}'?" if near else _available()


@click.group(cls=LazyGroup, invoke_without_command=True)
@click.version_option(__version__, prog_name="pathtrace", message="%(prog)s %(version)s")
@debug_option
@click.pass_context
def cli(ctx: click.Context) -> int:
    """Replay a data path, measure every hop, and say where the waiting goes.

    A scenario (a YAML file) describes places, flows and how often each happens;
    a run measures it; stored runs are named by id, prefix, label, folder or 'last'.

    \b
    Example:
      pathtrace run scenarios/quickstart.yaml
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
    return 0
