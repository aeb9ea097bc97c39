"""A process by URL against a real server: what it is sent, what it may answer, and how it can fail."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.scenario import Action, Place, PlaceKind, ProcessSpec
from pathtrace.model.work import Done, Item
from pathtrace.places import http_client
from pathtrace.places.service import Service
from tests.places.contract import Case, PlaceContract
from tests.places.document_server import DocumentServer, document_server
from tests.places.servers import refusing_url

Result = TypeVar("Result")
DOCUMENT = Item("Verträge/Miete 2026.txt", 14, data=b"Das Haus, 3 \xe2\x82\xac")


def service(url: str) -> Service:
    place = Place("indexer", PlaceKind.PROCESS, "w", 2, 16, 5.0, None, ProcessSpec(None, None, url))
    return Service(place, time.perf_counter_ns, 1)


def within(url: str, life: Callable[[Service], Awaitable[Result]], scratch: Path) -> Result:
    async def run() -> Result:
        opened = service(url)
        await opened.open(scratch)
        try:
            return await life(opened)
        finally:
            await opened.close()

    return asyncio.run(run())


async def send(place: Service) -> Done:
    return await place.perform(Action.PROCESS, (DOCUMENT,))


@pytest.fixture
def server() -> Iterator[DocumentServer]:
    with document_server() as made:
        yield made


class TestWorking(PlaceContract):
    @pytest.fixture
    def case(self, server: DocumentServer) -> Case:
        return Case(
            make=lambda: service(server.url),
            action=Action.PROCESS,
            items=(DOCUMENT, Item("b", 3, data=memoryview(b"a b")), Item("c", 4, texts=("d ", "e"))),
            bytes=len("DasHaus,3€abde".encode()),
            broken=lambda: service(refusing_url().replace("http://", "http://lab:geheim@")),
            secret="geheim",
        )


class TestFailing(PlaceContract):
    @pytest.fixture
    def case(self, server: DocumentServer) -> Case:
        server.status, server.answer = 500, b'{"error": "no memory"}'
        url = server.url.replace("http://", "http://lab:geheim@") + "?token=geheim"
        return Case(
            make=lambda: service(url), action=Action.PROCESS, items=(), failing=DOCUMENT, secret="geheim"
        )


def test_a_document_is_sent_whole_with_its_name_and_comes_back_in_pieces(
    tmp_path: Path, server: DocumentServer
) -> None:
    done = within(server.url, send, tmp_path)
    assert server.documents == [
        ("Vertr%C3%A4ge/Miete 2026.txt", "application/octet-stream", bytes(DOCUMENT.data or b""))
    ]
    assert done.items == (Item(DOCUMENT.name, 12, texts=("Das", "Haus,", "3", "€")),)
    assert done.bytes == 12


def test_a_document_may_be_empty_and_give_nothing(tmp_path: Path, server: DocumentServer) -> None:
    async def life(place: Service) -> Done:
        return await place.perform(Action.PROCESS, (Item("empty", 0, data=b""),))

    done = within(server.url, life, tmp_path)
    assert (done.bytes, done.items) == (0, (Item("empty", 0),))


def test_times_are_those_of_the_server_and_a_connection_is_kept(
    tmp_path: Path, server: DocumentServer
) -> None:
    server.wait_s = 0.2

    async def life(place: Service) -> list[Done]:
        return [await send(place) for _ in range(3)]

    first, *rest = within(server.url, life, tmp_path)
    assert first.elapsed_ns == pytest.approx(0.2e9, rel=0.2)
    assert 0.2e9 <= first.first_byte_ns <= first.elapsed_ns
    assert first.setup_ns > 0
    assert [done.setup_ns for done in rest] == [0, 0]
    assert server.connections == 2, "one to find the server, and one for all documents"


def test_a_server_that_closes_its_connections_costs_no_failures(
    tmp_path: Path, server: DocumentServer
) -> None:
    server.fault = "closes"

    async def life(place: Service) -> list[int]:
        return [(await send(place)).bytes for _ in range(20)]

    assert within(server.url, life, tmp_path) == [12] * 20


@pytest.mark.parametrize(
    ("status", "answer", "said"),
    [
        (500, b'{"error": "no memory"}', "answers 500: no memory"),
        (422, b'{"detail": "not a PDF"}', "answers 422: not a PDF"),
        (307, b"", "answers 307: it points to /extract/, which is not followed"),
        (413, b"<html>too  large</html>", "answers 413: <html>too large</html>"),
        (200, b'{"error": "password needed"}', "fails: password needed"),
        (200, b'"text"', 'answers with something that is not a JSON array of strings: "text"'),
        (200, b'["a", 1]', 'answers with something that is not a JSON array of strings: ["a", 1]'),
        (200, b"", "answers with something that is not a JSON array of strings: nothing"),
        (200, b"\xff\xfe", "answers with something that is not a JSON array of strings: ��"),
        (200, b'["cut', 'answers with something that is not a JSON array of strings: ["cut'),
    ],
)
def test_what_is_no_list_of_pieces_is_told_and_the_next_document_works(
    tmp_path: Path, server: DocumentServer, status: int, answer: bytes, said: str
) -> None:
    async def life(place: Service) -> tuple[str, int]:
        server.status, server.answer = status, answer
        with pytest.raises(OperationError) as caught:
            await send(place)
        server.status, server.answer = 200, None
        return caught.value.message, (await send(place)).bytes

    assert within(server.url, life, tmp_path) == (f"indexer: {server.url} {said}", 12)


def test_brackets_without_end_are_no_list(tmp_path: Path, server: DocumentServer) -> None:
    server.answer = b"[" * 1_000_000
    with pytest.raises(OperationError, match="not a JSON array of strings"):
        within(server.url, send, tmp_path)


def test_half_of_a_surrogate_pair_becomes_something_that_can_be_stored(
    tmp_path: Path, server: DocumentServer
) -> None:
    server.answer = b'["\\ud800!"]'
    assert within(server.url, send, tmp_path).items[0].texts == ("?!",)


def test_an_answer_without_end_is_ended(
    tmp_path: Path, server: DocumentServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "BODY_BYTES", 3_000_000)
    server.fault = "endless"
    with pytest.raises(OperationError, match="answers with more than 3,000,000 bytes"):
        within(server.url, send, tmp_path)


def test_an_answer_that_is_cut_off_is_told(tmp_path: Path, server: DocumentServer) -> None:
    server.fault = "cut"
    with pytest.raises(OperationError, match="broke off the connection: peer closed connection"):
        within(server.url, send, tmp_path)


def test_a_stalled_answer_ends_with_its_time_limit_and_the_connection_is_closed(
    tmp_path: Path, server: DocumentServer
) -> None:
    server.fault = "stall"

    async def life(place: Service) -> bool:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await send(place)
        return await asyncio.to_thread(server.gone.wait, 5)

    assert within(server.url, life, tmp_path)


def test_check_reaches_the_server_and_sends_no_document(server: DocumentServer) -> None:
    facts = asyncio.run(service(server.url).check())
    assert facts.summary.startswith("BaseHTTP/")
    assert facts.summary.endswith(", answers (no document was sent)")
    assert (facts.warnings, server.documents) == ((), [])


def test_check_doubts_a_page_that_is_not_there(server: DocumentServer) -> None:
    facts = asyncio.run(service(f"{server.url}x").check())
    assert facts.warnings == ("answers 404 to a question without a document: is `url` right?",)


def test_check_says_that_nobody_listens() -> None:
    url = refusing_url()
    with pytest.raises(PlaceError) as caught:
        asyncio.run(service(url).check())
    assert caught.value.message == f"indexer: {url} cannot be reached: connection refused"


@pytest.mark.skipif(os.name != "posix", reason="other systems may hide sockets")
def test_the_process_behind_a_local_url_is_found(tmp_path: Path, server: DocumentServer) -> None:
    async def life(place: Service) -> tuple[int | None, str | None]:
        return place.server_pid, place.identity

    pid, identity = within(server.url, life, tmp_path)
    assert pid in (os.getpid(), None)
    assert (identity or "").startswith("BaseHTTP/")
