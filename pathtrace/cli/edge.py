"""The one edge where errors become messages and exit codes. Nothing else in pathtrace ends the process."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from pathtrace import errors
from pathtrace.cli.group import cli
from pathtrace.cli.options import Settings
from pathtrace.cli.streams import forget_stdout, say, tolerate_any_encoding

BUG_HINT = "please report it with the output of the same command and --debug"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
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
    if settings.debug:
        import traceback

        say("".join(traceback.format_exception(error)).rstrip())
    match error:
        case errors.ScenarioError():
            for fault in error.faults:
                _explain(str(fault), fault.hint)
        case errors.PathtraceError():
            _explain(str(error), error.hint)
        case click.UsageError():
            _explain(_lowered(error.message), _usage_hint(error))
        case click.ClickException():
            _explain(_lowered(error.format_message()), None)
        case _:
            _explain(f"this is a bug in pathtrace: {type(error).__name__}: {error}", BUG_HINT)
            return errors.EXIT_BUG
    return error.exit_code


def _explain(message: str, hint: str | None) -> None:
    say(f"error: {message}")
    if hint:
        say(f"hint: {hint}")


def _lowered(message: str) -> str:
    """click's sentences, in the form of ours: no capital, no full stop."""
    return (message[:1].lower() + message[1:]).rstrip(".")


def _usage_hint(error: click.UsageError) -> str:
    near = getattr(error, "possibilities", None)
    if near:
        return f"did you mean {' or '.join(repr(word) for word in near)}?"
    path = error.ctx.command_path if error.ctx else "pathtrace"
    return f"see '{path} --help'"
