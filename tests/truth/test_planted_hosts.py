"""Whatever was planted between a share and its reader, pathtrace names it, from the same scenario.

Each case draws its sizes and seeds, prints them and has a store of its own. Once in CI; all of them five
times, with a table at the end: ``pytest -m planted --rounds 5``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lab import nas as lab_nas
from lab.disks import held_disk
from lab.documents import large_files, small_files
from lab.nas import Held, Nas, nas
from lab.network import Network, network, why_no_delay, why_no_loss
from lab.postgres import postgres
from lab.quotas import cpu_quota
from lab.ssh import sshfs_mount, why_no_mount
from lab.traffic import traffic
from lab_commands import burning
from lab_pathtrace import flow, hop
from lab_planted import Asked, ask, by_path, by_sftp, by_smb, limits

pytestmark = [pytest.mark.planted, pytest.mark.truth, pytest.mark.needs_root, pytest.mark.timeout(300)]

LINK, DISK, SERVER, CPU = "link:lan", "disk:archive", "server:archive", "cpu:archive"
Plant = Callable[[Path], object]


@pytest.fixture(autouse=True)
def _able() -> None:
    if reason := lab_nas.why_not(Held()) or why_no_delay() or why_no_loss() or why_no_mount():
        pytest.skip(reason)


def large(draw: random.Random, low_mb: int, high_mb: int, count: int = 1) -> Plant:
    """Content of ``count`` files of some size each."""
    sizes = [draw.randint(low_mb, high_mb) * 1_000_000 for _ in range(count)]
    seed = draw.getrandbits(32)
    print(f"  sizes {sizes}, seed {seed}")
    return lambda folder: large_files(folder, sizes=sizes, seed=seed)


def small(draw: random.Random, low: int, high: int) -> Plant:
    files, size, seed = draw.randint(low, high), draw.randint(12, 20) * 1024, draw.getrandbits(32)
    print(f"  {files} files of {size} bytes, seed {seed}")
    return lambda folder: small_files(folder, files=files, size=size, seed=seed)


def found(net: Network, box: Nas | None, asked: Asked, room: Path) -> dict[str, Any]:
    """The document of a run in which everything could be measured."""
    outcome = ask(net, box, asked, room)
    assert outcome.code == 0, f"exit {outcome.code}\n{outcome.err}\n{outcome.out[-3000:]}"
    return outcome.document


def codes(document: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in document["findings"]]


@pytest.mark.parametrize(
    ("link", "low_mb", "high_mb"), [("100mbit", 30, 40), ("1gbit", 250, 350), ("2500mbit", 600, 800)]
)
def test_large_files_fill_a_slow_link(
    link: str, low_mb: int, high_mb: int, draw: random.Random, room: Path
) -> None:
    with network(link) as net, nas(net.nas, large(draw, low_mb, high_mb)) as box:
        document = found(net, box, Asked(by_smb(box, "large0.bin")), room)
    assert limits(document)["resource"] == LINK
    assert "slow-link" in codes(document)[:1], codes(document)


def test_a_slow_disk_behind_a_fast_link_is_the_disk_s(draw: random.Random, room: Path) -> None:
    with network("10gbit") as net, nas(net.nas, large(draw, 180, 240), held=Held(bytes_per_s=60e6)) as box:
        document = found(net, box, Asked(by_smb(box, "large0.bin")), room)
    assert limits(document)["resource"] in (DISK, SERVER)


def test_the_same_files_in_the_server_s_memory_are_not_the_disk_s(draw: random.Random, room: Path) -> None:
    with network("10gbit") as net, nas(net.nas, large(draw, 500, 700), held=Held(bytes_per_s=60e6)) as box:
        _warm(box)
        document = found(net, box, Asked(by_smb(box, "large0.bin"), start="warm"), room)
    assert limits(document)["resource"] in (LINK, SERVER)
    assert "server-cache" in codes(document)


def _warm(box: Nas) -> None:
    for path in box.folder.rglob("*.bin"):
        path.read_bytes()


def test_small_files_on_a_disk_of_few_operations_are_the_disk_s(draw: random.Random, room: Path) -> None:
    with network("10gbit") as net, nas(net.nas, small(draw, 400, 600), held=Held(iops=150)) as box:
        document = found(net, box, Asked(by_smb(box)), room)
    assert limits(document)["resource"] in (DISK, SERVER)


def test_small_files_at_two_milliseconds_are_round_trips(draw: random.Random, room: Path) -> None:
    with network("1gbit") as net, nas(net.nas, small(draw, 4_800, 5_200)) as box:
        net.delay("nas", 0.002)
        document = found(net, box, Asked(by_smb(box), repeats=1), room)
    assert limits(document)["resource"] == "round-trips:archive"
    assert "a faster link saves next to nothing" in document["ranking"][0]["advice"]


def test_a_cipher_on_one_core_is_the_cpu_s(draw: random.Random, room: Path) -> None:
    """A heavy one: where the processor has instructions for AES, that takes a third of a core at 250 MB/s."""
    with (
        network("10gbit") as net,
        nas(net.nas, large(draw, 50, 60)) as box,
        sshfs_mount(net.workstation, box.ssh, box.folder, cipher="3des-cbc") as mount,
    ):
        document = found(net, box, Asked(by_path(mount / "large0.bin")), room)
    assert limits(document)["resource"] == CPU
    assert "choose a lighter cipher" in document["ranking"][0]["advice"]


def test_sftp_in_python_is_the_tracer_s_own_limit(draw: random.Random, room: Path) -> None:
    with network("10gbit") as net, nas(net.nas, large(draw, 300, 400)) as box:
        document = found(net, box, Asked(by_sftp(box, "large0.bin")), room)
    assert limits(document)["resource"] == "tracer"


def test_smb_in_python_is_the_tracer_s_own_limit(draw: random.Random, room: Path) -> None:
    """Of a share that encrypts: without, the pure client moves 850 MB/s here and is not alone at work."""
    with (
        network("10gbit") as net,
        nas(net.nas, large(draw, 500, 600), encryption="mandatory") as box,
    ):
        asked = Asked(by_smb(box, "large0.bin"), environment={"PATHTRACE_SMB": "smbprotocol"})
        document = found(net, box, asked, room)
    assert limits(document)["resource"] == "tracer"


_INDEX = "  read: {path: [archive, indexer, library], frequency: per-document}\n"


def _library(url: str, options: str) -> str:
    return (
        "  indexer: {kind: process, run: chunk}\n"
        f'  library: {{kind: database, url: "{url}", host: db, {options}}}\n'
    )


def test_a_commit_for_each_row_on_a_slow_disk_is_the_commit_s(draw: random.Random, room: Path) -> None:
    files = draw.randint(250, 350)
    with (
        network("1gbit") as net,
        nas(net.nas, lambda folder: _letters(folder, files)) as box,
        held_disk(fsync_s=0.003, room=1 << 28) as disk,
        postgres(net.db, disk.folder) as server,
    ):
        places = by_smb(box) + _library(server.url, "commit: row")
        document = found(net, box, Asked(places, _INDEX, repeats=2), room)
    assert limits(document, "read", "indexer->library")["resource"] == "commit:library"
    assert flow(document, "read")["bottleneck"] == "commit:library"


def test_a_database_with_little_cpu_is_the_cpu_s_or_the_database_s(draw: random.Random, room: Path) -> None:
    files = draw.randint(250, 350)
    with (
        network("1gbit") as net,
        nas(net.nas, lambda folder: _letters(folder, files, paragraphs=40)) as box,
        postgres(net.db) as server,
        cpu_quota(server.pid, cores=0.15),
    ):
        places = by_smb(box) + _library(server.url, "batch: 200")
        document = found(net, box, Asked(places, _INDEX, repeats=2), room)
    assert limits(document, "read", "indexer->library")["resource"] in ("cpu:library", "database:library")
    assert flow(document, "read")["bottleneck"] in ("cpu:library", "database:library")


def _letters(folder: Path, files: int, paragraphs: int = 4) -> None:
    words = random.Random(files)
    syllables = ["ro", "ma", "ten", "lis", "ve", "gar", "od", "un", "pel", "ki"]
    for number in range(files):
        lines = [
            " ".join("".join(words.choices(syllables, k=3)) for _ in range(120)) for _ in range(paragraphs)
        ]
        (folder / f"letter{number:04d}.txt").write_text("\n\n".join(lines))


def test_an_indexer_that_computes_is_the_cpu_s(draw: random.Random, room: Path) -> None:
    files = draw.randint(60, 80)
    with network("1gbit") as net, nas(net.nas, lambda folder: _letters(folder, files)) as box:
        places = by_smb(box) + f'  indexer: {{kind: process, command: ["{burning(room, 0.05)}"]}}\n'
        flows = "  read: {path: [archive, indexer], frequency: per-document}\n"
        document = found(net, box, Asked(places, flows, repeats=2), room)
    assert limits(document)["resource"] == "cpu:indexer"


def test_traffic_of_others_that_takes_half_is_found_and_the_link_named(
    draw: random.Random, room: Path
) -> None:
    with network("1gbit") as net, nas(net.nas, large(draw, 150, 250)) as box:
        rate = draw.randint(450, 500)
        with traffic(net.db, net.workstation, rate=f"{rate}M", streams=2):
            document = found(net, box, Asked(by_smb(box, "large0.bin")), room)
    assert limits(document)["resource"] == LINK
    assert "other-traffic" in codes(document)


def test_a_wrong_mtu_is_named_and_the_run_ends(draw: random.Random, room: Path) -> None:
    with network("1gbit") as net, nas(net.nas, large(draw, 100, 200)) as box:
        net.mtu_mismatch()
        if draw.random() < 0.5:
            print("  trickling")
            net.try_smaller_segments()
        outcome = ask(net, box, Asked(by_smb(box, "large0.bin"), repeats=1), room)
    assert outcome.code in (0, 3), outcome.err
    document = outcome.document
    assert limits(document)["resource"] == "mtu:lan"


def test_one_segment_in_a_hundred_lost_is_the_loss(draw: random.Random, room: Path) -> None:
    with network("1gbit") as net, nas(net.nas, large(draw, 40, 60)) as box:
        net.delay("nas", 0.002)
        net.loss("nas", 0.01)
        document = found(net, box, Asked(by_smb(box, "large0.bin")), room)
    assert limits(document)["resource"] == "loss:lan"


_TWICE = (
    "  mapped: {path: [archive, reader], frequency: per-load}\n"
    "  whole: {path: [copied, reader], frequency: per-load}\n"
)


def test_the_same_weights_mapped_are_round_trips_and_read_are_the_link_s(
    draw: random.Random, room: Path
) -> None:
    with (
        network("1gbit") as net,
        nas(net.nas, large(draw, 80, 120)) as box,
        sshfs_mount(net.workstation, box.ssh, box.folder) as mount,
    ):
        net.delay("nas", 0.001)
        weights = mount / "large0.bin"
        places = by_path(weights, "access: mmap, data: weights")
        places += by_path(weights, "access: read, data: weights", name="copied")
        document = found(net, box, Asked(places, _TWICE, repeats=2), room)
    assert limits(document, "mapped")["resource"] == "round-trips:archive"
    assert limits(document, "whole")["resource"] == LINK


def test_a_warm_repeat_is_not_mistaken_for_the_share(draw: random.Random, room: Path) -> None:
    with (
        network("1gbit") as net,
        nas(net.nas, large(draw, 150, 250)) as box,
        sshfs_mount(net.workstation, box.ssh, box.folder, options="kernel_cache,auto_cache") as mount,
    ):
        document = found(net, box, Asked(by_path(mount / "large0.bin"), start="warm"), room)
    assert limits(document)["resource"] not in (LINK, DISK, SERVER)
    assert "client-cache" in codes(document)
    assert hop(document, "read", "archive->reader")["throughput"]["bytes_per_s"] > 1.5e8


def test_two_limits_as_near_as_a_tenth_are_both_named(draw: random.Random, room: Path) -> None:
    held = Held(bytes_per_s=draw.uniform(116e6, 120e6))
    with network("1gbit") as net, nas(net.nas, large(draw, 250, 350), held=held) as box:
        document = found(net, box, Asked(by_smb(box, "large0.bin")), room)
    limit = limits(document)
    assert {LINK} < {limit["resource"], *limit["also"]} <= {LINK, DISK, SERVER}
