"""The scenario text of the planted cases: one shape and the same names whatever was planted."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Household:
    """A household's archive, its index and its questions. What a test does not set is quick."""

    archive: Path
    library: Path
    indexer: str
    """The rest of the indexer's line: ``command: [...]`` or ``run: chunk``."""
    weights: Path | None = None
    model_url: str | None = None
    model_more: str = ""
    """Further keys of the model's place, each after a comma."""
    people_more: str = ""
    start: str = "cold"
    commit: str = "batch"
    batch: int = 100
    repeats: int = 3
    requests: int = 12
    tokens: int = 8

    def text(self) -> str:
        return "\n".join([*self._head(), "places:", *self._places(), "flows:", *self._flows(), ""])

    def write(self, path: Path) -> Path:
        path.write_text(self.text())
        return path

    def _head(self) -> list[str]:
        return [
            "pathtrace: 1",
            "name: household",
            "question: What makes us wait, and what should we buy?",
            f"start: {self.start}",
            f"repeats: {self.repeats}",
            "workload:",
            f"  model: {{output: {self.tokens}}}",
            f"  requests: {self.requests}",
            "  prompts: [what did the letter say, when was the roof mended]",
        ]

    def _places(self) -> list[str]:
        lines = [
            f"  archive: {{kind: files, path: {self.archive}}}",
            f"  indexer: {{kind: process, {self.indexer}}}",
            f"  library: {{kind: database, url: 'sqlite:///{self.library}', commit: {self.commit}, "
            f"batch: {self.batch}}}",
        ]
        if self.weights:
            url = f"url: '{self.model_url}', api: openai{self.model_more}" if self.model_url else "queue: 16"
            lines += [
                f"  weights: {{kind: files, path: {self.weights}}}",
                f"  model: {{kind: inference, {url}}}",
                f"  people: {{kind: user{self.people_more}}}",
            ]
        return lines

    def _flows(self) -> list[str]:
        lines = ["  index: {path: [archive, indexer, library], frequency: per-document}"]
        if self.weights:
            lines.append("  load: {path: [weights, model], frequency: per-load}")
        if self.model_url:
            lines.append("  answer: {path: [library, model, people], frequency: per-request}")
        return lines


def command(path: Path) -> str:
    """The document on standard input."""
    return f'command: ["{os.fspath(path)}"]'


def command_by_path(path: Path) -> str:
    """The command reads the document itself."""
    return f'command: ["{os.fspath(path)}", "{{path}}"]'
