"""A model server of the test's own: OpenAI's protocol, set times, set faults, and it counts.

Runs as a process of its own. What it does with its weights at each request is the truth that a test
holds pathtrace's finding against; ``GET /truth`` tells it. ``weights`` is one of ``reread`` (read
whole at every request), ``once`` (read at the first), ``mapped`` (mapped, touched at every request) and
``changed`` (read when a request's ``num_ctx`` is not the one before's).
By hand: ``python lab_model_server.py '{"port": 8080}'``.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Behaviour:
    port: int
    weights_path: str | None = None
    weights: str = "once"
    drop_cache: bool = False
    """Let the page cache forget the weights after each read, as too little memory would."""
    first_token_s: float = 0.02
    between_tokens_s: float = 0.002
    tokens: int = 8
    status: int = 200
    stall_after: int | None = None
    """Send this many tokens, then nothing more and keep the line open."""


class ModelServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, behaviour: Behaviour) -> None:
        super().__init__(("127.0.0.1", behaviour.port), Handler)
        self.behaviour = behaviour
        self.requests = 0
        self.weights_bytes = 0
        self._context: object = None
        self._lock = threading.Lock()

    def use_weights(self, context: object) -> None:
        """Do what the behaviour says with the weights, and count it."""
        with self._lock:
            self.requests += 1
            path = self.behaviour.weights_path
            changed, self._context = context != self._context, context
            if path is None or (self.behaviour.weights == "once" and self.weights_bytes):
                return
            if self.behaviour.weights == "changed" and not changed:
                return
            touch = _map if self.behaviour.weights == "mapped" else _read
            self.weights_bytes += touch(path)
            if self.behaviour.drop_cache:
                _drop(path)

    def truth(self) -> dict[str, int]:
        return {"requests": self.requests, "weights_bytes": self.weights_bytes}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server = cast("ModelServer", self.server)
        listed = {"object": "list", "data": [{"id": "model", "object": "model"}]}
        pages: dict[str, Any] = {"/health": {}, "/truth": server.truth(), "/v1/models": listed}
        self._answer(200 if self.path in pages else 404, pages.get(self.path, {}))

    def do_POST(self) -> None:
        server = cast("ModelServer", self.server)
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if server.behaviour.status != 200:
            self._answer(server.behaviour.status, {"error": {"message": "the model is on fire"}})
            return
        server.use_weights(asked.get("num_ctx"))
        if self.path.endswith("/embeddings"):
            self._embed(asked)
        else:
            self._generate(server.behaviour)

    def _embed(self, asked: dict[str, Any]) -> None:
        texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        data = [{"index": i, "embedding": [float(len(t)), 1.0, 0.5, 0.25]} for i, t in enumerate(texts)]
        self._answer(200, {"object": "list", "data": data, "usage": {"total_tokens": len(texts)}})

    def _generate(self, behaviour: Behaviour) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        time.sleep(behaviour.first_token_s)
        for number in range(behaviour.tokens):
            if number == behaviour.stall_after:
                time.sleep(3600)
            self._event({"choices": [{"index": 0, "delta": {"content": f"word{number} "}}]})
            time.sleep(behaviour.between_tokens_s)
        self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        usage = {"prompt_tokens": 1, "completion_tokens": behaviour.tokens}
        self._event({"choices": [], "usage": usage})
        self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _event(self, body: dict[str, Any]) -> None:
        self._chunk(b"data: " + json.dumps({"object": "chat.completion.chunk", **body}).encode() + b"\n\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        print(self.requestline, *args[1:2], flush=True)


def _read(path: str) -> int:
    total = 0
    with open(path, "rb", buffering=0) as file:
        while block := file.read(_BLOCK):
            total += len(block)
    return total


def _map(path: str) -> int:
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        sum(mapped[start] for start in range(0, len(mapped), mmap.PAGESIZE))
        return len(mapped)


def _drop(path: str) -> None:
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


@contextlib.contextmanager
def model_server(**behaviour: Any) -> Iterator[Any]:
    """Start the server as a process; keywords are those of ``Behaviour`` without the port."""
    from lab_server_process import free_port, served

    port = free_port()
    stated = json.dumps(asdict(Behaviour(port=port, **behaviour)))
    with served("model-server", [sys.executable, str(Path(__file__)), stated], port=port) as server:
        yield server


def truth(url: str) -> dict[str, int]:
    """What a running server has counted."""
    with urllib.request.urlopen(url + "/truth", timeout=5) as answer:
        return cast("dict[str, int]", json.loads(answer.read()))


if __name__ == "__main__":
    ModelServer(Behaviour(**json.loads(sys.argv[1]))).serve_forever()
