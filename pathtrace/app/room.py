"""Where places lie on this host's disks, and how full those are. Looks, and changes nothing."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pathtrace.analysis.data_kinds import Location, originals_in_danger
from pathtrace.model.report import Caveat
from pathtrace.model.run import Reached
from pathtrace.model.scenario import DatabaseSpec, FilesSpec, Place, Scenario
from pathtrace.places.mounts import mount_of
from pathtrace.places.sqlite import file_of
from pathtrace.ports import Place as PlacePort

_LOOK_S = 10.0


async def data_caveats(scenario: Scenario, usable: frozenset[str]) -> tuple[Caveat, ...]:
    """Where originals lie together with what is made of them, and what is said to lie on another host but
    does not; only of places that could be reached.
    """
    places = [place for place in scenario.places if place.name in usable]
    with contextlib.suppress(TimeoutError):  # a mount whose server is gone
        async with asyncio.timeout(_LOOK_S):
            return await asyncio.to_thread(_data_caveats, scenario, places)
    return ()


def _data_caveats(scenario: Scenario, places: list[Place]) -> tuple[Caveat, ...]:
    kept = [place for place in places if place.data is not None]
    where = {place.name: found for place in kept if (found := _location(place)) is not None}
    away = [place for place in places if place.host != scenario.here.name]
    return (*originals_in_danger(scenario, where), *(each for place in away for each in _not_away(place)))


def _not_away(place: Place) -> Iterator[Caveat]:
    """Without its share mounted a folder is this machine's, and no link would be what limits it."""
    if not isinstance(place.spec, FilesSpec) or place.spec.path is None:
        return
    path = Path(os.path.realpath(Path(place.spec.path).expanduser()))
    mount = mount_of(path)
    if mount is not None and not mount.far and mount.server is None:
        text = f"{place.name} is said to lie on {place.host}, but {path} is on a disk of this machine"
        remedy = "mount the share there, or leave out `host` (a disk over iSCSI may stay so)"
        yield Caveat("not-away", f"{text} ({mount.fstype} at {mount.path})", remedy, place.name)


def _location(place: Place) -> Location | None:
    file = data_path(place)
    if file is None:
        return None
    path = Path(os.path.realpath(file))
    mount = mount_of(path)
    folder = path if path.is_dir() else path.parent
    return Location(folder, mount.device if mount else None)


def data_path(place: Place) -> Path | None:
    """The file or folder that a place names on this host; None if it names none."""
    match place.spec:
        case FilesSpec(path=str(path)):
            return Path(path).expanduser()
        case DatabaseSpec(url=url) if url.startswith("sqlite:"):
            return file_of(url)
        case _:
            return None


async def with_room(reached: Mapping[str, Reached], places: Mapping[str, PlacePort]) -> dict[str, Reached]:
    """What was reached, with how full its disk is and what its scratch data took. After the replay."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LOOK_S):
            return await asyncio.to_thread(_with_room, reached, places)
    return dict(reached)


def _with_room(reached: Mapping[str, Reached], places: Mapping[str, PlacePort]) -> dict[str, Reached]:
    return {name: _of(each, places[name].scratch_folder) for name, each in reached.items()}


def _of(reached: Reached, scratch: Path | None) -> Reached:
    folder = scratch or (Path(reached.mount.path) if reached.mount else None)
    if reached.facts is None or folder is None:
        return reached
    try:
        disk = shutil.disk_usage(folder)
    except OSError:
        return reached
    return replace(
        reached, facts=replace(reached.facts, disk_total_bytes=disk.total, disk_used_bytes=disk.used)
    )


def existing(folder: Path) -> Path:
    """The nearest folder above (or the folder itself) that exists."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def free_bytes(folder: Path) -> int | None:
    """Room below a folder that may yet have to be made; None if it cannot be looked at."""
    try:
        return shutil.disk_usage(existing(folder)).free
    except OSError:
        return None


def index_folders(scenario: Scenario, store: Path) -> Iterator[tuple[Place, Path]]:
    """Databases with a file on this host, and the folder that their index is built in."""
    for place in scenario.places:
        if isinstance(place.spec, DatabaseSpec) and place.spec.url.startswith("sqlite:"):
            file = data_path(place)
            yield place, store if file is None else file.absolute().parent
