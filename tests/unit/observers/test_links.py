from __future__ import annotations

import socket
import sys

import pytest

from pathtrace.observers.links import carrier_changes, links

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="rtnetlink is Linux's")


def test_every_interface_is_listed_with_its_number() -> None:
    assert {link.name: link.number for link in links()} == {n: i for i, n in socket.if_nameindex()}


def test_loopback_is_known_by_its_type_and_never_lost_its_carrier() -> None:
    loopback = next(link for link in links() if link.type == 772)
    assert (loopback.number, loopback.up, loopback.kind) == (1, True, None)
    assert dict(carrier_changes())[loopback.name] == 0
