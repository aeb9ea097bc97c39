from __future__ import annotations

import os
from pathlib import Path

import pytest

from pathtrace.model.run import Mount
from pathtrace.model.scenario import Start
from pathtrace.model.work import LayerState
from pathtrace.places.file_caches import LOOK_FILES, files_to_visit, layer_states, visit
from pathtrace.places.file_list import FileList, list_tree
from pathtrace.places.page_cache import Look

COLD = Look(2, 10, 0, 0, "cachestat")
SEEN = "cachestat: 0 of 10 pages resident in 2 files"


def mount(fstype: str, *, disk: str | None = None, network: bool = False) -> Mount:
    return Mount("/mnt", "nas:/x", fstype, disk, network)


def test_a_local_disk_has_one_layer() -> None:
    assert layer_states("a", COLD, mount("ext4", disk="sda1")) == (
        LayerState("client_cache", "a", "cold", SEEN),
    )


@pytest.mark.parametrize("where", [mount("nfs4", network=True), mount("fuse.unknown"), mount("fuse")])
def test_what_comes_from_afar_has_a_cache_that_is_unknown(where: Mount) -> None:
    far = f"{where.fstype} from nas:/x: the memory of the far side cannot be seen from here"
    assert layer_states("a", COLD, where) == (
        LayerState("client_cache", "a", "cold", SEEN),
        LayerState("server_cache", "a", "unknown", far),
    )


def test_caches_that_cannot_be_seen_are_named() -> None:
    states = [
        layer_states("a", COLD, where)[0]
        for where in (mount("zfs"), mount("tmpfs"), mount("ext4", disk="loop0"))
    ]
    assert [(state.state, state.evidence.removeprefix(SEEN)) for state in states] == [
        ("unknown", "; ZFS keeps a cache of its own, which cannot be seen"),
        ("cold", "; tmpfs keeps its files in memory"),
        ("cold", "; what lies below loop0 may have a cache of its own"),
    ]


def listed(root: Path, count: int) -> FileList:
    for number in range(count):
        (root / f"{number:04}").write_bytes(b"x" * 5000)
    return list_tree(os.fsencode(root), (), (), lambda: False)


def test_only_looking_takes_a_sample_of_many_files(tmp_path: Path) -> None:
    files = listed(tmp_path, LOOK_FILES + 10)
    assert len(files_to_visit(files, Start.COLD, 1)) == LOOK_FILES + 10
    assert len(set(files_to_visit(files, Start.AS_IS, 1))) == LOOK_FILES
    assert files_to_visit(files, Start.AS_IS, 1) == files_to_visit(files, Start.AS_IS, 1)


def test_visiting_ends_when_told(tmp_path: Path) -> None:
    files = listed(tmp_path, 3)
    assert visit(files, range(3), Start.WARM, lambda: True) == Look()
    assert visit(files, range(3), Start.WARM, lambda: False).pages == 6
