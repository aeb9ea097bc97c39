"""The real llama.cpp server: what pathtrace measured agrees with what the server itself timed."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from pathlib import Path

import lab_commands
import lab_llama
import pytest
from lab_documents import write_documents
from lab_pathtrace import hop, measured
from lab_random_model import RandomModel
from lab_scenario import Household, command
from lab_server_process import Server

pytestmark = [pytest.mark.truth, pytest.mark.server, pytest.mark.timeout(600)]

REQUESTS = 8
SHORT = "prompts: [what did the letter say, when was the roof mended]"


def _agree(measured_s: float, own_s: float, operations: int = 1) -> bool:
    """Within 5 %, or 5 ms an operation, whichever is more."""
    return abs(measured_s - own_s) <= max(0.05 * own_s, 0.005 * operations)


def test_generation_agrees_with_the_servers_own_timings(
    room: Path, draw: random.Random, llama: Callable[..., Server], random_model: RandomModel
) -> None:
    server = llama(lab_llama.generating, random_model.path)
    documents = write_documents(room / "archive", files=10, size=2_000, draw=draw)
    text = Household(
        documents.folder,
        room / "library.db",
        command(lab_commands.quick(room)),
        weights=random_model.path,
        model_url=server.url,
        repeats=1,
        requests=REQUESTS,
        tokens=draw.randint(12, 24),
    ).text()
    # Long questions: what the server spends on HTTP and scheduling, some 6 ms, is in no timing of its own.
    asked = " ".join("".join(draw.choices("bdfgklmnprst", k=3)) for _ in range(100))
    assert SHORT in text
    scenario = room / "household.yaml"
    scenario.write_text(text.replace(SHORT, f"prompts: [{asked}]"))
    document = measured(scenario, store=room / "runs")
    own = lab_llama.timings(server)[-REQUESTS:]
    (generate, deliver) = hop(document, "answer", "model->people")["stages"]
    assert (generate["action"], deliver["action"]) == ("generate", "deliver")
    # llama.cpp closes the connection after each stream; connecting anew is not part of its own timing.
    first_token_s = generate["latency"]["p50_s"] - generate["parts"]["setup_s"]
    assert _agree(first_token_s, statistics.median(t.prompt_s for t in own))
    assert _agree(deliver["latency"]["p50_s"], statistics.median(t.predicted_s for t in own))


def test_embedding_agrees_with_the_servers_own_log(
    room: Path, draw: random.Random, llama: Callable[..., Server], random_model: RandomModel
) -> None:
    server = llama(lab_llama.embedding, random_model.path)
    documents = write_documents(room / "archive", files=draw.randint(24, 40), size=60, draw=draw)
    lines = [
        "pathtrace: 1",
        "name: household",
        "repeats: 1",
        "places:",
        f"  archive: {{kind: files, path: {documents.folder}}}",
        f"  indexer: {{kind: process, {command(lab_commands.quick(room))}}}",
        f"  embedder: {{kind: inference, task: embed, url: '{server.url}', api: openai, workers: 1}}",
        f"  library: {{kind: database, url: 'sqlite:///{room / 'library.db'}'}}",
        "flows:",
        "  index: {path: [archive, indexer, embedder, library], frequency: per-document}",
    ]
    scenario = room / "household.yaml"
    scenario.write_text("\n".join(lines) + "\n")
    document = measured(scenario, store=room / "runs")
    stages = hop(document, "index", "embedder->library")["stages"]
    (embed,) = [stage for stage in stages if stage["action"] == "embed"]
    own = lab_llama.task_seconds(server)[-documents.files :]
    # One slot and one worker: what the server did, text after text, is what the embedder was busy with.
    assert len(own) == documents.files
    assert _agree(embed["time"]["busy_s"], sum(own), embed["operations"])
