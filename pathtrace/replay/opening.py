"""Opens the places of a scenario for a run, and closes every one that was opened."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from pathlib import Path

from pathtrace.errors import PlaceError
from pathtrace.model.run import Reached
from pathtrace.ports import Place
from pathtrace.replay.stop import StopRequest

STOPPED = "the run was stopped before its places were ready"


async def open_places(places: Mapping[str, Place], scratch: Path, stop: StopRequest) -> dict[str, Reached]:
    """Open each place in turn; one that cannot be used is noted with its fault, never raised.

    Making files or listing a tree may take minutes: a stop request cuts it short, since nothing is
    measured yet that could be lost.
    """
    return {
        name: await _unless_stopped(name, _open(name, place, scratch), stop) for name, place in places.items()
    }


async def _unless_stopped(name: str, opening: Coroutine[None, None, Reached], stop: StopRequest) -> Reached:
    opened = asyncio.create_task(opening, name=f"open {name}")
    asked = asyncio.create_task(stop.wait(), name="stop watch")
    try:
        await asyncio.wait((opened, asked), return_when=asyncio.FIRST_COMPLETED)
        return opened.result() if opened.done() else Reached(name, None, STOPPED, None, None)
    finally:
        for task in (opened, asked):
            task.cancel()
        await asyncio.wait((opened, asked))


async def _open(name: str, place: Place, scratch: Path) -> Reached:
    folder = scratch / name
    await asyncio.to_thread(folder.mkdir)
    try:
        facts = await place.open(folder)
    except PlaceError as error:
        return Reached(name, None, describe(error), None, None)
    return Reached(name, facts, None, place.mount, place.server_pid, place.identity)


def describe(error: PlaceError) -> str:
    """An error as one sentence with its remedy."""
    return f"{error} ({error.hint})" if error.hint else str(error)


async def close_places(places: Mapping[str, Place]) -> None:
    """Close every place, side by side since one may wait for a host that is gone; a cancellation meanwhile
    does not leave any open."""
    await asyncio.shield(asyncio.gather(*(place.close() for place in places.values())))
