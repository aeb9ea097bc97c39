"""Bytes agree with the kernel's own counters, and time adds up: what pathtrace says has no holes.

The device is the test's own, so that every sector read from it was read by the run.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lab_commands
import pytest
from lab_documents import write_documents, write_weights
from lab_pathtrace import flow, hop, pathtrace
from lab_scenario import Household, command, command_by_path
from lab_server_process import Server
from lab_slow_disk import SlowDisk

from pathtrace.model.run import Run
from pathtrace.store import runs

pytestmark = [pytest.mark.truth, pytest.mark.timeout(600)]

MB = 10**6


def _device_bytes(device: str) -> int:
    """What the kernel says that was read from a device so far."""
    return int(Path(f"/sys/block/{device}/stat").read_text().split()[2]) * 512


@pytest.mark.needs_root
def test_bytes_read_cold_are_the_sectors_that_the_device_delivered(
    room: Path, draw: random.Random, slow_disk: Callable[..., SlowDisk]
) -> None:
    source = write_documents(room / "content", files=draw.randint(30, 50), size=3 * MB, draw=draw)
    disk = slow_disk(bytes_per_s=150 * MB, content=source.folder)
    quick = command(lab_commands.quick(room, most=2000))
    scenario = Household(disk.folder, room / "library.db", quick, repeats=2).write(room / "household.yaml")
    before = _device_bytes(disk.device)
    outcome = pathtrace("run", str(scenario), "--json", store=room / "runs")
    after = _device_bytes(disk.device)
    assert outcome.code == 0, outcome.err
    run = runs.load(outcome.folder)
    told = hop(outcome.document, "index", "archive->indexer")["bytes"]
    assert told == source.bytes
    for delivered in _delivered_in_windows(run, disk.device):
        assert told == pytest.approx(delivered, rel=0.01)
    noted = [value for _, value in run.readings.series("disk", disk.device, "read_bytes")]
    assert before <= noted[0]
    assert noted[-1] <= after


def _delivered_in_windows(run: Run, device: str) -> list[float]:
    """Bytes that the device delivered during each measured execution, by the readings around it."""
    series = run.readings.series("disk", device, "read_bytes")
    windows = [window for window in run.windows if window.repeat >= 0]
    assert windows
    return [
        min(value for at, value in series if at >= window.end_ns)
        - max(value for at, value in series if at <= window.start_ns)
        for window in windows
    ]


def test_bytes_that_a_command_read_itself_are_those_of_the_documents(room: Path, draw: random.Random) -> None:
    documents = write_documents(room / "archive", files=draw.randint(8, 14), size=4 * MB, draw=draw)
    by_path = command_by_path(lab_commands.quick(room, most=2000))
    scenario = Household(documents.folder, room / "library.db", by_path, repeats=1)
    outcome = pathtrace("run", str(scenario.write(room / "household.yaml")), "--json", store=room / "runs")
    assert outcome.code == 0, outcome.err
    assert hop(outcome.document, "index", "archive->indexer")["bytes"] == pytest.approx(
        documents.bytes, rel=0.01
    )


def test_time_adds_up_and_the_critical_path_is_the_duration(
    room: Path, draw: random.Random, model_server: Callable[..., Server]
) -> None:
    documents = write_documents(room / "archive", files=draw.randint(20, 40), size=30_000, draw=draw)
    weights = write_weights(room / "household.bin", size=draw.randint(40, 80) * MB, draw=draw)
    server = model_server(tokens=draw.randint(4, 12))
    burning = command(lab_commands.burning(room, seconds=draw.uniform(0.01, 0.05)))
    scenario = Household(
        documents.folder, room / "library.db", burning, weights=weights, model_url=server.url, batch=10
    )
    outcome = pathtrace("run", str(scenario.write(room / "household.yaml")), "--json", store=room / "runs")
    assert outcome.code == 0, outcome.err
    document = outcome.document
    assert {entry["name"] for entry in document["flows"]} == {"index", "load", "answer"}
    for entry in document["flows"]:
        duration_s = entry["duration_s"]["median"]
        path_s = sum(segment["seconds"] for segment in entry["critical_path"])
        assert path_s == pytest.approx(duration_s, rel=0.01), entry["name"]
        for stage in _stages(document, entry["name"]):
            assert sum(stage["time"].values()) == pytest.approx(duration_s * stage["workers"], rel=0.01), (
                stage
            )
            assert min(stage["time"].values()) >= 0


def _stages(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    assert flow(document, name)
    return [stage for entry in document["hops"] if entry["flow"] == name for stage in entry["stages"]]
