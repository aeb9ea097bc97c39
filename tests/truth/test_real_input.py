"""The main job on input that nobody here made: Debian's documents, a real model's weights, guidellm's server.

What pathtrace says is held against what was set and against what ``stat`` says.
"""

from __future__ import annotations

import json
import os
import random
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import lab_commands
import pytest
from lab_pathtrace import hop, measured
from lab_scenario import Household, command
from lab_server_process import Server

pytestmark = [pytest.mark.truth, pytest.mark.server, pytest.mark.timeout(900)]

DOCUMENTS = Path("/usr/share/doc")
SAMPLE = 1000


@pytest.fixture(scope="module")
def documents() -> Path:
    if not DOCUMENTS.is_dir() or sum(1 for _ in _files(DOCUMENTS)) < SAMPLE:
        pytest.skip(f"{DOCUMENTS} holds fewer than {SAMPLE} documents")
    return DOCUMENTS


def _files(folder: Path) -> Iterator[Path]:
    """Files and links to files, but nothing behind a link to a folder."""
    for parent, _, names in os.walk(folder):
        yield from (path for path in map(Path(parent).joinpath, names) if path.is_file())


def _ask_once(server: Server) -> None:
    """A server's first answer takes longer than what it is set to."""
    asked = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "well?"}]})
    request = urllib.request.Request(
        server.url + "/v1/chat/completions", asked.encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert b"[DONE]" in answer.read()


def test_documents_weights_and_answers_of_others_are_measured_as_they_are(
    room: Path, documents: Path, sentence_model: Path, mock_server: Callable[..., Server], draw: random.Random
) -> None:
    first_token_ms, between_ms, tokens = draw.randint(300, 400), draw.randint(30, 40), draw.randint(16, 32)
    server = mock_server(first_token_ms=first_token_ms, between_tokens_ms=between_ms, tokens=tokens)
    _ask_once(server)
    scenario = Household(
        documents,
        room / "library.db",
        command(lab_commands.quick(room)),
        weights=sentence_model,
        model_url=server.url,
        repeats=1,
        tokens=tokens,
    ).write(room / "household.yaml")
    document = measured(scenario, store=room / "runs")

    read = hop(document, "index", "archive->indexer")
    dataset = document["dataset"]["archive"]
    assert (read["operations"], read["bytes"]) == (dataset["files"], dataset["bytes"])
    assert dataset["bytes"] == sum(path.stat().st_size for path in _files(documents))
    assert hop(document, "load", "weights->model")["bytes"] == sentence_model.stat().st_size

    requests = document["requests"]
    assert requests["time_to_first_token_s"] == pytest.approx(first_token_ms / 1000, rel=0.05)
    assert 1 / requests["tokens_per_s"] == pytest.approx(between_ms / 1000, rel=0.05)
