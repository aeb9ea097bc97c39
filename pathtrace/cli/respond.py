"""``pathtrace respond``."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import click

from pathtrace.cli.options import debug_option, json_option, quiet_option
from pathtrace.errors import EXIT_DONE

if TYPE_CHECKING:
    from pathtrace.app.responding import Responded, Responding, Token

DEFAULT_ADDRESS = "127.0.0.1:7411"
ONLY_HERE = "only this host can reach that; use --listen with this host's address in the network for others"


@click.command("respond")
@click.option(
    "--listen",
    metavar="ADDRESS:PORT",
    default=DEFAULT_ADDRESS,
    show_default=True,
    help="Where to listen, and nowhere else.",
)
@click.option(
    "--sessions",
    metavar="N",
    type=click.IntRange(1, 1_000_000),
    default=1,
    show_default=True,
    help="How many sessions the token is good for, one at a time.",
)
@click.option(
    "--bytes", "most", metavar="SIZE", default="64GiB", show_default=True, help="Bound of each session."
)
@click.option(
    "--time", "longest", metavar="DURATION", default="10min", show_default=True, help="Bound of each session."
)
@quiet_option
@json_option
@debug_option
def command(listen: str, sessions: int, most: str, longest: str, quiet: bool, as_json: bool) -> int:
    """Be the other end of a link probe.

    Run it on the other host. Lets in who has the token (PATHTRACE_TOKEN, or one
    that is drawn and shown), moves bytes between memory and the network, both
    ways, and ends once the token is used up. Reads and writes no files.

    \b
    Example:
      pathtrace respond --listen 192.168.1.10:7411
    """
    from pathtrace.app.responding import Responding, given_token
    from pathtrace.cli import streams
    from pathtrace.probes.responder_session import Limits
    from pathtrace.units import parse_bytes, parse_duration

    limits = Limits(parse_bytes(most), parse_duration(longest))
    token = given_token(os.environ)
    responding = Responding(listen, token, limits, sessions, _ignore if quiet else streams.say)
    _introduce(responding, token, quiet)
    done, signal = asyncio.run(_serve(responding))
    if as_json:
        streams.write_json(_document(done))
    else:
        streams.write_text(_summary(done))
    return _exit_code(signal)


def _ignore(_text: str) -> None:
    return


def _introduce(responding: Responding, token: Token, quiet: bool) -> None:
    """Where it listens, and what to type on the other side; a token that was given is not repeated."""
    from pathtrace.cli import streams

    if token.drawn:
        streams.say("on the host that probes, type")
        streams.say(f"  export PATHTRACE_TOKEN={token.value}")
        streams.say("and write where this is into its scenario, under the name that this host has there:")
        streams.say(f'  hosts: {{nas: {{responder: "{responding.reached_at}"}}}}')
    if not quiet:
        streams.say(f"listening on {responding.address}")
        if responding.is_local:
            streams.say(ONLY_HERE)


async def _serve(responding: Responding) -> tuple[Responded, int | None]:
    from pathtrace.cli import signals

    asked: list[int] = []

    def ask(number: int) -> None:
        asked.append(number)
        responding.stop()

    with signals.passed_on(ask):
        done = await responding.serve()
    return done, asked[0] if asked else None


def _exit_code(signal: int | None) -> int:
    from pathtrace.cli import signals

    return EXIT_DONE if signal is None else signals.exit_code(signal)


def _document(done: Responded) -> dict[str, object]:
    return {
        "format": "pathtrace.respond/1",
        "listen": done.address,
        "refused": done.refused,
        "sessions": [
            {
                "peer": served.peer,
                "duration_s": served.duration_s,
                "sent_bytes": served.sent_bytes,
                "received_bytes": served.received_bytes,
                "ended": served.ended,
            }
            for served in done.sessions
        ],
    }


def _summary(done: Responded) -> str:
    from pathtrace.units import format_bytes, format_count

    sent = format_bytes(sum(served.sent_bytes for served in done.sessions))
    received = format_bytes(sum(served.received_bytes for served in done.sessions))
    turned = f"; {format_count(done.refused, 'connection')} turned away" if done.refused else ""
    return f"served {format_count(len(done.sessions), 'session')}: {sent} sent, {received} received{turned}"
