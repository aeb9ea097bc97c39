"""A small real HTTP server for tests that answers as Ollama's documentation says, and loads models in turn.

The shapes are those of ``ollama_replies``; what is in memory, and how long a load takes, is acted out.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

REPLIES = Path(__file__).parent / "ollama_replies"
DEFAULT_CONTEXT = 4096


def reply(name: str) -> dict[str, Any]:
    """One kept reply."""
    loaded: dict[str, Any] = json.loads((REPLIES / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


@dataclass
class OllamaServer:
    """How the server behaves (may be changed while it runs), and what it was asked.

    ``fault`` is one of: "" (none), "busy", "unauthorized", "error within", "short", "few vectors", "no ps",
    "no json", "other server", "no durations". ``slots`` models fit into memory at the same time.
    """

    loaded: dict[str, int] = field(default_factory=dict)
    """Name -> context, the model used last at the end."""
    slots: int = 1
    load_s: float = 0.0
    load_duration_ns: int | None = None
    """What a load is said to have taken, instead of ``load_s``."""
    warm_duration_ns: int = 41_219_291
    tokens: tuple[str, ...] = ("Das", " Dach", " hält", " dicht")
    thinking: tuple[str, ...] = ()
    fault: str = ""
    url: str = ""
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    key: str | None = None
    ending: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def pages(self) -> list[str]:
        """What was asked for, in order."""
        return [page for page, _ in self.asked]


@contextmanager
def ollama_server(**behaviour: Any) -> Iterator[OllamaServer]:
    """Serve on a free port of the loopback interface until the block ends."""
    state = OllamaServer(**behaviour)
    handler = type("Handler", (_Handler,), {"state": state})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        state.ending.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    state: OllamaServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.state.asked.append((self.path, {}))
        self.state.key = self.headers.get("Authorization")
        match self.path:
            case "/api/version" if self.state.fault == "no json":
                self._body(200, b"Ollama is running", "text/plain")
            case "/api/version" if self.state.fault != "other server":
                self._json(200, reply("version"))
            case "/api/tags" if self.state.fault != "other server":
                self._json(200, reply("tags"))
            case "/api/ps" if self.state.fault not in ("other server", "no ps"):
                with self.state.lock:
                    running = [self._running(name) for name in self.state.loaded]
                self._json(200, {"models": running})
            case _:
                self._body(404, b"404 page not found", "text/plain")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.state.asked.append((self.path, dict(asked)))
        if ":" not in asked["model"]:
            asked["model"] += ":latest"
        self.state.key = self.headers.get("Authorization")
        if self.state.fault == "busy":
            self._json(503, reply("error_busy"))
        elif self.state.fault == "unauthorized":
            self._json(401, reply("error_unauthorized"))
        elif asked["model"] not in [card["name"] for card in reply("tags")["models"]]:
            self._json(404, {"error": f"model '{asked['model']}' not found"})
        elif self.path == "/api/embed":
            self._embed(asked)
        else:
            self._generate(asked)

    def _running(self, name: str) -> dict[str, Any]:
        [card] = reply("ps")["models"]
        return card | {"name": name, "model": name, "context_length": self.state.loaded[name]}

    def _load(self, asked: dict[str, Any]) -> int:
        """As a server with so many slots would; what it says that this took."""
        name, context = asked["model"], asked.get("options", {}).get("num_ctx", DEFAULT_CONTEXT)
        with self.state.lock:
            there = self.state.loaded.pop(name, None) == context
            self.state.loaded[name] = context
            while len(self.state.loaded) > self.state.slots:
                self.state.loaded.pop(next(iter(self.state.loaded)))
            if asked.get("keep_alive") == 0:
                del self.state.loaded[name]  # a little early, so that nobody sees it after the answer
        if there:
            return self.state.warm_duration_ns
        self.state.ending.wait(self.state.load_s)
        said = self.state.load_duration_ns
        return int(self.state.load_s * 1e9) if said is None else said

    def _embed(self, asked: dict[str, Any]) -> None:
        answer = reply("embed") | {"load_duration": self._load(asked)}
        vectors = [[float(len(text)), 0.5] for text in asked["input"]]
        if self.state.fault == "few vectors":
            vectors.pop()
        if self.state.fault == "no durations":
            answer = {key: value for key, value in answer.items() if not key.endswith("_duration")}
        self._json(200, answer | {"embeddings": vectors})

    def _generate(self, asked: dict[str, Any]) -> None:
        took = self._load(asked)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for thought in self.state.thinking:
            self._line(reply("generate_thinking") | {"thinking": thought})
        for number, token in enumerate(self.state.tokens[: asked["options"]["num_predict"]]):
            if number == 2 and self.state.fault == "error within":
                self._line(reply("error_while_streaming"))
                self._piece(b"")
                return
            self._line(reply("generate_token") | {"response": token})
        if self.state.fault != "short":
            done = {"load_duration": took, "eval_count": len(self.state.tokens)}
            self._line(reply("generate_done") | done)
        self._piece(b"")

    def _line(self, payload: dict[str, Any]) -> None:
        self._piece(json.dumps(payload, ensure_ascii=False).encode() + b"\n")

    def _piece(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _json(self, status: int, payload: dict[str, Any]) -> None:
        self._body(status, json.dumps(payload).encode(), "application/json; charset=utf-8")

    def _body(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
