"""Real servers on the loopback that take messages, refuse them, or say nothing for ever."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message as Mail
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    port: int
    requests: list[Request] = field(default_factory=list)
    status: int = 200


@contextlib.contextmanager
def http_receiver(status: int = 200) -> Iterator[Receiver]:
    """Keeps every request, and answers with ``status``."""
    receiver = Receiver(0, status=status)

    class Handler(BaseHTTPRequestHandler):
        taken: ClassVar = receiver

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.taken.requests.append(Request(self.command, self.path, dict(self.headers), body))
            self.send_response(self.taken.status)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        do_GET = do_POST = do_PUT = answer  # noqa: N815  # the names that http.server looks for

        def log_message(self, *_: object) -> None:
            """Tests keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def mute_server() -> Iterator[int]:
    """Takes connections and says nothing: its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@contextlib.contextmanager
def dripping_server() -> Iterator[int]:
    """Answers one byte at a time and never ends, which no time limit between two bytes notices: its port."""
    stop = threading.Event()

    def drip(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not stop.wait(0.1):
                connection.sendall(b"x")

    def serve(server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=drip, args=(server.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, args=(server,), daemon=True).start()
        try:
            yield server.getsockname()[1]
        finally:
            stop.set()
            server.shutdown(socket.SHUT_RDWR)


def free_port() -> int:
    """A port where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@dataclass
class Mailbox:
    port: int
    mails: list[Mail] = field(default_factory=list)


@contextlib.contextmanager
def mail_server() -> Iterator[Mailbox]:
    """A real SMTP server that keeps every mail."""
    from aiosmtpd.controller import Controller
    from aiosmtpd.handlers import Message as MessageHandler

    mailbox = Mailbox(0)

    class Keeps(MessageHandler):
        def handle_message(self, message: Mail) -> None:
            mailbox.mails.append(message)

    controller = Controller(Keeps(), hostname="127.0.0.1", port=free_port())
    controller.start()
    mailbox.port = controller.port
    try:
        yield mailbox
    finally:
        controller.stop()
