"""The lab's network as a fixture; conftest.py takes it in. Its servers are context managers of `lab`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from lab.network import Network, network, why_not


@pytest.fixture
def lab_network() -> Iterator[Callable[..., Network]]:
    """Brings up networks, gone at the test's end: ``lab_network("1gbit")``."""
    if reason := why_not():
        pytest.skip(reason)
    with ExitStack() as opened:
        yield lambda *options, **more: opened.enter_context(network(*options, **more))
