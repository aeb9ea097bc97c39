"""Whole runs against a service and a server that speaks Ollama's API and holds one model at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Result, pathtrace
from tests.places.document_server import document_server
from tests.places.ollama_server import OllamaServer, ollama_server

MODEL, EMBEDDER = "hauswart:3b-q4_K_M", "sammler-embed:latest"
SCENARIO = """\
pathtrace: 1
name: in turn
workload: {{requests: 6, requests_per_day: 200}}
places:
  archive: {{kind: files, make: {{files: 12, bytes: 24 KiB, kind: text}}}}
  indexer: {{kind: process, url: "{service}"}}
  embedder: {{kind: inference, task: embed, url: "{ollama}", api: ollama, model: sammler-embed}}
  library: {{kind: database, url: "sqlite://"}}
  weights: {{kind: files, make: {{files: 1, bytes: 4 MiB, kind: weights}}}}
  model: {{kind: inference, url: "{ollama}", api: ollama, model: "hauswart:3b-q4_K_M"{options}}}
  people: {{kind: user}}
flows:
  index: {{path: [archive, indexer, embedder, library]}}
  load: {{path: [weights, model], frequency: per-load}}
  answer: {{path: [library, model, people]}}
repeats: 2
"""


def run(store: Path, server: OllamaServer, options: str = "", more: str = "") -> Result:
    with document_server() as service:
        text = SCENARIO.format(service=service.url, ollama=server.url, options=options)
        (store / "in-turn.yaml").write_text(text + more)
        return pathtrace(store, "run", "in-turn.yaml", "--json", "--quiet")


def hop(done: Result, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(hop for hop in json.loads(done.out)["hops"] if hop["name"] == name)
    return found


@pytest.mark.timeout(120)
def test_a_model_that_is_not_loaded_is_not_asked_and_the_rest_is_measured(tmp_path: Path) -> None:
    with ollama_server(loaded={EMBEDDER: 4096}) as server:
        done = run(tmp_path, server)
    assert done.code == 3
    assert "/api/generate" not in server.pages
    assert server.loaded == {EMBEDDER: 4096}
    measured = {name: bool(hop(done, name)["operations"]) for name in ("model->people", "embedder->library")}
    assert measured == {"model->people": False, "embedder->library": True}
    assert hop(done, "weights->model")["bytes"] == 4 * 1024 * 1024
    assert f"model: model {MODEL} is not loaded: not among the models in memory (/api/ps)" in done.out


@pytest.mark.timeout(120)
def test_loads_by_eviction_and_at_every_request_are_observed(tmp_path: Path) -> None:
    with ollama_server(load_s=0.05) as server:
        done = run(tmp_path, server, ", options: {keep_alive: 0}", "allow: [load-model]\n")
    assert done.code == 0
    frequency = hop(done, "weights->model")["frequency"]
    assert (frequency["declared"], frequency["observed"]) == ("per-load", "per-request")
    assert frequency["evidence"] == (
        "declared per-load, observed at every request: Ollama's own load_duration: "
        "12 of 12 requests waited for the model to load, 50 ms each"
    )
