"""A healthcheck hears that a scan begins, ended or failed; the URL shows nowhere."""

from __future__ import annotations

import asyncio
import time

import pytest

from pathtrace.errors import OperationError
from pathtrace.telling.healthcheck import END, FAIL, START, ping
from tests.telling.receivers import dripping_server, free_port, http_receiver, mute_server

UUID = "5f3c-secret-uuid"


def test_start_end_and_failure_go_to_their_own_paths_and_a_query_stays_behind() -> None:
    with http_receiver() as web:
        for what, text in ((START, ""), (END, "it was measured"), (FAIL, "it fäiled")):
            asyncio.run(ping(f"http://127.0.0.1:{web.port}/ping/{UUID}?create=1", what, text, 5.0))
    assert [(each.method, each.path, each.body.decode()) for each in web.requests] == [
        ("GET", f"/ping/{UUID}/start?create=1", ""),
        ("POST", f"/ping/{UUID}?create=1", "it was measured"),
        ("POST", f"/ping/{UUID}/fail?create=1", "it fäiled"),
    ]


def test_a_text_is_cut_to_what_a_healthcheck_keeps() -> None:
    with http_receiver() as web:
        asyncio.run(ping(f"http://127.0.0.1:{web.port}/{UUID}", END, "€" * 10_000, 5.0))
    assert web.requests[0].body.decode() == "€" * 3333


@pytest.mark.parametrize("server", [mute_server, dripping_server])
def test_a_healthcheck_that_hangs_costs_its_time(server: type) -> None:
    begun = time.monotonic()
    with server() as port, pytest.raises(OperationError, match=r"^no answer within 0\.5 s$") as caught:
        asyncio.run(ping(f"http://127.0.0.1:{port}/{UUID}", END, "", 0.5))
    assert time.monotonic() - begun < 3
    assert_hidden(caught.value)


def test_one_that_refuses_says_how() -> None:
    with (
        http_receiver(status=404) as web,
        pytest.raises(OperationError, match=r"^it answered 404$") as caught,
    ):
        asyncio.run(ping(f"http://127.0.0.1:{web.port}/{UUID}", FAIL, "", 5.0))
    assert_hidden(caught.value)
    assert len(web.requests) == 1  # it heard us: it is not asked again


@pytest.mark.parametrize("url", [f"http://127.0.0.1:{{port}}/{UUID}", f"http://[::1/{UUID}"])
def test_one_that_is_not_there_is_said_without_its_url(url: str) -> None:
    with pytest.raises(OperationError, match=r"^it cannot be reached$") as caught:
        asyncio.run(ping(url.replace("{port}", str(free_port())), END, "", 5.0))
    assert_hidden(caught.value)


def assert_hidden(error: BaseException) -> None:
    """Neither in the error nor in what led to it, as a traceback would show it."""
    assert UUID not in repr(error)
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__
