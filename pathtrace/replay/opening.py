"""Opens the places of a scenario for a run, and closes every one that was opened."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from pathtrace.errors import PlaceError
from pathtrace.model.run import Reached
from pathtrace.ports import Place


async def open_places(places: Mapping[str, Place], scratch: Path) -> dict[str, Reached]:
    """Open each place in turn; one that cannot be used is noted with its fault, never raised."""
    return {name: await _open(name, place, scratch) for name, place in places.items()}


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
    """Close every place; a cancellation meanwhile does not leave the rest open."""
    for place in places.values():
        await asyncio.shield(place.close())
