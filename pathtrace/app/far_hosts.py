"""Other hosts that may be asked over ssh: what they are, what their disks do, what their caches hold.

Nothing is installed there. What cannot be asked is a caveat, never a reason to lose the run.
"""

from __future__ import annotations

import asyncio
import posixpath
import shlex
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from urllib.parse import unquote, urlsplit

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.report import Caveat
from pathtrace.model.run import HostFacts, Mount, Reached
from pathtrace.model.scenario import FilesSpec, Host, Place, Scenario, Start
from pathtrace.model.work import Clock, LayerState
from pathtrace.observers.far import FarWatch, far_facts, far_mount, share_folder
from pathtrace.places.file_list import shown
from pathtrace.places.ssh_connection import SshShell, open_shell
from pathtrace.ports import Shell
from pathtrace.probes.far_disk import drop_server_cache

DROP = "drop-server-cache"
_REMEDY = "check `ssh` of the host: it takes the same names and keys as the ssh command"
_OPEN_S = 20.0
_LOOK_S = 10.0


class FarHosts:
    """One shell for each host that names ``ssh`` and that a usable place lies on."""

    def __init__(self, scenario: Scenario, clock: Clock) -> None:
        self._scenario = scenario
        self._clock = clock
        self._shells: dict[str, SshShell] = {}
        self._troubles: dict[str, str] = {}
        self.watches: dict[str, FarWatch] = {}
        self.facts: dict[str, HostFacts] = {}
        self.folders: dict[str, str] = {}
        """Where a place's files lie on their own host."""
        self.mounts: dict[str, Mount] = {}
        self._absent: dict[str, str] = {}

    async def open(self, reached: Mapping[str, Reached]) -> None:
        """Connect and look; what fails becomes a caveat."""
        usable = [name for name, each in reached.items() if each.fault is None]
        used = {self._scenario.place(name).host for name in usable}
        for host in self._scenario.hosts:
            if host.ssh and not host.here and host.name in used:
                await self._guarded(host, self._meet(host, host.ssh))
        for name in usable:
            place = self._scenario.place(name)
            if place.host in self._shells and isinstance(place.spec, FilesSpec):
                await self._find(place, place.spec, reached[name].mount)

    async def _guarded(self, host: Host, work: Coroutine[None, None, None]) -> None:
        try:
            async with asyncio.timeout(_OPEN_S):
                await work
        except (PlaceError, OperationError) as error:
            self._troubles[host.name] = str(error)
        except TimeoutError:
            self._troubles[host.name] = "no answer in time"

    async def _meet(self, host: Host, ssh: str) -> None:
        self._shells[host.name] = shell = await open_shell(ssh)
        self.facts[host.name] = await far_facts(shell, host.name)
        self.watches[host.name] = FarWatch(host.name, shell, self._clock)

    async def _find(self, place: Place, spec: FilesSpec, mount: Mount | None) -> None:
        shell = self._shells[place.host]
        try:
            folder = await _folder_there(spec, mount, shell)
            if folder is not None and not await _is_there(shell, folder):
                self._absent[place.name] = folder
                return
            found = await far_mount(shell, folder) if folder else None
        except OperationError as error:
            self._troubles[place.host] = str(error)
            return
        if folder is not None and found is not None:
            self.folders[place.name], self.mounts[place.name] = folder, found

    def shell(self, host: str) -> Shell | None:
        """Of a host that could be asked."""
        return self._shells.get(host)

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Their counters come in while the block runs."""
        tasks = [
            asyncio.create_task(watch.run(), name=f"watch {name}") for name, watch in self.watches.items()
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)

    async def begin(self, place: str, start: Start) -> LayerState | None:
        """``ports.ServerCaches``: empties the cache of the place's files where the scenario allows it."""
        folder, described = self.folders.get(place), self._scenario.place(place)
        if start is not Start.COLD or folder is None or DROP not in self._scenario.control.allow:
            return None
        try:
            did = await drop_server_cache(self._shells[described.host], folder)
        except OperationError as error:
            return LayerState("server_cache", place, "unknown", f"it could not be emptied over ssh: {error}")
        return LayerState("server_cache", place, "unknown" if did.left_bytes else "cold", did.text)

    def caveats(self) -> tuple[Caveat, ...]:
        """Which hosts could not be asked, and what was not found there."""
        found = [
            Caveat("far-host-unseen", f"{name} could not be asked over ssh: {why}", _REMEDY, name)
            for name, why in self._troubles.items()
        ]
        found += [
            Caveat("far-host-unseen", f"{name} was not watched to the end: {watch.trouble}", _REMEDY, name)
            for name, watch in self.watches.items()
            if watch.trouble
        ]
        return (*found, *self._unfound())

    def _unfound(self) -> tuple[Caveat, ...]:
        return tuple(
            Caveat(
                "far-folder-unknown",
                f"{self._why_unknown(place)}, so its disk was not looked at",
                f"say so: `there: /the/folder/on/{place.host}` in places.{place.name}",
                place.name,
            )
            for place in self._scenario.places
            if isinstance(place.spec, FilesSpec)
            and place.host in self.facts
            and place.name not in self.folders
        )

    def _why_unknown(self, place: Place) -> str:
        absent = self._absent.get(place.name)
        if absent is None:
            return f"where {place.name} lies on {place.host} is not known"
        return f"{place.name} does not lie at {shown(absent)} on {place.host}, or not for the user of ssh"

    async def close(self) -> None:
        """Let go of every connection. Never raises for what is already gone."""
        for shell in self._shells.values():
            await shell.close()


async def _is_there(shell: Shell, folder: str) -> bool:
    answer = await shell.run(f"test -e {shlex.quote(folder)} && echo there; true", _LOOK_S)
    return "there" in answer


async def _folder_there(spec: FilesSpec, mount: Mount | None, shell: Shell) -> str | None:
    """The place's folder, or its file, as its own host knows it; None if nobody tells."""
    if spec.there is not None:
        return spec.there
    if spec.url is not None:
        return await _of_url(spec.url, shell)
    if mount is None or spec.path is None or mount.there is None:
        return None
    below = posixpath.relpath(posixpath.realpath(posixpath.expanduser(spec.path)), mount.path)
    share = mount.fstype in ("cifs", "smb3", "smbfs")
    base = await _of_share(mount.there, shell) if share else mount.there
    return posixpath.normpath(posixpath.join(base, below)) if base is not None else None


async def _of_url(url: str, shell: Shell) -> str | None:
    path = unquote(urlsplit(url).path)
    return await _of_share(path, shell) if url.startswith("smb:") else path


async def _of_share(path: str, shell: Shell) -> str | None:
    share, _, below = path.strip("/").partition("/")
    folder = await share_folder(shell, share)
    return posixpath.normpath(posixpath.join(folder, below)) if folder else None
