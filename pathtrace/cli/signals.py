"""Ctrl-C and SIGTERM become requests to stop: once politely, twice at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pathtrace.errors import EXIT_INTERRUPTED, EXIT_TERMINATED

WATCHED = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def passed_on(request: Callable[[int], None]) -> Iterator[None]:
    """While this lasts, ``request`` is called in the running loop with each signal's number."""
    loop = asyncio.get_running_loop()
    try:
        for number in WATCHED:
            loop.add_signal_handler(number, request, int(number))
    except NotImplementedError:  # Windows: the loop cannot, but Python can
        yield from _by_python(loop, request)
        return
    try:
        yield
    finally:
        for number in WATCHED:
            loop.remove_signal_handler(number)


def _by_python(loop: asyncio.AbstractEventLoop, request: Callable[[int], None]) -> Iterator[None]:
    def pass_on(number: int, _frame: object) -> None:
        loop.call_soon_threadsafe(request, number)

    before = {number: signal.signal(number, pass_on) for number in WATCHED}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def exit_code(number: int | None) -> int:
    """Of a run that a signal ended."""
    return EXIT_TERMINATED if number == signal.SIGTERM else EXIT_INTERRUPTED
