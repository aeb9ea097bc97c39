"""The memory that ``check`` plans for a model, held against what llama.cpp's server really takes.

Measured is the server's resident set (RSS) after it has loaded and answered one long prompt. Weights are
mapped, so that their pages count in it. Sizes, layers, heads and key-value heads are drawn anew.
"""

from __future__ import annotations

import contextlib
import json
import random
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lab_llama
import lab_tools
import psutil
import pytest
from lab_pathtrace import measured, pathtrace
from lab_random_model import Shape, write_random_model
from lab_server_process import Server

pytestmark = [pytest.mark.truth, pytest.mark.server, pytest.mark.timeout(300)]

NEAR = 0.15
CONTEXTS = (2048, 16384)
PROMPT_WORDS = 190
"""Several tokens each: more than the server works on at once, less than the smaller context."""


def shape_of(size: int, draw: random.Random) -> Shape:
    """A model of about ``size`` bytes, of drawn proportions."""
    heads = draw.choice([12, 16])
    embedding = heads * 64
    feed_forward = embedding * draw.choice([2, 3, 4])
    kv_heads = draw.choice([each for each in (heads, heads // 2, heads // 4)])
    layer = 2 * (embedding * embedding * 2 * (heads + kv_heads) // heads + 3 * embedding * feed_forward)
    words = 2 * 2 * 1300 * embedding
    return Shape(max(1, round((size - words) / layer)), embedding, feed_forward, heads, kv_heads)


def scenario_of(model: Path, url: str, context: int, folder: Path) -> Path:
    lines = [
        "pathtrace: 1",
        "name: memory",
        "repeats: 1",
        "start: warm",
        "workload:",
        f"  model: {{context: {context}, output: 8}}",
        "  requests: 2",
        f"  prompts: ['{prompt(20)}']",
        "places:",
        f"  weights: {{kind: files, path: '{model}', data: weights}}",
        f"  model: {{kind: inference, url: '{url}', api: openai}}",
        "  people: {kind: user}",
        "flows:",
        "  load: {path: [weights, model], frequency: per-load}",
        "  answer: {path: [model, people], frequency: per-request}",
    ]
    path = folder / "memory.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


def prompt(words: int) -> str:
    return " ".join(["belom", "dunar", "fetis", "girol", "kamun"][at % 5] for at in range(words))


def plan(scenario: Path, store: Path) -> dict[str, Any]:
    outcome = pathtrace("check", str(scenario), "--json", store=store)
    assert outcome.code == 0, outcome.err
    (memory,) = json.loads(outcome.out)["memory"].values()
    return dict(memory)


def ask(server: Server) -> None:
    body = json.dumps({"prompt": prompt(PROMPT_WORDS), "max_tokens": 8}).encode()
    request = urllib.request.Request(
        f"{server.url}/v1/completions", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        tokens = json.loads(answer.read())["usage"]["prompt_tokens"]
    assert tokens > 512


@contextlib.contextmanager
def serving(model: Path, context: int) -> Iterator[Server]:
    if lab_tools.llama_server() is None:
        pytest.skip("llama-server is not installed; .ci/lab installs it")
    with lab_llama.remembering(model, context) as server:
        yield server


@pytest.mark.parametrize("size", [60_000_000, 150_000_000, 300_000_000])
def test_planned_memory_is_what_the_server_takes(size: int, room: Path, draw: random.Random) -> None:
    shape = shape_of(size, draw)
    model = write_random_model(room / "model.gguf", shape=shape, seed=1, context=max(CONTEXTS))
    for context in CONTEXTS:
        with serving(model.path, context) as server:
            ask(server)
            taken = psutil.Process(server.pid).memory_info().rss
            planned = plan(scenario_of(model.path, server.url, context, room), room / "runs")
        low, high = planned["needed_bytes"], planned["high_bytes"]
        error = taken / ((low + high) / 2) - 1
        print(
            f"{model.size / 1e6:.0f} MB, {shape}, context {context}: planned {low / 1e6:.0f} to "
            f"{high / 1e6:.0f} MB, taken {taken / 1e6:.0f} MB, {error:+.1%} from the middle"
        )
        assert abs(error) <= NEAR
        assert low <= taken <= high


def test_a_run_shows_what_the_server_took_beside_the_plan(room: Path, draw: random.Random) -> None:
    shape = shape_of(60_000_000, draw)
    model = write_random_model(room / "model.gguf", shape=shape, seed=1, context=max(CONTEXTS))
    with serving(model.path, 2048) as server:
        scenario = scenario_of(model.path, server.url, 2048, room)
        document = measured(scenario, store=room / "runs")
        taken = psutil.Process(server.pid).memory_info().rss
    capacity = document["capacity"]["model"]
    assert capacity["needed_bytes"] > model.size
    assert abs(capacity["used_bytes"] / taken - 1) < 0.05
    (finding,) = [each for each in document["findings"] if each["code"] == "memory-use"]
    assert "model" in finding["text"]
