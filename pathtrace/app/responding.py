"""Serves link probes of another host: joins the responder to whoever started it. Prints nothing."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pathtrace.errors import UsageError
from pathtrace.probes.link_protocol import LEAST_TOKEN, format_address, parse_address
from pathtrace.probes.responder import Responder
from pathtrace.probes.responder_session import Limits, Served
from pathtrace.units import format_count

TOKEN_VARIABLE = "PATHTRACE_TOKEN"
_DRAWN_BYTES = 24


@dataclass(frozen=True, slots=True)
class Token:
    """``drawn``: by us just now, so that somebody has to be told."""

    value: str
    drawn: bool


@dataclass(frozen=True, slots=True)
class Responded:
    """What a responder did. ``address`` is where it listened."""

    address: str
    sessions: tuple[Served, ...]
    refused: int


def given_token(environ: Mapping[str, str]) -> Token:
    """The environment's, else a new one. UsageError: too short to keep anybody out."""
    value = stated_token(environ, "and one is drawn")
    return Token(value or secrets.token_urlsafe(_DRAWN_BYTES), drawn=value is None)


def stated_token(environ: Mapping[str, str], without: str) -> str | None:
    """The environment's; None if there is none. UsageError, with what happens ``without`` one: a token that
    is too short keeps nobody out, and hiding it would hide half of every text too."""
    value = environ.get(TOKEN_VARIABLE) or None
    if value is not None and len(value) < LEAST_TOKEN:
        raise UsageError(
            f"{TOKEN_VARIABLE} has only {format_count(len(value), 'character')}",
            hint=f"use at least {LEAST_TOKEN} that nobody can guess, or unset it {without}",
        )
    return value


class Responding:
    """Listens once made (PlaceError, UsageError); ``serve`` waits until all sessions are over or ``stop``."""

    def __init__(
        self, listen: str, token: Token, limits: Limits, sessions: int, tell: Callable[[str], None]
    ) -> None:
        host, port = parse_address(listen)
        self._responder = Responder(
            (host, port), token.value, limits, tell, time.perf_counter_ns, sessions=sessions
        )

    @property
    def address(self) -> str:
        """Where it listens, with the port that it got."""
        return format_address(*self._responder.address)

    @property
    def reached_at(self) -> str:
        """What another host may write; of a responder that listens everywhere, this host's name."""
        host, port = self._responder.address
        everywhere = ipaddress.ip_address(host.partition("%")[0]).is_unspecified
        return format_address(socket.gethostname() if everywhere else host, port)

    @property
    def is_local(self) -> bool:
        """True if no other host can reach it."""
        return ipaddress.ip_address(self._responder.address[0].partition("%")[0]).is_loopback

    async def serve(self) -> Responded:
        """What was done, once it is over."""
        address = self.address
        await asyncio.to_thread(self._responder.serve)
        return Responded(address, self._responder.served, self._responder.refused)

    def stop(self) -> None:
        """End ``serve``, and the session that is going on."""
        self._responder.stop()
