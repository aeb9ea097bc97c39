"""The one edge where errors become messages and exit codes. Nothing else in pathtrace ends the process."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Sequence

import click

from pathtrace import errors
from pathtrace.cli.group import cli
from pathtrace.cli.options import Settings
from pathtrace.cli.streams import forget_stdout, say, tolerate_any_encoding
from pathtrace.redaction import SECRET_NAME, Scrubber

SHORTEST_SECRET = 4
"""Shorter values would hide half of every message."""

_GRACE_S = 1.0

BUG_HINT = "please report it with the output of the same command and --debug"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    code = _main(arguments)
    if arguments is None:
        _leave_hanging_threads(code)
    return code


def _leave_hanging_threads(code: int) -> None:
    """Python would wait for those that read from a mount whose server is gone."""
    others = [
        each for each in threading.enumerate() if each is not threading.main_thread() and not each.daemon
    ]
    for thread in others:
        thread.join(_GRACE_S / len(others))
    if any(thread.is_alive() for thread in others):
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        os._exit(code)


def _main(arguments: Sequence[str] | None) -> int:
    tolerate_any_encoding()
    settings = Settings()
    args = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = cli.main(args=args, prog_name="pathtrace", standalone_mode=False, obj=settings)
        sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()
        return errors.EXIT_DONE
    except (KeyboardInterrupt, click.Abort):
        say("interrupted")
        return errors.EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the one place where every error ends
        return _failed(error, settings)
    return code if isinstance(code, int) else errors.EXIT_DONE


def _failed(error: Exception, settings: Settings) -> int:
    scrub = _scrubber()
    if settings.debug:
        import traceback

        say(scrub("".join(traceback.format_exception(error)).rstrip()))
    for message, hint in _explained(error):
        say(scrub(f"error: {message}"))
        if hint:
            say(scrub(f"hint: {hint}"))
    return (
        error.exit_code
        if isinstance(error, (errors.PathtraceError, click.ClickException))
        else errors.EXIT_BUG
    )


def _scrubber() -> Scrubber:
    """Hides what the environment calls a secret, whoever's message it has come into."""
    named = (value for name, value in os.environ.items() if SECRET_NAME.search(name))
    return Scrubber(tuple(value for value in named if len(value) >= SHORTEST_SECRET))


def _explained(error: Exception) -> list[tuple[str, str | None]]:
    """What is said of an error: message and hint, once per fault."""
    match error:
        case errors.ScenarioError() | errors.IncomparableError():
            return [(str(fault), fault.hint) for fault in error.faults]
        case errors.PathtraceError():
            return [(str(error), error.hint)]
        case click.UsageError():
            return [(_lowered(error.format_message().partition(" Did you mean")[0]), _usage_hint(error))]
        case click.ClickException():
            return [(_lowered(error.format_message()), None)]
        case _:
            return [(f"this is a bug in pathtrace: {type(error).__name__}: {error}", BUG_HINT)]


def _lowered(message: str) -> str:
    """click's sentences, in the form of ours: no capital, no full stop."""
    return (message[:1].lower() + message[1:]).rstrip(".")


def _usage_hint(error: click.UsageError) -> str:
    near = getattr(error, "possibilities", None)
    if near:
        return f"did you mean {' or '.join(repr(word) for word in near)}?"
    path = error.ctx.command_path if error.ctx else "pathtrace"
    return f"see '{path} --help'"
