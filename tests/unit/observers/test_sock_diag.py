from __future__ import annotations

import socket
import sys
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathtrace.model.tcp_info import decode
from pathtrace.observers.sock_diag import ESTABLISHED, destination, sockets_to
from tests.unit.observers.loopback import connected, listening, port, send

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="inet_diag is Linux's")


def test_only_sockets_to_the_destination_are_found_with_what_they_counted() -> None:
    with listening() as server, connected(server) as (one, other):
        send(one, other, 3000)
        (found,) = sockets_to([destination("127.0.0.1", port(server))])

        assert (found.address, found.port, found.state) == (bytes((127, 0, 0, 1)), port(server), ESTABLISHED)
        assert decode(found.info).bytes_sent == 3000


def test_bytes_that_nobody_took_are_in_the_receive_queue() -> None:
    with listening() as server, connected(server) as (one, other):
        other.sendall(bytes(700))
        one.recv(700, socket.MSG_PEEK | socket.MSG_WAITALL)
        (found,) = sockets_to([destination("127.0.0.1", port(server))])

        assert found.receive_queue_bytes == 700


@given(wanted=st.sets(st.integers(0, 4)), decoys=st.lists(st.integers(1, 65535), max_size=3))
def test_of_any_number_of_destinations_each_is_found_and_no_other(
    wanted: set[int], decoys: list[int]
) -> None:
    addresses = ("127.0.0.1", "::1", "127.0.0.2", "127.0.0.1", "::1")
    with ExitStack() as stack:
        servers = [stack.enter_context(listening(address)) for address in addresses]
        for server in servers:
            stack.enter_context(connected(server))
        asked = [destination(addresses[number], port(servers[number])) for number in sorted(wanted)]
        nowhere = [destination("203.0.113.9", number) for number in decoys]

        found = sockets_to([*nowhere, *asked]) if asked or nowhere else ()

        assert {(each.address, each.port) for each in found} == set(asked)


def test_any_port_of_an_address_is_meant_where_none_is_named() -> None:
    with listening("127.0.0.77") as server, connected(server):
        (found,) = sockets_to([destination("127.0.0.77", None)])
        assert found.port == port(server)


def test_an_ipv6_socket_to_an_ipv4_address_counts_as_that() -> None:
    with listening() as server, socket.socket(socket.AF_INET6) as one:
        one.connect(("::ffff:127.0.0.1", port(server)))
        (found,) = sockets_to([destination("127.0.0.1", port(server))])
        assert found.address == bytes((127, 0, 0, 1))


def test_a_zone_is_no_part_of_an_address() -> None:
    assert destination("fe80::1%eth0", 445) == (bytes.fromhex("fe80") + bytes(13) + b"\x01", 445)


def test_a_name_is_no_address() -> None:
    with pytest.raises(ValueError, match="nas"):
        destination("nas", 445)
