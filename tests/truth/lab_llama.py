"""The real llama.cpp server with a model of ours, and what its own log says of each request.

By hand: ``python lab_llama.py MODEL.gguf`` serves until Enter is pressed.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lab_tools
from lab_leftovers import claimed
from lab_server_process import Server, free_port, served

_TIMING = re.compile(r"task (\d+) \|\s+(prompt eval|eval) time =\s+([\d.]+) ms /\s+(\d+) tokens")
_STEP = re.compile(
    r"^(\d+)\.(\d+)\.(\d+)\.(\d+) I slot +(launch_slot_|release):.*task (\d+) \|", re.MULTILINE
)


@dataclass(frozen=True)
class Timing:
    """One request as the server itself timed it."""

    prompt_s: float
    prompt_tokens: int
    predicted_s: float
    predicted_tokens: int


def timings(server: Server) -> list[Timing]:
    """One entry for each generation so far, in order."""
    found: dict[int, dict[str, tuple[float, int]]] = {}
    for task, part, milliseconds, tokens in _TIMING.findall(server.log_text()):
        found.setdefault(int(task), {})[part] = (float(milliseconds) / 1000, int(tokens))
    return [
        Timing(*parts["prompt eval"], *parts["eval"]) for _, parts in sorted(found.items()) if len(parts) == 2
    ]


def task_seconds(server: Server) -> list[float]:
    """How long each task held its slot, in order: the server's own view of an embedding."""
    started: dict[str, float] = {}
    seconds = []
    for minutes, secs, millis, micros, step, task in _STEP.findall(server.log_text()):
        at = int(minutes) * 60 + int(secs) + int(millis) / 1e3 + int(micros) / 1e6
        if step == "release":
            seconds.append(at - started.pop(task))
        else:
            started[task] = at
    return seconds


@contextlib.contextmanager
def generating(model: Path) -> Iterator[Server]:
    """Serve completions; prompts are not cached, so that every request costs the same.

    The cache of whole prompts is off too: to keep one costs some 10 ms before the next prompt is begun,
    which the server's own timings leave out.
    """
    with _llama_server(model, ["--no-cache-prompt", "--cache-ram", "0"]) as server:
        yield server


@contextlib.contextmanager
def embedding(model: Path) -> Iterator[Server]:
    with _llama_server(model, ["--embeddings", "--pooling", "mean"]) as server:
        yield server


@contextlib.contextmanager
def sleeping(model: Path, idle_s: int, load_mode: str) -> Iterator[Server]:
    """Serve completions, and let go of the model after ``idle_s`` seconds without requests."""
    options = ["--no-cache-prompt", "--sleep-idle-seconds", str(idle_s), "--load-mode", load_mode]
    with _llama_server(model, options) as server:
        yield server


@contextlib.contextmanager
def in_turn(models: Path, load_mode: str) -> Iterator[Server]:
    """Serve every model of a folder by its file's name, with room for one: they evict each other."""
    room = ["--models-dir", str(models), "--models-max", "1", "--load-mode", load_mode]
    with _llama_server_of([*room, "--embeddings", "--pooling", "mean"]) as server:
        yield server


@contextlib.contextmanager
def remembering(model: Path, context: int) -> Iterator[Server]:
    """Serve completions of up to ``context`` tokens, with batches of the usual size."""
    options = ["--ctx-size", str(context), "--batch-size", "2048", "--ubatch-size", "512"]
    with _llama_server(model, options) as server:
        yield server


@contextlib.contextmanager
def _llama_server(model: Path, options: list[str]) -> Iterator[Server]:
    with _llama_server_of(["--model", str(model), *options]) as server:
        yield server


@contextlib.contextmanager
def _llama_server_of(options: list[str]) -> Iterator[Server]:
    command = lab_tools.llama_server()
    if command is None:
        raise RuntimeError("llama-server is not installed; .ci/lab installs it")
    port = free_port()
    arguments = [
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--ctx-size",
        "2048",
        "--batch-size",
        "2048",
        "--ubatch-size",
        "2048",
        "--parallel",
        "1",
        "--threads",
        "2",
        "--no-webui",
        "--offline",
        *options,
    ]
    with claimed("llama-libraries") as claim:
        _link_libraries(command.parent, claim.folder)
        environment = {"LD_LIBRARY_PATH": f"{claim.folder}:{command.parent}"}
        with served("llama", [str(command), *arguments], port=port, environment=environment) as server:
            yield server


def _link_libraries(source: Path, target: Path) -> None:
    """A wheel carries no links: give each library the short name that the server asks for."""
    for library in source.glob("*.so.*.*.*"):
        short = library.name.rsplit(".", 2)[0]
        (target / short).symlink_to(library)


if __name__ == "__main__":
    with generating(Path(sys.argv[1])) as made:
        input(f"{made.url}; Enter ends it ")
