"""A bottleneck is planted where only the test knows it, and pathtrace must find it.

Every scenario has the same names and the same shape; sizes, times and rates are drawn for each round.
``pytest tests/truth/test_planted.py --rounds 3`` tries each three times in a row.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lab_commands
import lab_model_server
import pytest
from lab_documents import write_documents, write_weights
from lab_pathtrace import flow, hop, measured
from lab_scenario import Household, command
from lab_server_process import Server
from lab_slow_disk import SlowDisk

pytestmark = [pytest.mark.truth, pytest.mark.timeout(600)]

MB = 10**6


def _found(document: dict[str, Any], name: str = "index") -> dict[str, str]:
    """What a reader sees first of one flow, at each place where the answer stands."""
    first = next(entry for entry in document["ranking"] if entry["flow"] == name)
    return {"bottleneck": flow(document, name)["bottleneck"], "ranked first": first["resource"]}


def _everywhere(resource: str) -> dict[str, str]:
    return {"bottleneck": resource, "ranked first": resource}


def test_a_slow_command_is_found_by_its_cpu_time(room: Path, draw: random.Random) -> None:
    documents = write_documents(room / "archive", files=draw.randint(16, 30), size=20_000, draw=draw)
    burner = lab_commands.burning(room, seconds=draw.uniform(0.15, 0.3))
    scenario = Household(documents.folder, room / "library.db", command(burner)).write(
        room / "household.yaml"
    )
    document = measured(scenario, store=room / "runs")
    assert _found(document) == _everywhere("cpu:indexer")
    assert hop(document, "index", "indexer->library")["limited_by"]["resource"] == "cpu:indexer"


@pytest.mark.needs_root
def test_a_commit_per_row_on_a_slow_disk_is_found(
    room: Path, draw: random.Random, slow_disk: Callable[..., SlowDisk]
) -> None:
    documents = write_documents(room / "archive", files=draw.randint(20, 40), size=4_000, draw=draw)
    disk = slow_disk(bytes_per_s=100 * MB, fsync_s=draw.uniform(0.01, 0.02))
    quick = lab_commands.quick(room)
    scenario = Household(
        documents.folder, disk.folder / "library.db", command(quick), commit="row", repeats=2
    )
    document = measured(scenario.write(room / "household.yaml"), store=room / "runs")
    assert _found(document) == _everywhere("commit:library")
    assert hop(document, "index", "indexer->library")["limited_by"]["resource"] == "commit:library"


@pytest.mark.needs_root
def test_a_disk_held_at_a_rate_is_found_with_that_rate(
    room: Path, draw: random.Random, slow_disk: Callable[..., SlowDisk]
) -> None:
    source = write_documents(room / "content", files=draw.randint(20, 30), size=6 * MB, draw=draw)
    disk = slow_disk(bytes_per_s=60 * MB, content=source.folder)
    quick = lab_commands.quick(room, most=2000)
    scenario = Household(disk.folder, room / "library.db", command(quick), repeats=2)
    document = measured(scenario.write(room / "household.yaml"), store=room / "runs")
    read = hop(document, "index", "archive->indexer")
    assert _found(document) == _everywhere("disk:archive")
    assert read["limited_by"]["resource"] == "disk:archive"
    assert read["bytes"] == source.bytes
    assert read["throughput"]["active_bytes_per_s"] == pytest.approx(60 * MB, rel=0.08)


def test_a_fixed_pause_per_call_is_waiting_not_work(room: Path, draw: random.Random) -> None:
    documents = write_documents(room / "archive", files=draw.randint(16, 30), size=20_000, draw=draw)
    pausing = lab_commands.pausing(room, seconds=0.2)
    scenario = Household(documents.folder, room / "library.db", command(pausing)).write(
        room / "household.yaml"
    )
    document = measured(scenario, store=room / "runs")
    assert _found(document) == _everywhere("wait:indexer")
    assert hop(document, "index", "indexer->library")["limited_by"]["resource"] == "wait:indexer"


def test_weights_read_again_at_every_request_are_found_with_their_bytes(
    room: Path, draw: random.Random, model_server: Callable[..., Server]
) -> None:
    document, truth = _asked(room, draw, model_server, weights="reread", drop_cache=draw.random() < 0.5)
    per_request = truth["weights_bytes"] / truth["requests"]
    frequency = hop(document, "load", "weights->model")["frequency"]
    assert (frequency["declared"], frequency["observed"]) == ("per-load", "per-request")
    assert frequency["bytes_per_request"] == pytest.approx(per_request, rel=0.05)


def test_weights_read_once_are_not_called_per_request(
    room: Path, draw: random.Random, model_server: Callable[..., Server]
) -> None:
    document, truth = _asked(room, draw, model_server, weights="once")
    assert truth["requests"] > 1
    assert hop(document, "load", "weights->model")["frequency"]["observed"] != "per-request"


def _asked(
    room: Path, draw: random.Random, model_server: Callable[..., Server], **behaviour: Any
) -> tuple[dict[str, Any], dict[str, int]]:
    documents = write_documents(room / "archive", files=6, size=4_000, draw=draw)
    weights = write_weights(room / "household.bin", size=draw.randint(40, 120) * MB, draw=draw)
    server = model_server(weights_path=str(weights), **behaviour)
    scenario = Household(
        documents.folder,
        room / "library.db",
        command(lab_commands.quick(room)),
        weights=weights,
        model_url=server.url,
        start="as-is",
        repeats=2,
    )
    document = measured(scenario.write(room / "household.yaml"), store=room / "runs")
    return document, lab_model_server.truth(server.url)


@pytest.mark.parametrize("start", ["cold", "warm"])
def test_the_start_asked_for_is_reached_and_proved(room: Path, draw: random.Random, start: str) -> None:
    document = _loaded(room, draw, start)
    layer = document["start_condition"]["layers"]["client_cache"]
    assert document["start_condition"]["start"] == start
    assert (layer["state"], bool(layer["evidence"])) == (start, True)


@pytest.mark.parametrize("state", ["cold", "warm"])
def test_the_start_that_was_found_is_told_as_it_was(room: Path, draw: random.Random, state: str) -> None:
    document = _loaded(room, draw, "as-is", state)
    layers = document["start_condition"]["layers"]
    assert layers["client_cache"]["state"] == state


def _loaded(room: Path, draw: random.Random, start: str, state: str = "warm") -> dict[str, Any]:
    """One repeat of loading a GGUF as its loader would, by mapping; ``state`` is how it lies in memory."""
    from lab_random_model import write_random_model

    model = write_random_model(room / "household.gguf", layers=draw.randint(1, 3), seed=draw.randrange(2**32))
    _put_in_memory(model.path, state)
    lines = [
        "pathtrace: 1",
        "name: household",
        f"start: {start}",
        "repeats: 1",
        "places:",
        f"  weights: {{kind: files, path: {model.path}}}",
        "  model: {kind: inference}",
        "flows:",
        "  load: {path: [weights, model], frequency: per-load}",
    ]
    scenario = room / "household.yaml"
    scenario.write_text("\n".join(lines) + "\n")
    document = measured(scenario, store=room / "runs")
    assert hop(document, "load", "weights->model")["bytes"] == pytest.approx(model.size, rel=0.01)
    return document


def _put_in_memory(path: Path, state: str) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
        if state == "cold":
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            return
    subprocess.run(["cat", str(path)], stdout=subprocess.DEVNULL, check=True)


def test_where_nothing_is_slow_nothing_is_blamed_without_evidence(room: Path, draw: random.Random) -> None:
    weights = write_weights(room / "household.bin", size=draw.randint(200, 400) * MB, draw=draw)
    documents = write_documents(room / "archive", files=draw.randint(200, 400), size=20_000, draw=draw)
    scenario = Household(
        documents.folder,
        room / "library.db",
        "run: chunk",
        weights=weights,
        start=draw.choice(["cold", "warm"]),
    )
    document = measured(scenario.write(room / "household.yaml"), store=room / "runs")
    limited = hop(document, "load", "weights->model")["limited_by"]
    assert limited["resource"] in ("tracer", "disk:weights")
    assert limited["evidence"]
    assert hop(document, "index", "archive->indexer")["limited_by"]["evidence"]
