from __future__ import annotations

import sys

import pytest

from pathtrace.model.network import Route
from pathtrace.observers.route import route_to
from tests.unit.observers.namespace import available, evaluated_inside, namespace


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="rtnetlink is Linux's")
def test_the_way_to_this_host_is_loopback() -> None:
    route = route_to("here", "127.0.0.1")
    assert route is not None
    assert (route.host, route.address, route.interface, route.gateway) == ("here", "127.0.0.1", "lo", None)
    assert route.interface_kind == "loopback"


@pytest.mark.needs_root
def test_a_route_tells_interface_source_gateway_and_mtu() -> None:
    if not available():
        pytest.skip("needs root and network namespaces")
    source = (
        "from pathtrace.observers.route import route_to\n"
        "from dataclasses import astuple\n"
        "found = [route_to('nas', f'10.79.{n}') for n in ('0.7', '8.7', '9.7')]\n"
        "result = [each and astuple(each) for each in found] + [route_to('nas', '203.0.113.1')]"
    )
    with namespace() as name:
        found = evaluated_inside(name, source)

    assert isinstance(found, list)
    assert [each and Route(*each) for each in found] == [
        Route("nas", "10.79.0.7", "ptobs0", "10.79.0.1", None, 9000, "veth"),
        Route("nas", "10.79.8.7", "ptobs0", "10.79.0.1", "10.79.0.254", 1400, "veth"),
        None,
        None,
    ]


@pytest.mark.needs_root
def test_a_route_through_a_tunnel_says_so() -> None:
    if not available():
        pytest.skip("needs root and network namespaces")
    source = (
        "import subprocess\n"
        "from dataclasses import astuple\n"
        "from pathtrace.observers.route import route_to\n"
        "for words in ('addr add 10.79.7.1/24 dev ptobstun', 'route add 10.79.6.0/24 dev ptobstun'):\n"
        "    subprocess.run(['ip', *words.split()], check=True)\n"
        "result = [astuple(route_to('nas', address)) for address in ('10.79.7.2', '10.79.6.2')]"
    )
    with namespace() as name:
        found = evaluated_inside(name, source)

    assert isinstance(found, list)
    assert [Route(*each) for each in found] == [
        Route("nas", "10.79.7.2", "ptobstun", "10.79.7.1", None, 1500, "tunnel"),
        Route("nas", "10.79.6.2", "ptobstun", "10.79.7.1", None, 1500, "tunnel"),
    ]
