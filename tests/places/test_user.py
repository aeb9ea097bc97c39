"""The user place: drains an answer, or takes at once what came whole."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from pathtrace.model.scenario import Action, Place, PlaceKind, UserSpec
from pathtrace.model.work import Done, Item
from pathtrace.places.answer import Answer
from pathtrace.places.sse import Chunk
from pathtrace.places.user import User
from tests.places.contract import Case, PlaceContract


def user(clock: list[int] | None = None) -> User:
    place = Place("people", PlaceKind.USER, "workstation", 3, 16, 60.0, None, UserSpec())
    return User(place, time.perf_counter_ns if clock is None else lambda: clock[0], 1)


class TestPeople(PlaceContract):
    @pytest.fixture
    def case(self) -> Case:
        items = (Item("q", 0, texts=("question", "found", "täglich")), Item("q", 0, texts=("nothing found",)))
        return Case(make=user, action=Action.DELIVER, items=items, bytes=5 + 8)


async def chunks(clock: list[int], given: tuple[Chunk, ...]) -> AsyncIterator[Chunk]:
    for chunk in given:
        clock[0] += 10
        yield chunk


def delivered(*given: Chunk) -> tuple[Done, bool]:
    clock = [1000]

    async def nothing() -> None:
        return None

    async def run() -> tuple[Done, bool]:
        answer = Answer(Chunk("ä"), chunks(clock, given), nothing)
        done = await user(clock).perform(Action.DELIVER, (Item("q", 0, answer=answer),))
        return done, answer.ended

    return asyncio.run(run())


def test_delivery_lasts_to_the_last_token_and_not_to_the_end_of_the_stream() -> None:
    done, ended = delivered(Chunk("b"), Chunk(""), Chunk("c"), Chunk(finished=True), Chunk(last=True))
    assert done == Done(1000, 30, 4, first_byte_ns=0, tokens=3)
    assert ended


def test_the_servers_own_count_of_tokens_is_taken_where_it_gives_one() -> None:
    done, _ = delivered(Chunk("b"), Chunk(tokens=7))
    assert done == Done(1000, 10, 3, first_byte_ns=0, tokens=7)


def test_any_stream_of_text_can_be_drained() -> None:
    async def stream() -> AsyncIterator[str]:
        for text in ("x", "yz"):
            yield text

    async def run() -> Done:
        return await user().perform(Action.DELIVER, (Item("q", 0, answer=stream()),))

    done = asyncio.run(run())
    assert (done.bytes, done.tokens) == (3, 2)
