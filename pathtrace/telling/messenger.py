"""A process of its own that hands one message to apprise, and is gone after its time limit.

Apprise waits as long as a service likes, in threads that keep a process from ending, and its log and
errors may show what stands in a URL: here nobody reads them, and the process ends whoever still waits.
Takes one JSON document on standard input, so that no URL is in the list of processes; gives a line of
JSON for each URL, in the order in which they answered, and shows nothing of any URL in it.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import threading
from contextvars import ContextVar
from typing import Any, TextIO

TOLD, UNDERSTOOD = "told", "understood"
REFUSED, UNKNOWN, MALFORMED, UNSUPPORTED = "refused", "unknown", "malformed", "unsupported"
"""What becomes of a URL: unknown is no service of apprise's, unsupported one whose library is missing."""

_serving: ContextVar[int] = ContextVar("serving", default=-1)
"""The number of the URL; apprise's threads inherit it."""
_CODE = re.compile(r"\berror=(\d{3})\b")


class _Codes(logging.Handler):
    """Keeps of apprise's log nothing but the last HTTP status of each URL."""

    def __init__(self) -> None:
        super().__init__()
        self.of_way: dict[int, int] = {}

    def emit(self, record: logging.LogRecord) -> None:
        found = _CODE.search(record.getMessage())
        if found:
            self.of_way[_serving.get()] = int(found[1])


class _Answers:
    """Writes one answer at a time."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._lock = threading.Lock()

    def give(self, way: int, outcome: str, **more: object) -> None:
        with self._lock:
            self._out.write(json.dumps({"way": way, "outcome": outcome, **more}) + "\n")
            self._out.flush()


def main() -> None:
    """Tell, or only look whether each URL is understood, if there is no message."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing that a plugin prints is taken for an answer
    asked = json.loads(sys.stdin.buffer.read())
    answers, codes = _Answers(out), _Codes()
    logger = logging.getLogger("apprise")
    logger.addHandler(codes)
    logger.propagate = False
    threads = [
        threading.Thread(target=_serve, args=(way, url, asked, answers, codes), daemon=True)
        for way, url in enumerate(asked["urls"])
    ]
    ender = threading.Timer(asked["limit_s"], os._exit, (0,))
    ender.daemon = True
    ender.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os._exit(0)  # apprise's own threads may still wait


def _serve(way: int, url: str, asked: dict[str, Any], answers: _Answers, codes: _Codes) -> None:
    import apprise

    _serving.set(way)
    plugin = apprise.Apprise.instantiate(url)
    if plugin is None:
        outcome, service, needs = _why_not(url)
        answers.give(way, outcome, service=service, needs=needs)
        return
    service = str(plugin.service_name)
    message = asked["message"]
    if message is None:
        answers.give(way, UNDERSTOOD, service=service)
        return
    teller = apprise.Apprise()
    teller.add(plugin)
    kind = apprise.NotifyType.SUCCESS if message["good"] else apprise.NotifyType.WARNING
    told = teller.notify(
        title=message["title"], body=message["body"], notify_type=kind, body_format=apprise.NotifyFormat.TEXT
    )
    answers.give(way, TOLD if told else REFUSED, service=service, code=codes.of_way.get(way))


def _why_not(url: str) -> tuple[str, str | None, list[str]]:
    """What is wrong with a URL that apprise does not take: outcome, service, libraries that it wants."""
    import apprise

    scheme = url.partition("://")[0].lower()
    known = apprise.Apprise().details(show_requirements=True, show_disabled=True)
    for service in known["schemas"]:
        if scheme in (*(service["protocols"] or ()), *(service["secure_protocols"] or ())):
            name = str(service["service_name"])
            if service["enabled"]:
                return MALFORMED, name, []
            return UNSUPPORTED, name, [str(each) for each in service["requirements"]["packages_required"]]
    return UNKNOWN, None, []


if __name__ == "__main__":
    main()
