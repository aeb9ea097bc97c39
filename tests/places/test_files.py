"""What a files place reads, hands on and survives, against real files."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from pathtrace.errors import PlaceError
from pathtrace.model.scenario import Access, Action, Made, Place, Start
from pathtrace.model.work import Done, Item, PlaceFacts
from pathtrace.places.files import Files
from pathtrace.places.page_cache import look
from tests.places.contract import draw_all
from tests.places.files_described import described

READ = frozenset({Action.READ})


def files(place: Place) -> Files:
    return Files(place, time.perf_counter_ns, 1)


def read(
    place: Place, scratch: Path, before: Callable[[], object] = lambda: None
) -> tuple[PlaceFacts, list[Done]]:
    """Open, read all that is supplied, close; ``before`` is called between listing and reading."""

    async def life() -> tuple[PlaceFacts, list[Done]]:
        opened = files(place)
        facts = await opened.open(scratch)
        try:
            await opened.begin(Start.AS_IS, READ)
            items = await opened.supply(Action.READ)
            before()
            return facts, await draw_all(opened, items)
        finally:
            await opened.close()

    return asyncio.run(life())


def handed(dones: list[Done]) -> dict[str, bytes]:
    return {item.name: bytes(item.data or b"") for done in dones for item in done.items}


def tree(root: Path, contents: dict[str, bytes]) -> Path:
    for name, content in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def test_a_tree_hands_on_each_document_whole_in_order_of_its_path(tmp_path: Path) -> None:
    contents = {"b/two.txt": b"two" * 50_000, "a.txt": b"one", "b/none.txt": b"", "c.bin": os.urandom(3000)}
    _, dones = read(described(tree(tmp_path / "t", contents), block_bytes=4096), tmp_path)
    assert list(handed(dones)) == sorted(contents)
    assert handed(dones) == contents
    assert [item.path for done in dones for item in done.items] == [
        str(tmp_path / "t" / name) for name in sorted(contents)
    ]


def test_names_with_spaces_newlines_and_bytes_that_are_no_text_are_read(tmp_path: Path) -> None:
    root = tmp_path / "t"
    root.mkdir()
    names = [b"with space.txt", b"new\nline.txt", b"\xff\xfe.txt"]
    for name in names:
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_bytes(name)
    _, dones = read(described(root), tmp_path)
    assert sorted(handed(dones).values()) == sorted(names)
    assert "\\xff\\xfe.txt" in handed(dones)


def test_a_small_document_alone_is_counted_in_blocks_and_handed_on_once_and_whole(tmp_path: Path) -> None:
    content = os.urandom(10_000)
    path = tmp_path / "one.pdf"
    path.write_bytes(content)
    _, dones = read(described(path, block_bytes=4096, depth=2), tmp_path)
    assert [done.bytes for done in dones] == [4096, 4096, 1808]
    assert [len(done.items) for done in dones] == [0, 0, 1]
    assert handed(dones) == {"one.pdf": content}


def test_weights_hand_on_every_block_in_tensor_order_and_every_byte_once(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"second": np.arange(3000.0), "first": np.arange(7000.0)}, path)
    content = path.read_bytes()
    _, dones = read(described(path, block_bytes=4096), tmp_path)
    blocks = {item.offset: bytes(item.data or b"") for done in dones for item in done.items}
    assert b"".join(blocks[offset] for offset in sorted(blocks)) == content
    assert sum(done.bytes for done in dones) == len(content)


def test_a_tree_of_weights_is_read_block_by_block(tmp_path: Path) -> None:
    root = tree(tmp_path / "t", {"config.json": b"{}"})
    save_file({"a": np.zeros(10_000)}, root / "m1.safetensors")
    save_file({"a": np.zeros(10_000)}, root / "m2.safetensors")
    facts, dones = read(described(root, block_bytes=40_000), tmp_path)
    assert facts.bytes == sum(done.bytes for done in dones)
    assert len(dones) == 1 + 2 * 3  # config; header and two halves of each tensor


def test_damaged_weights_are_read_from_front_to_end_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF" + b"\xff" * 9_000)
    facts, dones = read(described(path, block_bytes=4096), tmp_path)
    assert [done.bytes for done in dones] == [4096, 4096, 9004 - 8192]
    assert facts.warnings == (
        "model.gguf is read from front to end: GGUF version 4294967295 is not known (2 and 3 are)",
    )


def test_a_file_that_vanishes_costs_only_itself(tmp_path: Path) -> None:
    root = tree(tmp_path / "t", {"a": b"1", "b": b"22", "c": b"333"})
    _, dones = read(described(root), tmp_path, lambda: (root / "b").unlink())
    assert [done.bytes for done in dones] == [1, 0, 3]
    assert [done.fault for done in dones] == [None, "b: No such file or directory", None]


@pytest.mark.parametrize("access", [Access.READ, Access.MMAP, Access.DIRECT])
def test_a_file_that_got_shorter_gives_what_is_left_and_a_fault(tmp_path: Path, access: Access) -> None:
    root = tree(tmp_path / "t", {"a": bytes(100_000), "b": b"22"})
    place = described(root, access=access, block_bytes=4096)
    _, dones = read(place, tmp_path, lambda: os.truncate(root / "a", 70_000))
    assert [done.bytes for done in dones] == [70_000, 2]
    assert dones[0].fault == "a: got shorter while the run read it; it ends after 70,000 bytes"
    assert dones[0].items == ()


@pytest.mark.parametrize("access", [Access.READ, Access.MMAP, Access.DIRECT])
def test_blocks_beyond_a_new_end_are_faults_not_crashes(tmp_path: Path, access: Access) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(bytes(40_960))
    place = described(path, access=access, block_bytes=4096, data="weights")

    async def life() -> list[Done]:
        opened = files(place)
        await opened.open(tmp_path)
        items = await opened.supply(Action.READ)
        first = list(await opened.draw(items[:1]))
        os.truncate(path, 10_000)
        dones = first + await draw_all(opened, items[1:])
        await opened.close()
        return dones

    dones = asyncio.run(life())
    assert sum(done.bytes for done in dones) == 10_000
    assert [done.fault is None for done in dones] == [True, True] + [False] * 8


def test_a_file_that_grows_is_read_to_the_size_it_has_when_opened(tmp_path: Path) -> None:
    root = tree(tmp_path / "t", {"log": b"1234"})
    _, dones = read(described(root), tmp_path, lambda: (root / "log").write_bytes(b"123456789"))
    assert [(done.bytes, done.fault) for done in dones] == [(9, None)]


def test_links_to_folders_broken_links_and_special_files_are_passed_over_with_a_word(tmp_path: Path) -> None:
    root = tree(tmp_path / "t", {"a.txt": b"1"})
    outside = tree(tmp_path / "outside", {"secret.txt": b"2"})
    (root / "loop").symlink_to(root)
    (root / "out").symlink_to(outside)
    (root / "gone").symlink_to(root / "nothing")
    (root / "linked.txt").symlink_to(outside / "secret.txt")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(root / "socket"))
        facts, dones = read(described(root), tmp_path)
    assert handed(dones) == {"a.txt": b"1", "linked.txt": b"2"}
    assert [warning.partition(", such as")[0] for warning in facts.warnings] == [
        "passed over: 1 broken links",
        "passed over: 2 links to folders",
        "passed over: 2 special files (pipes, sockets, devices)",
    ]


def test_a_seeded_sample_is_the_same_each_time_and_no_larger_than_asked(tmp_path: Path) -> None:
    root = tree(tmp_path / "t", {f"{number}": b"x" * number for number in range(30)})
    first, once = read(described(root, sample=7), tmp_path)
    second, again = read(described(root, sample=7), tmp_path)
    assert list(handed(once)) == list(handed(again))
    assert len(once) == first.files == second.files == 7


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", "archive: there is nothing at {root}/missing"),
        ("empty", "archive: no files in {root}/empty"),
        ("hollow", "archive: only empty files in {root}/hollow"),
        ("file", "archive: {root}/file is empty"),
        ("pipe", "archive: {root}/pipe is neither a file nor a folder"),
        ("file/below", "archive: there is nothing at {root}/file/below"),
    ],
)
def test_what_cannot_be_read_is_one_clear_message(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    tree(tmp_path, {"hollow/a": b"", "file": b""})
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PlaceError) as caught:
        asyncio.run(files(described(tmp_path / name)).check())
    assert str(caught.value) == message.format(root=tmp_path)


def test_globs_that_leave_nothing_say_so(tmp_path: Path) -> None:
    tree(tmp_path, {"sub/a.txt": b"1"})
    with pytest.raises(PlaceError) as caught:
        asyncio.run(files(described(tmp_path, include=("*.txt",))).check())
    assert str(caught.value) == f"archive: no files that include and exclude leave in {tmp_path}"
    assert caught.value.hint is not None
    assert "**/*.txt" in caught.value.hint


def test_direct_reads_give_every_byte_and_leave_the_cache_as_it_was(tmp_path: Path) -> None:
    contents = {name: os.urandom(size) for name, size in {"a": 1, "b": 70_000, "c": 8192}.items()}
    root = tree(tmp_path / "t", contents)
    path = tmp_path / "one.bin"
    path.write_bytes(os.urandom(3_000_001))
    blocks = described(path, access=Access.DIRECT, block_bytes=100_000, depth=4, data="weights")

    async def resident(place: Files) -> int:
        await place.open(tmp_path)
        (state, *_) = await place.begin(Start.COLD, READ)
        assert (state.state, state.evidence) == (
            "cold",
            "direct reads go past this host's page cache and do not fill it",
        )
        assert place.concurrency(Action.READ) == 4
        dones = await draw_all(place, await place.supply(Action.READ))
        await place.close()
        assert sum(done.bytes for done in dones) == 3_000_001
        return look(os.fsencode(path), 3_000_001).resident

    assert asyncio.run(resident(files(blocks))) == 0
    _, dones = read(described(root, access=Access.DIRECT), tmp_path)
    assert handed(dones) == contents
    assert all(done.stat_ns >= 0 for done in dones)


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no tmpfs here")
def test_direct_reads_of_files_in_memory_are_refused_when_the_place_is_opened(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        root = tree(Path(folder) / "t", {"a": b"1"})

        async def life() -> None:
            place = files(described(root, access=Access.DIRECT))
            try:
                await place.open(tmp_path)
            finally:
                await place.close()

        with pytest.raises(PlaceError, match="tmpfs keeps its files in memory"):
            asyncio.run(life())


@pytest.mark.parametrize("start", [Start.COLD, Start.WARM])
def test_a_start_condition_is_reached_and_proved(tmp_path: Path, start: Start) -> None:
    root = tree(tmp_path / "t", {f"{number}": os.urandom(9_000) for number in range(50)})

    async def life() -> list[tuple[str, str, str]]:
        place = files(described(root))
        await place.open(tmp_path)
        states = await place.begin(start, READ)
        mount = place.mount
        await place.close()
        assert mount is not None
        if mount.fstype == "tmpfs":
            pytest.skip("files on tmpfs are always in memory")
        return [(state.layer, state.state, state.evidence) for state in states]

    (layer, state, evidence), *_ = asyncio.run(life())
    resident = 0 if start is Start.COLD else 150
    assert (layer, state) == ("client_cache", start.value)
    assert evidence.partition(": ")[2].startswith(f"{resident} of 150 pages resident in 50 files")


def test_the_fingerprint_follows_names_sizes_and_content(tmp_path: Path) -> None:
    def fingerprint(contents: dict[str, bytes]) -> str | None:
        root = tree(tmp_path / f"{len(seen)}", contents)
        seen.append(root)

        async def life() -> str | None:
            place = files(described(root))
            await place.open(tmp_path)
            try:
                return await place.fingerprint()
            finally:
                await place.close()

        return asyncio.run(life())

    seen: list[Path] = []
    same = [fingerprint({"a": b"12", "b": b"3"}) for _ in range(2)]
    others = [
        fingerprint(contents)
        for contents in ({"a": b"12", "c": b"3"}, {"a": b"1", "b": b"23"}, {"a": b"13", "b": b"3"})
    ]
    assert len({*same, *others}) == 4
    assert same[0] == same[1]


@pytest.mark.parametrize("kind", ["text", "weights"])
def test_made_files_are_the_same_for_a_seed_and_add_up_to_what_was_asked(tmp_path: Path, kind: str) -> None:
    def made(seed: int) -> dict[str, bytes]:
        scratch = tmp_path / f"{len(runs)}"
        scratch.mkdir()
        runs.append(scratch)
        contents: dict[str, bytes] = {}

        async def life() -> None:
            place = Files(described(make=Made(3, 200_000, kind)), time.perf_counter_ns, seed)
            await place.open(scratch)
            contents.update({str(p.relative_to(scratch)): p.read_bytes() for p in scratch.rglob("*.*")})
            await place.close()

        asyncio.run(life())
        return contents

    runs: list[Path] = []
    first, second, other = made(1), made(1), made(2)
    assert first == second != other
    assert sum(map(len, first.values())) == 200_000


def test_made_weights_are_a_valid_model_file(tmp_path: Path) -> None:
    async def life() -> int:
        place = files(described(make=Made(1, 20_000_000, "weights")))
        await place.open(tmp_path)
        (path,) = tmp_path.rglob("*.safetensors")
        tensors = load_file(path)
        await place.close()
        return sum(tensor.nbytes for tensor in tensors.values())

    assert 19_990_000 < asyncio.run(life()) < 20_000_000


def test_writing_stays_in_a_folder_of_its_own_that_disappears(tmp_path: Path) -> None:
    target = tree(tmp_path / "out", {"mine.txt": b"mine"})

    async def life() -> tuple[list[bytes], list[str]]:
        place = files(described(target, data="output"))
        await place.open(tmp_path)
        await place.begin(Start.AS_IS, frozenset({Action.WRITE}))
        for offset, data in ((0, b"hello "), (6, b"world")):
            await place.perform(Action.WRITE, [Item("mine.txt", len(data), offset=offset, data=data)])
        written = [path.read_bytes() for path in target.glob(".pathtrace-*/*")]
        await place.close()
        return written, sorted(path.name for path in target.iterdir())

    assert asyncio.run(life()) == ([b"hello world"], ["mine.txt"])
    assert (target / "mine.txt").read_bytes() == b"mine"


def test_a_large_tree_is_listed_in_little_memory(tmp_path: Path) -> None:
    from pathtrace.places.work_lists import Documents

    listed = files(described(tree(tmp_path / "t", {f"{n:03}": b"x" for n in range(300)})))

    async def life() -> Sequence[Item]:
        await listed.open(tmp_path)
        items = await listed.supply(Action.READ)
        await listed.close()
        return items

    items = asyncio.run(life())
    assert isinstance(items, Documents)
    assert [item.name for item in items[298:]] == ["298", "299"]
    assert len(items[10:20]) == 10


def test_a_cancelled_warming_ends_soon(tmp_path: Path) -> None:
    root = tree(tmp_path / "t", {f"{n}": os.urandom(1000) for n in range(500)})

    async def life() -> None:
        place = files(described(root))
        await place.open(tmp_path)
        warming = asyncio.create_task(place.begin(Start.WARM, READ))
        await asyncio.sleep(0)
        warming.cancel()
        with pytest.raises(asyncio.CancelledError):
            await warming
        await place.close()

    before = threading.active_count()
    started = time.monotonic()
    asyncio.run(life())
    assert time.monotonic() - started < 5
    assert threading.active_count() <= before + 4


def test_the_home_of_somebody_unknown_is_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PlaceError, match="nosuchperson"):
        read(described(Path("~nosuchperson/documents")), tmp_path)
