"""Across the lab: bytes are the kernel's, probes are as good as others' tools, faults cost one hop."""

from __future__ import annotations

import json
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from lab import nas as lab_nas
from lab.documents import large_files, small_files
from lab.hosts import Host
from lab.nas import Nas, nas
from lab.network import Network, network
from lab.responder import iperf3_server, responder
from lab_leftovers import stop_tree
from lab_pathtrace import Outcome, hop
from lab_planted import Asked, ask, by_smb, limits

pytestmark = [pytest.mark.truth, pytest.mark.needs_root, pytest.mark.timeout(240)]

_LOCAL = "  local: {kind: files, make: {files: 4, bytes: 8 MiB, kind: text}}\n"
_BOTH = (
    "  read: {path: [archive, reader], frequency: per-load}\n"
    "  beside: {path: [local, reader], frequency: per-load}\n"
)


@pytest.fixture(autouse=True)
def _able() -> None:
    if reason := lab_nas.why_not():
        pytest.skip(reason)


def counted(host: Host) -> int:
    """Bytes that the host's interface has carried, both ways, by its kernel."""
    (link,) = json.loads(host.run("ip", "-j", "-s", "link", "show", "dev", "eth0"))
    return int(link["stats64"]["rx"]["bytes"]) + int(link["stats64"]["tx"]["bytes"])


@pytest.mark.parametrize("kind", ["large", "small"])
def test_wire_and_payload_bytes_are_those_of_the_kernel_s_counters(
    kind: str, draw: random.Random, room: Path
) -> None:
    def fill(folder: Path) -> None:
        if kind == "large":
            large_files(folder, sizes=[draw.randint(150, 250) * 1_000_000], seed=draw.getrandbits(32))
        else:
            small_files(folder, files=1500, size=20_000, seed=draw.getrandbits(32))

    with network("1gbit") as net, nas(net.nas, fill) as box:
        path = "large0.bin" if kind == "large" else ""
        asked = Asked(by_smb(box, path), repeats=1, more=("--no-probes",))
        before = counted(net.workstation)
        outcome = ask(net, box, asked, room, ssh=False)
        carried = counted(net.workstation) - before
        listing = listed(net, box, path)
        size = sum(file.stat().st_size for file in box.folder.rglob("*") if file.is_file())
    assert outcome.code == 0, outcome.err
    found = hop(outcome.document, "read", "archive->reader")
    assert found["bytes"] == size
    print(f"{found['wire']} beside {carried:,} counted")
    # Neither listing nor what the fingerprint reads afterwards is part of the hop.
    carried -= listing + round(1.01 * 16 * (1 << 20 if kind == "large" else 20_000))
    assert 0.98 * carried <= found["wire"]["bytes"] <= 1.02 * carried


_LIST = """
import asyncio, sys, time
from pathtrace.places.remote_set import target_of
from pathtrace.places.smb import make_client
async def main():
    client = make_client(target_of(sys.argv[1]), time.perf_counter_ns)
    await client.open(2)
    print(len([file async for file in client.listing()]))
    await client.close()
asyncio.run(main())
"""


def listed(net: Network, box: Nas, path: str) -> int:
    """Bytes that cross for logging on with two connections and listing the place."""
    environment = {**os.environ, "PATHTRACE_SMB_PASSWORD": box.samba.password}
    argv = net.workstation.command([sys.executable, "-c", _LIST, box.samba.url("documents", path)])
    before = counted(net.workstation)
    subprocess.run(argv, env=environment, check=True, capture_output=True)
    return counted(net.workstation) - before


def _iperf3_bits(client: Host, server: Host) -> float:
    said = client.run("iperf3", "-c", server.address, "-J", "-R", "-t", "2", "-O", "1")
    return float(json.loads(said)["end"]["sum_received"]["bits_per_second"])


def _probed_bits(net: Network) -> float:
    """One stream, as iperf3 has it."""
    code = (
        "import asyncio, sys, time\n"
        "from pathtrace.probes.link import LinkProbe\n"
        "from pathtrace.probes.responder_client import ResponderClient, Way\n"
        "c = ResponderClient(sys.argv[1], sys.argv[2], time.perf_counter_ns)\n"
        "p = LinkProbe('link:lan', 'nas->workstation', Way.TO_HERE, c, time.perf_counter_ns, streams=(1,))\n"
        "print(asyncio.run(p.measure()).bytes_per_s * 8); c.close()\n"
    )
    with responder(net.nas) as there:
        argv = [sys.executable, "-c", code, f"{net.nas.address}:{there.port}", there.token]
        return float(net.workstation.run(*argv))


@pytest.mark.parametrize("link", ["1gbit", "10gbit"])
def test_the_link_probe_says_what_iperf3_says_in_the_same_minute(link: str) -> None:
    """Medians of five, by turns: single runs of either differ by more on a busy machine."""
    with network(link) as net:
        ours, theirs = [], []
        for _ in range(5):
            with iperf3_server(net.nas):
                theirs.append(_iperf3_bits(net.workstation, net.nas))
            ours.append(_probed_bits(net))
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"{link}: ours {sorted(ours)}, iperf3 {sorted(theirs)}: {ratio:.3f}")
    assert abs(ratio - 1) <= 0.03


_READ = """
import asyncio, sys, time
from pathtrace.places.remote_set import target_of
from pathtrace.places.smb import make_client
async def main():
    client = make_client(target_of(sys.argv[1]), time.perf_counter_ns)
    await client.open(2)
    try:
        handle = await client.handle("")
        size, block = int(sys.argv[2]), 1 << 20
        async def lane(start):
            for offset in range(start, size, 2 * block):
                await handle.read(offset, min(block, size - offset))
        before = time.perf_counter()
        await asyncio.gather(lane(0), lane(block))
        print(size / (time.perf_counter() - before))
        await handle.close()
    finally:
        await client.close()
asyncio.run(main())
"""


def test_libsmbclient_reads_as_fast_as_smbclient_does(draw: random.Random) -> None:
    """Blocks of 1 MiB, two under way at a time, as ``depth: 2`` has them; medians of five, by turns."""
    size = 600 << 20
    with (
        network("10gbit") as net,
        nas(net.nas, lambda folder: large_files(folder, sizes=[size], seed=draw.getrandbits(32))) as box,
    ):
        url = box.samba.url("documents", "large0.bin")
        environment = {
            **os.environ,
            "PATHTRACE_SMB": "libsmbclient",
            "PATHTRACE_SMB_PASSWORD": box.samba.password,
        }
        ours, theirs = [], []
        for _ in range(5):
            theirs.append(_smbclient_bytes_per_s(net.workstation, box, size))
            argv = net.workstation.command([sys.executable, "-c", _READ, url, str(size)])
            said = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True).stdout
            ours.append(float(said))
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"ours {sorted(ours)}, smbclient {sorted(theirs)}: {ratio:.3f}")
    assert ratio >= 0.9


def _smbclient_bytes_per_s(workstation: Host, box: Nas, size: int) -> float:
    """By smbclient's own figure, in KiB/s."""
    said = subprocess.run(
        workstation.command(box.samba.smbclient("documents", "get large0.bin /dev/null")),
        capture_output=True,
        text=True,
        check=True,
    )
    match = re.search(r"of size (\d+) as .* \(([\d.]+) KiloBytes/sec\)", said.stderr + said.stdout)
    assert match is not None, said
    assert int(match[1]) == size
    return float(match[2]) * 1024


def kept(outcome: Outcome, message: str) -> dict[str, Any]:
    """The share's hop was not measured and says why; the other hop was."""
    assert outcome.code == 3, f"exit {outcome.code}\n{outcome.err}"
    assert "Traceback" not in outcome.err
    assert message in outcome.err, outcome.err
    document = outcome.document
    assert hop(document, "beside", "local->reader")["throughput"]["bytes_per_s"] > 0
    assert hop(document, "read", "archive->reader")["limited_by"]["resource"] == "unknown"
    return document


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda place, box: place.replace("${NAS_PASSWORD}", "not-it"), "did not let lab log on"),
        (lambda place, box: place.replace(f"@{box.host.address}/", f"@{box.host.address}:4450/"), "refused"),
        (lambda place, box: place.replace(f"@{box.host.address}/", "@no-such-host.invalid/"), "no-such-host"),
        (lambda place, box: place.replace("/documents/", "/nonsense/"), "nonsense"),
    ],
    ids=["wrong password", "refused", "unknown host", "no such share"],
)
def test_a_share_that_cannot_be_used_costs_its_hop_alone(
    change: Any, message: str, draw: random.Random, room: Path
) -> None:
    with (
        network("1gbit") as net,
        nas(net.nas, lambda folder: small_files(folder, files=5, size=9, seed=1)) as box,
    ):
        places = change(by_smb(box), box) + _LOCAL
        outcome = ask(net, box, Asked(places, _BOTH, repeats=1, more=("--no-probes",)), room)
    kept(outcome, message)


def test_a_share_that_goes_away_costs_what_was_not_yet_read(draw: random.Random, room: Path) -> None:
    """The server is ended while the first of three repeats goes on."""
    with (
        network("100mbit") as net,
        nas(net.nas, lambda folder: large_files(folder, sizes=[60_000_000], seed=3)) as box,
    ):

        def end_the_server() -> None:
            start = counted(net.workstation)
            while counted(net.workstation) < start + 15_000_000:
                time.sleep(0.05)
            stop_tree(box.samba.pid)

        ending = threading.Thread(target=end_the_server)
        ending.start()
        places = by_smb(box, "large0.bin") + _LOCAL
        outcome = ask(net, box, Asked(places, _BOTH, more=("--no-probes",)), room)
        ending.join()
    assert outcome.code == 3, outcome.err
    document = outcome.document
    assert hop(document, "beside", "local->reader")["throughput"]["bytes_per_s"] > 0
    assert hop(document, "read", "archive->reader")["errors"] > 0
    assert "large0.bin: " in outcome.err
    assert "Traceback" not in outcome.err


def test_bytes_that_take_another_interface_are_seen_there(draw: random.Random, room: Path) -> None:
    """Both hosts have a fast cable, and the route leads over a second, slow one."""
    size = draw.randint(25, 35) * 1_000_000
    with (
        network("2500mbit") as net,
        nas(net.nas, lambda folder: large_files(folder, sizes=[size], seed=4)) as box,
    ):
        second = net.second_cable("nas", link="100mbit")
        net.detour(second, of=net.workstation)
        outcome = ask(net, box, Asked(by_smb(box, "large0.bin"), repeats=2), room)
    assert outcome.code == 0, outcome.err
    document = outcome.document
    assert hop(document, "read", "archive->reader")["wire"]["interface"] == "eth1"
    assert [route["interface"] for route in document["routes"] if route["host"] == "nas"] == ["eth1"]
    assert limits(document)["resource"] == "link:lan"
    assert document["findings"][0]["code"] == "slow-link"


def test_a_wrong_token_is_told_and_the_link_is_computed(draw: random.Random, room: Path) -> None:
    with (
        network("1gbit") as net,
        nas(net.nas, lambda folder: small_files(folder, files=50, size=9000, seed=1)) as box,
    ):
        asked = Asked(by_smb(box), repeats=1, environment={"PATHTRACE_TOKEN": "certainly not the right one"})
        outcome = ask(net, box, asked, room)
    assert outcome.code == 0, outcome.err
    (caveat,) = [each for each in outcome.document["caveats"] if each["code"] == "link-not-measured"]
    assert "token" in caveat["text"]
    (link,) = [each for each in outcome.document["resources"] if each["name"] == "link:lan"]
    assert link["ceiling_source"] in ("computed", "declared")


def test_without_evidence_the_limit_is_unknown_and_the_next_measurement_is_named(
    draw: random.Random, room: Path
) -> None:
    size = draw.randint(150, 250) * 1_000_000
    with (
        network("2500mbit") as net,
        nas(net.nas, lambda folder: large_files(folder, sizes=[size], seed=2)) as box,
    ):
        outcome = ask(net, box, Asked(by_smb(box, "large0.bin"), more=("--no-probes",)), room, ssh=False)
    found = limits(outcome.document)
    assert found["resource"] == "unknown"
    assert "pathtrace respond" in found["next_measurement"] or "ssh" in found["next_measurement"]
