"""guidellm's mock server: a model server made by others, which keeps the times that it is set to.

By hand: ``python lab_guidellm.py 200 20`` serves until Enter is pressed.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import replace

import lab_tools
from lab_server_process import Server, free_port, served
from lab_slots import slots


@contextlib.contextmanager
def mock_server(
    *, first_token_ms: float, between_tokens_ms: float, tokens: int, at_once: int | None = None
) -> Iterator[Server]:
    """Serve chat completions whose tokens come at set times; ``at_once`` of them, the others wait."""
    with contextlib.ExitStack() as opened:
        server = opened.enter_context(_mock_server(first_token_ms, between_tokens_ms, tokens, at_once))
        if at_once is None:
            yield server
        else:
            port = int(server.url.rpartition(":")[2])
            yield replace(server, url=opened.enter_context(slots(port, at_once)))


@contextlib.contextmanager
def _mock_server(
    first_token_ms: float, between_tokens_ms: float, tokens: int, at_once: int | None
) -> Iterator[Server]:
    command = lab_tools.guidellm()
    if command is None:
        raise RuntimeError("guidellm is not installed; .ci/lab installs it")
    port = free_port()
    arguments = [
        "mock-server",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--ttft-ms",
        str(first_token_ms),
        "--itl-ms",
        str(between_tokens_ms),
        "--output-tokens",
        str(tokens),
        *(["--max-concurrent-requests", str(at_once)] if at_once else []),
    ]
    with served("guidellm", [str(command), *arguments], port=port) as server:
        yield server


if __name__ == "__main__":
    with mock_server(
        first_token_ms=float(sys.argv[1]), between_tokens_ms=float(sys.argv[2]), tokens=20
    ) as made:
        input(f"{made.url}; Enter ends it ")
