"""Who hears of a scan, and what: joins words, figures and lines with the ways that they go.

Every way has its own time and fails for itself; nothing of it ends a scan.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pathtrace.errors import OperationError, PathtraceError, StoreError
from pathtrace.model.report import Caveat
from pathtrace.model.scanning import NOT_TOLD, Message, ScanReport
from pathtrace.model.scenario import Scenario
from pathtrace.redaction import Scrubber

TELL = "PATHTRACE_TELL"
"""More URLs to tell, with spaces between them."""

_MESSAGES_S = 20.0
_PING_S = 10.0
_FILE_S = 5.0


def with_stated_ways(scenario: Scenario, environ: Mapping[str, str]) -> Scenario:
    """The scenario with the URLs of ``PATHTRACE_TELL`` beside its own, each once; they are secrets too."""
    stated = environ.get(TELL, "").split()
    if not stated:
        return scenario
    urls = tuple(dict.fromkeys((*scenario.tell.urls, *stated)))
    return replace(scenario, tell=replace(scenario.tell, urls=urls), secrets=(*scenario.secrets, *stated))


async def doubts_of_ways(scenario: Scenario) -> tuple[Caveat, ...]:
    """A caveat for each URL of ``tell`` that is not understood, and each file whose folder takes none.

    Nothing is sent or written.
    """
    files = {"tell.metrics": scenario.tell.metrics, "tell.log": scenario.tell.log}
    doubts = [
        caveat
        for subject, path in files.items()
        if path is not None
        for caveat in await _written(subject, partial(_require_folder, Path(path)))
    ]
    if not scenario.tell.urls:
        return tuple(doubts)
    from pathtrace.telling.message import understood

    return (*await understood(scenario.tell.urls, _MESSAGES_S), *doubts)


def _require_folder(path: Path) -> None:
    """StoreError if a file cannot be made there."""
    folder = Path(os.path.realpath(path.expanduser())).parent
    if not folder.is_dir():
        raise StoreError(f"there is no folder {folder}", hint="make it, or name another")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StoreError(f"no permission to write into {folder}", hint="allow it, or name another folder")


async def tell_start(scenario: Scenario) -> tuple[Caveat, ...]:
    """Tell the healthcheck that a scan begins. What could not be told is a caveat, and nothing else."""
    if scenario.tell.ping is None:
        return ()
    from pathtrace.telling.healthcheck import START

    return await _ping(scenario.tell.ping, START, "")


async def tell(report: ScanReport, scenario: Scenario, document: Mapping[str, Any]) -> tuple[Caveat, ...]:
    """Tell what a scan found by every way of the scenario's ``tell``, each on its own, within 30 s.

    ``document`` is the scan's own (``pathtrace.scan/1``): a line of the log. Messages go out only where
    ``report`` holds something new or ended; metrics, log and healthcheck hear of every scan. What could
    not be told comes back, a caveat each; nothing is raised.
    """
    from pathtrace.store.codec import scrubbed

    scrub = Scrubber(scenario.secrets)
    report = scrubbed(report, scrub)
    report = replace(report, entry=replace(report.entry, at=report.entry.at.astimezone()))
    ways = (
        _messages(report, scenario),
        _metrics(report, scenario),
        _log(document, scenario, scrub),
        _end(report, scenario),
    )
    return tuple(caveat for caveats in await asyncio.gather(*ways) for caveat in caveats)


def reached_nobody(scenario: Scenario, caveats: tuple[Caveat, ...]) -> bool:
    """True if there are URLs to tell and none of them took the message: it is to be told again."""
    urls = {f"tell.urls.{number}" for number in range(1, len(scenario.tell.urls) + 1)}
    return bool(urls) and urls <= {caveat.subject for caveat in caveats if caveat.code == NOT_TOLD}


async def _messages(report: ScanReport, scenario: Scenario) -> tuple[Caveat, ...]:
    from pathtrace.render.alert import alert

    message = alert(report)
    if message is None or not scenario.tell.urls:
        return ()
    return await _send(scenario.tell.urls, message)


async def _send(urls: tuple[str, ...], message: Message) -> tuple[Caveat, ...]:
    from pathtrace.telling.message import send

    try:
        return await send(urls, message, _MESSAGES_S)
    except OSError as error:
        text = f"messages could not be sent: {(error.strerror or 'no process could be started').lower()}"
        return tuple(Caveat(NOT_TOLD, text, None, f"tell.urls.{at}") for at, _ in enumerate(urls, 1))


async def _metrics(report: ScanReport, scenario: Scenario) -> tuple[Caveat, ...]:
    if scenario.tell.metrics is None:
        return ()
    from pathtrace.render.metrics import metrics_text
    from pathtrace.telling.metrics_file import rewrite

    path = Path(scenario.tell.metrics)
    return await _written(
        "tell.metrics", lambda: rewrite(path.expanduser(), lambda existing: metrics_text(report, existing))
    )


async def _log(
    document: Mapping[str, Any], scenario: Scenario, scrub: Callable[[str], str]
) -> tuple[Caveat, ...]:
    if scenario.tell.log is None:
        return ()
    from pathtrace.render.figures import finite
    from pathtrace.telling.log_file import append

    path = Path(scenario.tell.log)
    line = json.dumps(finite(_without_secrets(document, scrub)), ensure_ascii=False, allow_nan=False)
    return await _written("tell.log", lambda: append(path.expanduser(), line))


async def _written(subject: str, write: Callable[[], None]) -> tuple[Caveat, ...]:
    """Write in a thread: a file system whose server is gone costs its time, and no more."""
    try:
        async with asyncio.timeout(_FILE_S):
            await asyncio.to_thread(write)
    except TimeoutError:
        return (Caveat(NOT_TOLD, f"{subject}: could not be written within {_FILE_S:g} s", None, subject),)
    except RuntimeError as error:  # ``~`` of a user who has no home
        return (Caveat(NOT_TOLD, f"{subject}: {error}", "write the whole path", subject),)
    except PathtraceError as error:
        return (Caveat(NOT_TOLD, f"{subject}: {error}", error.hint, subject),)
    return ()


async def _end(report: ScanReport, scenario: Scenario) -> tuple[Caveat, ...]:
    if scenario.tell.ping is None:
        return ()
    from pathtrace.render.alert import in_short, is_bad
    from pathtrace.telling.healthcheck import END, FAIL

    return await _ping(scenario.tell.ping, FAIL if is_bad(report) else END, in_short(report))


async def _ping(url: str, what: str, text: str) -> tuple[Caveat, ...]:
    from pathtrace.telling.healthcheck import ping

    try:
        await ping(url, what, text, _PING_S)
    except OperationError as error:
        return (Caveat(NOT_TOLD, f"the healthcheck was not told: {error}", None, "tell.ping"),)
    return ()


def _without_secrets(value: Any, scrub: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {scrub(str(key)): _without_secrets(part, scrub) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_secrets(part, scrub) for part in value]
    return value
