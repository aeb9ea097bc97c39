"""What ``check`` plans, on files of the test's own: memory from a GGUF header, room, originals in danger."""

import json
from pathlib import Path

import numpy as np
from gguf import GGUFWriter

from tests.cli.command import pathtrace

SCENARIO = """pathtrace: 1
name: planned
workload: {model: {context: 1024}, users: [1, 4]}
hosts:
  workstation: {here: true, gpu_memory: 1 GiB}
  far: {address: 192.0.2.7, memory: 16 GiB}
places:
  archive: {kind: files, path: archive, data: original, include: ["*.txt"]}
  indexer: {kind: process, run: chunk}
  library: {kind: database, url: "sqlite:///archive/library.db", data: derived}
  weights: {kind: files, path: model.gguf, data: weights}
  model: {kind: inference}
  distant: {kind: inference, host: far}
flows:
  index: {path: [archive, indexer, library], frequency: per-document}
  load: {path: [weights, model], frequency: per-load}
  distant-load: {path: [weights, distant], frequency: per-load}
"""


def write_model(path: Path) -> None:
    writer = GGUFWriter(path, "llama")
    writer.add_context_length(4096)
    writer.add_embedding_length(256)
    writer.add_block_count(3)
    writer.add_feed_forward_length(512)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_tensor("output.weight", np.ones((64, 256), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_memory_is_planned_host_by_host_and_room_and_danger_are_told(tmp_path: Path) -> None:
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "a.txt").write_text("words " * 1000)
    write_model(tmp_path / "model.gguf")
    (tmp_path / "planned.yaml").write_text(SCENARIO)
    result = pathtrace(tmp_path, "check", "planned.yaml", "--json")
    assert result.code == 0, result.err
    report = json.loads(result.out)
    here, far = report["memory"]["workstation"], report["memory"]["far"]
    weights, cache, runtime = here["parts"]
    size = (tmp_path / "model.gguf").stat().st_size
    assert (weights["low_bytes"], weights["high_bytes"]) == (size, size)
    # layers × key-value heads × (key + value) × 2 bytes × tokens × users
    assert cache["low_bytes"] == cache["high_bytes"] == 3 * 2 * (64 + 64) * 2 * 1024 * 4
    assert "4 users" in cache["basis"]
    assert here["needed_bytes"] == size + cache["low_bytes"] + runtime["low_bytes"]
    assert far["needed_bytes"] == here["needed_bytes"]
    assert (far["total_bytes"], far["available_bytes"]) == (16 << 30, None)
    assert here["gpu_bytes"] == 1 << 30
    assert report["room"]["library"]["needed_bytes"] == 7200
    assert [each["code"] for each in report["caveats"]] == ["data-together"]
    assert list((tmp_path / "archive").iterdir()) == [tmp_path / "archive" / "a.txt"]


def test_a_context_that_is_not_stated_is_assumed_and_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "a.txt").write_text("words " * 1000)
    write_model(tmp_path / "model.gguf")
    (tmp_path / "planned.yaml").write_text(SCENARIO.replace("context: 1024", "name: small"))
    report = json.loads(pathtrace(tmp_path, "check", "planned.yaml", "--json").out)
    cache = report["memory"]["workstation"]["parts"][1]
    assert cache["low_bytes"] == 3 * 2 * (64 + 64) * 2 * 4096 * 4
    assert [c["code"] for c in report["caveats"] if c["subject"] in ("model", "distant")] == [
        "assumed",
        "assumed",
    ]
