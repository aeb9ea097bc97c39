"""Runs a command's coroutine, and lets go of threads that hang: in reading from a mount whose server is gone.

Python would wait for them as the event loop ends; ``edge`` sees to it that it does not as the process ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


class _LetGo(ThreadPoolExecutor):
    """Nobody waits for its threads."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=cancel_futures)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of ``work``."""

    async def inner() -> Result:
        asyncio.get_running_loop().set_default_executor(_LetGo(thread_name_prefix="pathtrace"))
        return await work

    return asyncio.run(inner())
