"""A small scenario to vary, and the way that tests read one."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pathtrace.errors import ScenarioError
from pathtrace.model.scenario import Scenario
from pathtrace.scenario import parse

PLACES = """\
  archive: {kind: files, path: /srv/archive}
  chunker: {kind: process, run: chunk}
  embedder: {kind: inference, task: embed, url: "http://localhost:8081"}
  library: {kind: database, url: "sqlite://"}
  weights: {kind: files, path: /srv/model.gguf}
  model: {kind: inference, url: "http://localhost:8080"}
  people: {kind: user}
"""
FLOWS = """\
  answer: {path: [library, model, people]}
  index: {path: [archive, chunker, embedder, library]}
  load: {path: [weights, model]}
"""


def text_of(top: str = "", places: str = PLACES, flows: str = FLOWS) -> str:
    """A sound scenario with ``top`` keys added and sections exchanged."""
    return f"pathtrace: 1\nname: example\n{top}places:\n{places}flows:\n{flows}"


def read(text: str, environ: Mapping[str, str] | None = None) -> Scenario:
    """The scenario that ``text`` describes."""
    return parse(text, "lab.yaml", environ or {})


def faults_of(text: str, environ: Mapping[str, str] | None = None) -> list[tuple[str, str | None]]:
    """What is wrong with ``text``: (message with its place, hint), in order."""
    with pytest.raises(ScenarioError) as caught:
        read(text, environ)
    return [(str(fault), fault.hint) for fault in caught.value.faults]
