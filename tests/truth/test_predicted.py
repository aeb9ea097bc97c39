"""What is predicted from one run is what the next one takes, once link, disk or setting is changed.

Each case draws its sizes and seeds and really changes its world while it is up. A third of them runs always;
all of them with ``pytest -m predicted --all-predictions``. A table of all stands at the end.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import lab_predicted
import pytest
from lab import memory as lab_memory
from lab import nas as lab_nas
from lab.disks import held_disk
from lab.documents import large_files, small_files, system_documents
from lab.memory import memory_limit
from lab.nas import Held, nas
from lab.network import Network, network, why_no_delay
from lab.postgres import postgres
from lab.ssh import sshfs_mount, why_no_mount
from lab_commands import burning
from lab_planted import Asked, by_path, by_smb
from lab_predicted import MEDIAN, Change, Row, foretold, keeps

from tests.places.contract import NOT_APPLICABLE

pytestmark = [pytest.mark.predicted, pytest.mark.truth, pytest.mark.needs_root, pytest.mark.timeout(400)]
only_with_all = pytest.mark.predicted(always=False)

MB = 1_000_000
SPEEDS = {"2.5GbE": "2500mbit", "10GbE": "10gbit", "1GbE": "1gbit"}
FAST = Held()
"""A disk of its own, as quick as memory: nothing holds it, and it can be measured alone."""


@pytest.fixture(autouse=True)
def _able() -> None:
    if reason := lab_nas.why_not(Held()) or why_no_delay() or why_no_mount() or lab_memory.why_not():
        pytest.skip(reason)


def links(net: Network, *speeds: str) -> list[Change]:
    """All cables as fast as that."""
    return [Change((f"lan={each}",), lambda each=each: net.set_link(SPEEDS[each])) for each in speeds]


def large(draw: random.Random, low_mb: int, high_mb: int) -> Callable[[Path], object]:
    size, seed = draw.randint(low_mb, high_mb) * MB, draw.getrandbits(32)
    return lambda folder: large_files(folder, sizes=[size], seed=seed)


def small(draw: random.Random, files: int) -> Callable[[Path], object]:
    size, seed = draw.randint(12, 20) * 1024, draw.getrandbits(32)
    count = draw.randint(files * 95 // 100, files * 105 // 100)
    return lambda folder: small_files(folder, files=count, size=size, seed=seed, spread=0.7)


def in_the_lab(
    name: str, content: Callable[[Path], object], path: str = "", **stated: Any
) -> Callable[[], list[Row]]:
    """A case of one share read through pathtrace's own client, whose link becomes ``to``."""
    room, to = stated.pop("room"), stated.pop("to", ("2.5GbE", "10GbE"))
    link, held, delay_s = stated.pop("link", "1gbit"), stated.pop("held", None), stated.pop("delay_s", 0.0)
    options, memory = stated.pop("options", ""), stated.pop("memory", None)
    asked = stated.pop("asked", {})

    def case() -> list[Row]:
        with network(link) as net, nas(net.nas, content, held=held) as box, ExitStack() as more:
            if delay_s:
                net.delay("nas", delay_s)
            if memory:
                more.enter_context(memory_limit(box.samba.pid, bytes=memory))
            return foretold(
                name, net, box, Asked(by_smb(box, path, options), **asked), links(net, *to), room, **stated
            )

    return case


def test_large_files_on_a_fast_disk(draw: random.Random, room: Path) -> None:
    content = large(draw, 350, 450)
    keeps(in_the_lab("large file, fast disk", content, "large0.bin", room=room, held=FAST, to=("2.5GbE",)))


@only_with_all
def test_large_files_on_a_fast_disk_at_ten(draw: random.Random, room: Path) -> None:
    content = large(draw, 900, 1100)
    keeps(in_the_lab("large file, fast disk", content, "large0.bin", room=room, held=FAST, to=("10GbE",)))


def test_large_files_on_a_disk_that_was_measured(draw: random.Random, room: Path) -> None:
    content, held = large(draw, 300, 400), Held(bytes_per_s=draw.uniform(180e6, 220e6))
    keeps(in_the_lab("large file, slow disk measured", content, "large0.bin", room=room, held=held))


def test_large_files_on_a_disk_that_nobody_measured(draw: random.Random, room: Path) -> None:
    """Of a NAS whose memory is smaller than the file, and which nobody may ask."""
    content, held = large(draw, 300, 400), Held(bytes_per_s=draw.uniform(180e6, 220e6))
    stated = {"room": room, "held": held, "memory": 96 << 20, "ssh": False, "hidden": ("read",)}
    keeps(in_the_lab("large file, slow disk hidden", content, "large0.bin", **stated))


@only_with_all
def test_back_to_a_slower_link(draw: random.Random, room: Path) -> None:
    """Five repeats: at 10 Gbit/s they are short, and what else runs here shows in them."""
    content = large(draw, 500, 600)
    stated = {"room": room, "held": FAST, "link": "10gbit", "to": ("1GbE",), "asked": {"repeats": 5}}
    keeps(in_the_lab("large file, back", content, "large0.bin", **stated))


def test_small_files_at_two_milliseconds(draw: random.Random, room: Path) -> None:
    asked = {"repeats": 2}
    keeps(
        in_the_lab(
            "small files at 2 ms", small(draw, 1500), room=room, delay_s=0.002, to=("2.5GbE",), asked=asked
        )
    )


@only_with_all
def test_five_thousand_small_files(draw: random.Random, room: Path) -> None:
    keeps(in_the_lab("5,000 small files", small(draw, 5000), room=room, held=FAST))


@only_with_all
def test_a_mixed_tree_of_real_documents(room: Path) -> None:
    keeps(in_the_lab("real documents", system_documents, room=room, held=FAST))


@only_with_all
def test_more_small_files_at_once(draw: random.Random, room: Path) -> None:
    content = small(draw, 500)

    def case() -> list[Row]:
        with network("1gbit") as net, nas(net.nas, content, held=FAST) as box:
            net.delay("nas", 0.004)
            asked, then = (
                Asked(by_smb(box, "", f"workers: 1, depth: {depth}"), repeats=2) for depth in (1, 16)
            )
            change = Change(("archive.depth=16",), asked=then)
            return foretold("small files, depth 1 to 16", net, box, asked, [change], room)

    keeps(case)


_INDEX = "  read: {path: [archive, indexer], frequency: per-document}\n"
_STORE = "  read: {path: [archive, indexer, library], frequency: per-document}\n"


def test_an_indexer_that_computes(draw: random.Random, room: Path) -> None:
    files = draw.randint(60, 80)

    def case() -> list[Row]:
        with network("1gbit") as net, nas(net.nas, letters(files), held=FAST) as box:
            places = by_smb(box) + f'  indexer: {{kind: process, command: ["{burning(room, 0.05)}"]}}\n'
            asked = Asked(places, _INDEX, repeats=2)
            return foretold("indexer that computes", net, box, asked, links(net, "10GbE"), room / "case")

    keeps(case)


def library(url: str, options: str) -> str:
    return (
        "  indexer: {kind: process, run: chunk}\n"
        f'  library: {{kind: database, url: "{url}", host: db, {options}}}\n'
    )


@only_with_all
def test_a_database_that_commits_each_row(draw: random.Random, room: Path) -> None:
    files = draw.randint(150, 200)

    def case() -> list[Row]:
        with (
            network("1gbit") as net,
            nas(net.nas, letters(files), held=FAST) as box,
            held_disk(fsync_s=0.003, room=1 << 28) as disk,
            postgres(net.db, disk.folder) as server,
        ):
            asked = Asked(by_smb(box) + library(server.url, "commit: row"), _STORE, repeats=2)
            return foretold("commit for each row", net, box, asked, links(net, "10GbE"), room)

    keeps(case)


def test_larger_batches_into_a_database(draw: random.Random, room: Path) -> None:
    size = draw.randint(3500, 4500)

    def case() -> list[Row]:
        with (
            network("1gbit") as net,
            held_disk(fsync_s=0.001, room=1 << 28) as disk,
            postgres(net.db, disk.folder) as server,
        ):
            made = f"  archive: {{kind: files, make: {{files: 80, bytes: {size} KiB, kind: text}}}}\n"
            asked, then = (
                Asked(made + library(server.url, f"batch: {batch}, commit: batch"), _STORE)
                for batch in (1, 500)
            )
            change = Change(("library.batch=500",), asked=then)
            return foretold("PostgreSQL, batch 1 to 500", net, None, asked, [change], room, ssh=False)

    keeps(case)


_LOADED = "  load: {path: [archive, reader], frequency: per-load}\n"


@only_with_all
@pytest.mark.parametrize("access", ["mmap", "read"])
def test_weights_over_a_mount(draw: random.Random, room: Path, access: str) -> None:
    """Long enough for the other host to tell what its server computes."""
    content = large(draw, 240, 280)

    def case() -> list[Row]:
        with network("1gbit") as net:
            cable = net.set_wire if access == "mmap" else net.set_link
            cable("1gbit")
            with (
                nas(net.nas, content, held=FAST) as box,
                sshfs_mount(net.workstation, box.ssh, box.folder) as mount,
            ):
                places = by_path(mount / "large0.bin", f"access: {access}, data: weights")
                asked = Asked(places.replace("path:", "host: nas, path:"), _LOADED)
                faster = Change(("lan=2.5GbE",), lambda: cable("2500mbit"))
                hidden = ("load",) if access == "mmap" else ()
                return foretold(
                    f"weights on a mount, {access}", net, box, asked, [faster], room, hidden=hidden
                )

    keeps(case)


_QUESTIONS = (
    "  asked: {path: [library, people], frequency: per-request}\n"
    "  beside: {path: [own, people], frequency: per-request}\n"
    "workload: {requests: 100}\n"
)
_SELECT = "select md5(g::text) as text from generate_series(1, 400) g, (select pg_sleep(0.003)) s"


@only_with_all
def test_requests_with_and_without_a_network_between(draw: random.Random, room: Path) -> None:
    def case() -> list[Row]:
        with network("1gbit") as net, postgres(net.db) as server, postgres(net.workstation) as own:
            net.delay("db", 0.004)
            places = (
                f'  library: {{kind: database, url: "{server.url}", host: db, query: "{_SELECT}"}}\n'
                f'  own: {{kind: database, url: "{own.url}", query: "{_SELECT}"}}\n'
                "  people: {kind: user}\n"
            )
            asked = Asked(places, _QUESTIONS)
            quicker = Change(("lan.latency=0.4ms",), lambda: net.delay("db", 0.0004))
            return foretold("requests", net, None, asked, [quicker], room, ssh=False)

    keeps(case)


_WRITE = "  write: {path: [made, archive], frequency: per-load}\n"


@only_with_all
def test_writing_to_the_share(draw: random.Random, room: Path) -> None:
    size = draw.randint(180, 220)

    def case() -> list[Row]:
        with network("1gbit") as net, nas(net.nas, held=FAST) as box:
            made = f"  made: {{kind: files, make: {{files: 8, bytes: {size} MiB, kind: text}}}}\n"
            asked = Asked(made + by_smb(box, "", "data: output"), _WRITE)
            return foretold("writing", net, box, asked, links(net, "2.5GbE"), room)

    keeps(case)


def letters(files: int) -> Callable[[Path], object]:
    """Text that nobody wrote, some 14 KB each."""

    def fill(folder: Path) -> None:
        words = random.Random(files)
        syllables = ["ro", "ma", "ten", "lis", "ve", "gar", "od", "un", "pel", "ki"]
        for number in range(files):
            lines = [" ".join("".join(words.choices(syllables, k=3)) for _ in range(120)) for _ in range(4)]
            (folder / f"letter{number:04d}.txt").write_text("\n\n".join(lines))

    return fill


def test_the_middle_of_all_errors_is_within_a_tenth() -> None:
    if not lab_predicted.rows:
        pytest.skip(f"{NOT_APPLICABLE}: no case ran before")
    assert lab_predicted.median_error(lab_predicted.rows) <= MEDIAN
