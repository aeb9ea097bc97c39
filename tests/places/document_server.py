"""A small real HTTP server for tests: takes documents and answers with pieces, misbehaves on demand."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class DocumentServer:
    """How the server behaves (may be changed while it runs), and what it was sent.

    ``answer`` is sent as it is; None: the document's words as a JSON array. ``fault`` is one of: "" (none),
    "cut" (connection closed within the answer), "stall" (no answer), "endless", "closes" (each connection
    after an answer, without saying so).
    """

    status: int = 200
    answer: bytes | None = None
    fault: str = ""
    wait_s: float = 0.0
    url: str = ""
    documents: list[tuple[str, str | None, bytes]] = field(default_factory=list)
    """Name and type as they came in the header, and the document."""
    connections: int = 0
    gone: threading.Event = field(default_factory=threading.Event)
    """Set once a client has closed its connection without an answer."""
    ending: threading.Event = field(default_factory=threading.Event)


@contextmanager
def document_server(**behaviour: Any) -> Iterator[DocumentServer]:
    """Serve on a free port of the loopback interface until the block ends."""
    state = DocumentServer(**behaviour)
    handler = type("Handler", (_Handler,), {"state": state})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}/extract"
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
    state: DocumentServer
    protocol_version = "HTTP/1.1"
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
            self.state.gone.set()

    def do_HEAD(self) -> None:
        known = self.path == "/extract"
        self.send_response(405 if known else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        document = self.rfile.read(int(self.headers["Content-Length"]))
        name = self.headers.get("X-Document-Name", "")
        self.state.documents.append((name, self.headers.get("Content-Type"), document))
        if self.state.fault == "stall":
            self._until_the_client_goes()
            return
        self.state.ending.wait(self.state.wait_s)
        answer = self.state.answer
        if answer is None:
            answer = json.dumps(document.decode("utf-8", "replace").split()).encode()
        self._answer(answer)
        self.close_connection = self.state.fault in ("closes", "cut", "endless")

    def _answer(self, answer: bytes) -> None:
        self.send_response(self.state.status)
        self.send_header("Content-Type", "application/json")
        if self.state.status == 307:
            self.send_header("Location", f"{self.path}/")
        if self.state.fault == "endless":
            self.end_headers()
            while not self.state.ending.is_set():
                self.wfile.write(b" " * 1_000_000)
        self.send_header("Content-Length", str(len(answer) + (self.state.fault == "cut")))
        self.end_headers()
        self.wfile.write(answer)

    def _until_the_client_goes(self) -> None:
        self.connection.settimeout(0.05)
        while not self.state.ending.is_set():
            try:
                if not self.connection.recv(1):
                    self.state.gone.set()
                    return
            except TimeoutError:
                continue
