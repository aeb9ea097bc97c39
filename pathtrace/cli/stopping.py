"""A measurement that goes on while its progress is shown, and that signals ask to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pathtrace.app import StopRequest
    from pathtrace.cli.progress import Watching

STOPPING = "stopping once what is under way has finished; press Ctrl-C again to stop at once"

TICK_S = 0.5

Result = TypeVar("Result")


async def stoppable(work: Coroutine[Any, Any, Result], progress: Watching, stop: StopRequest) -> Result:
    """The result of ``work``, which looks at ``stop`` itself."""
    from pathtrace.cli import signals

    def ask(number: int) -> None:
        if stop.signal is None:
            progress.message(STOPPING)
        stop.request(number)

    ticking = asyncio.create_task(_tick(progress), name="progress")
    try:
        with signals.passed_on(ask):
            return await work
    finally:
        ticking.cancel()


async def _tick(progress: Watching) -> None:
    """Between operations too, so that a command that hangs does not look like pathtrace hanging."""
    while True:
        await asyncio.sleep(TICK_S)
        progress.tick()
