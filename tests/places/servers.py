"""A small real HTTP server for tests: OpenAI-compatible, keeps set times, misbehaves on demand."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

RUBBISH = b"<html>proxy error</html>\n"


@dataclass
class ModelServer:
    """How the server behaves (may be changed while it runs), and what it was asked.

    ``fault`` is one of: "" (none), "500", "400 stream_options", "401", "not json", "rubbish", "bad event",
    "error event", "cut" (connection closed within the body), "short" (body ends early but properly),
    "stall" (nothing after the second token), "slow headers", "few vectors", "closes" (each connection
    after an answer, without saying so).
    """

    first_token_s: float = 0.0
    between_tokens_s: float = 0.0
    tokens: tuple[str, ...] = ("Eine", " Antwort", " für", " Sie")
    fault: str = ""
    models: tuple[str, ...] = ("tiny", "other")
    status: dict[str, str] = field(default_factory=dict)
    """Of each model, as a llama.cpp server that loads several in turn gives it."""
    sleeps: bool | None = None
    """As llama.cpp's ``/props`` says; None: there is no such page."""
    key: str | None = None
    url: str = ""
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    connections: int = 0
    broken: threading.Event = field(default_factory=threading.Event)
    """Set once a client has closed its connection in the middle of an answer."""
    ending: threading.Event = field(default_factory=threading.Event)


@contextmanager
def model_server(**behaviour: Any) -> Iterator[ModelServer]:
    """Serve on a free port of the loopback interface until the block ends."""
    state = ModelServer(**behaviour)
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


def refusing_url() -> str:
    """A URL on this host where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


class _Handler(BaseHTTPRequestHandler):
    state: ModelServer
    protocol_version = "HTTP/1.1"
    # Without this a small piece waits for the other side's acknowledgement (40 ms).
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.state.connections += 1

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def handle(self) -> None:
        try:
            super().handle()
        except (BrokenPipeError, ConnectionResetError):
            self.state.broken.set()

    def do_GET(self) -> None:
        if self.state.fault == "401":
            said = f"bad key {self.headers.get('Authorization')}"
            self._json(401, {"error": {"message": said}})
        elif self.state.fault == "not json":
            self._body(200, RUBBISH, "text/html")
        elif self.path == "/v1/models":
            self._json(200, {"object": "list", "data": [self._card(name) for name in self.state.models]})
        elif self.path == "/props" and self.state.sleeps is not None:
            self._json(200, {"is_sleeping": self.state.sleeps})
        else:
            self._json(404, {"error": "no such page"})

    def _card(self, name: str) -> dict[str, Any]:
        card: dict[str, Any] = {"id": name, "owned_by": "tests"}
        status = self.state.status.get(name)
        return card if status is None else card | {"status": {"value": status, "args": ["llama-server"]}}

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.state.requests.append((self.path, asked))
        self.state.key = self.headers.get("Authorization")
        match self.state.fault:
            case "500":
                self._json(500, {"error": {"message": f"out of memory, key was {self.state.key}"}})
            case "400 stream_options" if "stream_options" in asked:
                self._json(400, {"error": {"message": "unknown field stream_options"}})
            case _ if self.path == "/v1/embeddings":
                self._embed(asked["input"])
            case _:
                self._stream(asked)

    def _embed(self, texts: list[str]) -> None:
        self._wait(self.state.first_token_s)
        if self.state.fault == "not json":
            self._body(200, RUBBISH, "text/html")
            return
        vectors = [{"index": i, "embedding": [float(len(text)), 0.5]} for i, text in enumerate(texts)]
        if self.state.fault == "few vectors":
            vectors.pop()
        usage = {"prompt_tokens": sum(len(text.split()) for text in texts)}
        self._json(200, {"data": list(reversed(vectors)), "usage": usage})

    def _stream(self, asked: dict[str, Any]) -> None:
        if self.state.fault == "slow headers":
            self._wait(30)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._event({"choices": [{"delta": {"role": "assistant", "content": None}}]})
        self._wait(self.state.first_token_s)
        for number, token in enumerate(self.state.tokens[: asked.get("max_tokens")]):
            if number:
                self._wait(self.state.between_tokens_s)
            if number == 2 and self._misbehave():
                return
            self._event({"choices": [{"delta": {"content": token}, "finish_reason": None}]})
        self._event({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        if asked.get("stream_options", {}).get("include_usage"):
            usage = {"completion_tokens": len(self.state.tokens)}
            self._event({"choices": [], "usage": usage, "timings": {"predicted_ms": 7.5}})
        self._piece(b"data: [DONE]\n\n")
        self._piece(b"")
        self.close_connection = self.state.fault == "closes"

    def _misbehave(self) -> bool:
        """Before the third token."""
        self.close_connection = True
        match self.state.fault:
            case "rubbish":
                self._piece(RUBBISH)
            case "bad event":
                self._piece(b'data: {"choices": [\n\n')
            case "error event":
                self._event({"error": {"message": "context is full", "code": 500}})
            case "short":
                self._piece(b"")
            case "cut":
                pass
            case "stall":
                self._until_the_client_goes()
            case _:
                self.close_connection = False
                return False
        return True

    def _until_the_client_goes(self) -> None:
        self.connection.settimeout(0.05)
        while not self.state.ending.is_set():
            try:
                if not self.connection.recv(1):
                    self.state.broken.set()
                    return
            except TimeoutError:
                continue

    def _wait(self, seconds: float) -> None:
        self.state.ending.wait(seconds)

    def _event(self, payload: dict[str, Any]) -> None:
        self._piece(b"data: " + json.dumps(payload, ensure_ascii=False).encode() + b"\n\n")

    def _piece(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _json(self, status: int, payload: dict[str, Any]) -> None:
        self._body(status, json.dumps(payload).encode(), "application/json")

    def _body(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
