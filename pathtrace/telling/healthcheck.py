"""Tells a healthcheck that a scan begins, ended or failed, as healthchecks.io takes it.

Whoever knows the URL can report in our name: no text here shows any of it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pathtrace.errors import OperationError

if TYPE_CHECKING:
    import httpx

START, END, FAIL = "/start", "", "/fail"
_TRIES = 3
_PAUSE_S = 0.5
_MOST_BYTES = 10_000
"""healthchecks.io keeps the first 100 kB, others less."""


async def ping(url: str, what: str, text: str, limit_s: float) -> None:
    """Call ``url`` with ``what`` behind its path: GET at the start, else POST of ``text``. OperationError."""
    try:
        async with asyncio.timeout(limit_s):
            await _ping(url, what, text)
    except TimeoutError:
        raise OperationError(f"no answer within {limit_s:g} s") from None


async def _ping(url: str, what: str, text: str) -> None:
    import httpx

    try:
        target = httpx.URL(url)
        if what:
            target = target.copy_with(path=target.path.rstrip("/") + what)
        async with httpx.AsyncClient(timeout=None) as client:  # our caller has a limit for all of it
            answer = await _answer(client, target, what, text)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        raise OperationError("it cannot be reached") from None  # the cause may show the URL
    if not answer.is_success:
        raise OperationError(f"it answered {answer.status_code}")


async def _answer(client: httpx.AsyncClient, target: httpx.URL, what: str, text: str) -> httpx.Response:
    """A server that is just starting again is asked a few times; one that heard us, once."""
    import httpx

    for left in reversed(range(_TRIES)):
        try:
            if what == START:
                return await client.get(target)
            return await client.post(target, content=_cut(text))
        except httpx.ConnectError:
            if not left:
                raise
            await asyncio.sleep(_PAUSE_S)
    raise AssertionError("unreachable: the last try returns or raises")


def _cut(text: str) -> bytes:
    """As much of it as is kept, in whole characters."""
    return text.encode()[:_MOST_BYTES].decode("utf-8", "ignore").encode()
