from __future__ import annotations

import os
import socket

from pathtrace.places.server_process import server_pid


def test_a_socket_of_this_process_is_found_by_name_and_by_address() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        found = {server_pid(f"http://{host}:{port}/v1") for host in ("127.0.0.1", "localhost")}
    assert found in ({os.getpid()}, {None})  # None where the system hides sockets


def test_nothing_is_found_where_nothing_listens_or_elsewhere() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        assert server_pid(f"http://127.0.0.1:{silent.getsockname()[1]}") is None
    assert server_pid("http://192.0.2.1:80") is None
    assert server_pid("http://no-such-host.invalid") is None
