"""Probes of a place on another host: its disk over ssh, and its server by reading the same files again."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Sequence
from dataclasses import replace

from pathtrace.app.far_hosts import FarHosts
from pathtrace.app.rereading import Rereading
from pathtrace.model.run import Ceiling
from pathtrace.model.scenario import Action, Flow, Place, Start
from pathtrace.model.work import Clock
from pathtrace.ports import FarSources, Probe, Sources
from pathtrace.ports import Place as PlacePort
from pathtrace.probes.far_disk import LIMIT_BYTES, FarDiskProbe, FarFilesProbe
from pathtrace.probes.server import ServerProbe
from pathtrace.units import MIB, format_both

FILES_ASKED = 1000
SERVER_BYTES = 48 * MIB
SERVER_FILES = 500
"""How much is read again: a few seconds of a slow link."""
LINK_FULL = 0.9
"""At this share of the link's ceiling the link is what was measured."""


def far_disk_probe(
    place: Place, port: PlacePort, far: FarHosts, clock: Clock, most_bytes: int
) -> Probe | None:
    """The disk under the place on its own host, by reading up to ``most_bytes``; None without ssh, or if its
    folder there is not known."""
    shell, folder = far.shell(place.host), far.folders.get(place.name)
    if shell is None or folder is None:
        return None
    files = _files_there(port, folder)
    resource = f"disk:{place.name}"
    small = [(path, size) for path, size in files if size < MIB]
    if 2 * sum(size for _, size in small) > sum(size for _, size in files):
        return FarFilesProbe(resource, shell, small, clock)
    return FarDiskProbe(resource, shell, files, clock, limit_bytes=min(LIMIT_BYTES, most_bytes))


def _files_there(port: PlacePort, folder: str) -> list[tuple[str, int]]:
    """Paths on the other host, and sizes, of a sample of the place's files."""
    if isinstance(port, FarSources):
        found = port.far_sources(FILES_ASKED)
        return [(posixpath.join(folder, name) if name else folder, size) for name, size in found]
    if not isinstance(port, Sources):
        return []
    local = port.sources(FILES_ASKED)
    if len(local) == 1:
        return [(folder, local[0][1])]
    root = os.path.commonpath([path for path, _ in local]) if local else ""
    return [(posixpath.join(folder, os.path.relpath(path, root)), size) for path, size in local]


def server_probe(flow: Flow, port: PlacePort, again: Rereading, clock: Clock) -> Probe:
    """Protocol and server together, once the server has the files in memory."""

    async def forget() -> None:
        """This host's own cache must not answer in the server's place."""
        await port.begin(Start.COLD, frozenset({Action.READ}))

    some = again.of_the_first(SERVER_BYTES, SERVER_FILES)
    return ServerProbe(f"server:{flow.stages[0].place}", some, forget, clock)


def unless_link(ceiling: Ceiling, links: Sequence[Ceiling]) -> Ceiling:
    """A server that fills the link has shown no ceiling of its own."""
    if not ceiling.resource.startswith("server:") or ceiling.bytes_per_s is None:
        return ceiling
    for link in links:
        if link.bytes_per_s and ceiling.bytes_per_s >= LINK_FULL * link.bytes_per_s:
            evidence = (
                f"at least {format_both(ceiling.bytes_per_s)}: {link.resource} was full; {ceiling.evidence}"
            )
            return replace(ceiling, bytes_per_s=None, operations_per_s=None, evidence=evidence)
    return ceiling
