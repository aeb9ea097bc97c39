"""Sends a message by every URL at once through apprise, which runs in a process of its own (``messenger``).

Each URL fails for itself. They are named by number and service, since all of a URL may be secret.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pathtrace.model.report import Caveat
from pathtrace.model.scanning import NOT_TOLD, Message
from pathtrace.telling import messenger
from pathtrace.units import format_duration

_GRACE_S = 5.0
"""Beyond its limit, for starting Python; then it is ended from here."""


async def send(urls: Sequence[str], message: Message, limit_s: float) -> tuple[Caveat, ...]:
    """A caveat for each URL by which the message did not go out within ``limit_s``."""
    words = {"title": message.title, "body": message.body, "good": message.good}
    return _caveats(urls, await _ask(urls, words, limit_s), limit_s)


async def understood(urls: Sequence[str], limit_s: float) -> tuple[Caveat, ...]:
    """A caveat for each URL that apprise does not understand. Nothing is sent."""
    return _caveats(urls, await _ask(urls, None, limit_s), limit_s)


async def _ask(
    urls: Sequence[str], message: Mapping[str, object] | None, limit_s: float
) -> dict[int, dict[str, Any]]:
    """The answers that came in time, by the URL's place in ``urls``."""
    if not urls:
        return {}
    asked = json.dumps({"urls": list(urls), "message": message, "limit_s": limit_s}).encode()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",  # a folder that a command happens to start in holds no modules of ours
        "-W",
        "ignore",
        "-m",
        messenger.__name__,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
    )
    try:
        async with asyncio.timeout(limit_s + _GRACE_S):
            said, _ = await process.communicate(asked)
    except TimeoutError:
        return {}
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return {answer["way"]: answer for answer in map(json.loads, said.splitlines())}


def _caveats(
    urls: Sequence[str], answers: Mapping[int, Mapping[str, Any]], limit_s: float
) -> tuple[Caveat, ...]:
    return tuple(
        _caveat(way, len(urls), answer, limit_s)
        for way in range(len(urls))
        if (answer := answers.get(way, {})).get("outcome") not in (messenger.TOLD, messenger.UNDERSTOOD)
    )


def _caveat(way: int, count: int, answer: Mapping[str, Any], limit_s: float) -> Caveat:
    service = answer.get("service")
    which = f"address {way + 1} of {count} to tell" if count > 1 else "the address to tell"
    subject = f"{which} ({service})" if service else which
    text, remedy = _words(answer, service, limit_s)
    return Caveat(NOT_TOLD, f"{subject}: {text}", remedy, f"tell.urls.{way + 1}")


def _words(answer: Mapping[str, Any], service: str | None, limit_s: float) -> tuple[str, str | None]:
    match answer.get("outcome"):
        case messenger.REFUSED if answer.get("code"):
            return f"the message was refused: the service answered {answer['code']}", _CHECK
        case messenger.REFUSED:
            return "the message did not go out: the service could not be reached, or refused it", _CHECK
        case messenger.UNKNOWN:
            return "the URL is not understood: apprise knows no such service", _LIST
        case messenger.MALFORMED:
            return f"the URL is not understood: something is missing or wrong for {service}", _LIST
        case messenger.UNSUPPORTED if answer.get("needs"):
            needs = " ".join(answer["needs"])
            return f"{service} needs a library that is not installed", f"pip install {needs}"
        case messenger.UNSUPPORTED:
            return f"{service} cannot be used on this system", "tell by another service"
        case _:
            return f"no answer within {format_duration(limit_s)}", _CHECK


_CHECK = "`pathtrace check` says whether the URL is understood; then look at the service itself"
_LIST = "how each service's URL is written: https://appriseit.com/services/"
