"""Puts a list of files into a start condition and says, layer by layer, what could be proved.

Knows the mount's kind and the page cache; which files, and when, is the place's affair.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from pathtrace.model.run import Mount
from pathtrace.model.scenario import Start
from pathtrace.model.work import LayerState
from pathtrace.places import page_cache
from pathtrace.places.file_list import FileList

LOOK_FILES = 2_000
"""As-is: at most so many files are looked at."""

_IN_MEMORY = ("tmpfs", "ramfs")
_OWN_CACHE = ("zfs", "fuse.zfs")


def files_to_visit(files: FileList, start: Start, seed: int) -> Sequence[int]:
    """All of them, or a seeded sample where the only purpose is to look."""
    count = len(files)
    if start is not Start.AS_IS or count <= LOOK_FILES:
        return range(count)
    return sorted(random.Random(seed).sample(range(count), LOOK_FILES))


def visit(
    files: FileList, indexes: Sequence[int], start: Start, stopped: Callable[[], bool]
) -> page_cache.Look:
    """Empty, fill or only look at the cache of some files; the sum of what was seen."""
    total = page_cache.Look()
    for index in indexes:
        if stopped():
            break
        path, size = files.path(index), files.sizes[index]
        match start:
            case Start.COLD:
                total = total.plus(page_cache.empty(path, size))
            case Start.WARM:
                total = total.plus(page_cache.fill(path, size, stopped))
            case Start.AS_IS:
                total = total.plus(page_cache.look(path, size))
    return total


def direct_states(place: str, mount: Mount | None) -> tuple[LayerState, ...]:
    """Of direct reads: they meet the client's cache neither before nor after."""
    evidence = "direct reads go past this host's page cache and do not fill it"
    if mount and mount.fstype in _OWN_CACHE:
        return (LayerState("client_cache", place, "unknown", f"{evidence}; ZFS may serve them from its own"),)
    return (LayerState("client_cache", place, "cold", evidence), *_far_states(place, mount))


def layer_states(place: str, seen: page_cache.Look, mount: Mount | None) -> tuple[LayerState, ...]:
    """The client's cache as proved, and the server's, which nobody can see from here."""
    fstype = mount.fstype if mount else ""
    state, evidence = seen.state, seen.evidence
    if fstype in _IN_MEMORY:
        evidence += f"; {fstype} keeps its files in memory"
    elif fstype in _OWN_CACHE:
        state, evidence = "unknown", f"{evidence}; ZFS keeps a cache of its own, which cannot be seen"
    elif mount and (mount.disk or "").startswith("loop"):
        evidence += f"; what lies below {mount.disk} may have a cache of its own"
    return (LayerState("client_cache", place, state, evidence), *_far_states(place, mount))


def _far_states(place: str, mount: Mount | None) -> tuple[LayerState, ...]:
    if mount is None or not (mount.network or mount.fstype.startswith("fuse")):
        return ()
    far = f"{mount.fstype} from {mount.device}: the memory of the far side cannot be seen from here"
    return (LayerState("server_cache", place, "unknown", far),)
