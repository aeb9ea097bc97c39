"""A front that lets so many requests at once through to a server, each until its whole answer has passed.

guidellm's ``--max-concurrent-requests`` holds a streamed request only until its answer begins, so that
streams never queue there; this is what it would be with a model that answers one after the other.
Runs as a process of its own: ``python lab_slots.py PORT SERVER_PORT SLOTS``.
"""

from __future__ import annotations

import contextlib
import http.client
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import cast

_PASSED_ON = ("Content-Type", "Accept", "Authorization")


class Front(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, behind: int, slots: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.behind = behind
        self.slots = threading.Semaphore(slots)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._pass_on(None)

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        with cast("Front", self.server).slots:
            self._pass_on(asked)

    def _pass_on(self, asked: bytes | None) -> None:
        line = http.client.HTTPConnection("127.0.0.1", cast("Front", self.server).behind)
        headers = {name: self.headers[name] for name in _PASSED_ON if name in self.headers}
        line.request(self.command, self.path, asked, headers)
        answer = line.getresponse()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers.get("Content-Type", "application/json"))
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while part := answer.read1(65536):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")
        line.close()

    def log_message(self, format: str, *args: object) -> None:
        print(self.requestline, *args[1:2], flush=True)


@contextlib.contextmanager
def slots(port: int, count: int) -> Iterator[str]:
    """The URL of a front before the server on ``port``."""
    from lab_server_process import free_port, served

    own = free_port()
    command = [sys.executable, str(Path(__file__)), str(own), str(port), str(count)]
    with served("slots", command, port=own, health="/v1/models") as front:
        yield front.url


if __name__ == "__main__":
    Front(*map(int, sys.argv[1:])).serve_forever()
