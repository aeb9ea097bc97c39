"""What goes into the Authorization header, and that no server can make pathtrace show it."""

from __future__ import annotations

import asyncio

import pytest

from pathtrace.errors import OperationError
from pathtrace.places.http_client import HttpClient
from tests.places.servers import ModelServer, model_server

KEY, PASSWORD, IN_HEADER = "sk-very/secret+1", "p@ss", "YWRtaW46cEBzcw=="
"""The last is admin and the password, as basic authentication spells them."""


def refusal(server: ModelServer, key: str | None) -> str:
    """What is said of a server that repeats the header in its refusal."""
    url = server.url.replace("http://", "http://admin:p%40ss@")

    async def ask() -> str:
        client = HttpClient("model", url, key)
        try:
            response = await client.ask("GET", f"{url}/v1/models", 5.0)
            client.refuse_status(response, response.content)
        except OperationError as error:
            return str(error)
        finally:
            await client.close()
        return ""

    return asyncio.run(ask())


@pytest.mark.parametrize(("key", "header"), [(None, "Basic ***"), (KEY, "Bearer ***")])
def test_a_refusal_that_repeats_the_header_shows_no_secret_and_a_key_goes_before_the_url(
    key: str | None, header: str
) -> None:
    with model_server(fault="401") as server:
        said = refusal(server, key)
    assert said.endswith(f"answers 401: bad key {header}")
    assert not any(secret in said for secret in (KEY, PASSWORD, "p%40ss", IN_HEADER))


def test_an_answer_that_drips_ends_with_its_time_limit() -> None:
    hung_up = asyncio.Event()

    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x")
            await asyncio.sleep(0.02)
        hung_up.set()

    async def ask() -> None:
        async with await asyncio.start_server(drip, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            client = HttpClient("model", url)
            try:
                await client.ask("GET", url, 0.2)
            finally:
                await client.close()
                await hung_up.wait()

    with pytest.raises(OperationError, match="does not answer in time"):
        asyncio.run(ask())
