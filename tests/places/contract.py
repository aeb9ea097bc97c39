"""What every kind of place promises the engine, as tests that each kind inherits.

A test file subclasses ``PlaceContract`` and gives a ``Case``; the tests below run the whole life of a
place against real files, processes and servers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pathtrace.errors import OperationError, PlaceError
from pathtrace.model.scenario import Action, Start
from pathtrace.model.work import Done, Item, LayerState
from pathtrace.ports import Place

NOT_APPLICABLE = "does not apply: "
"""Begins the reason of a skip that nothing on any machine could mend, which CI lets pass."""
STATES = {"cold", "warm", "unknown"}
LAYERS = {"client_cache", "server_cache", "database", "model"}


@dataclass(frozen=True)
class Case:
    """A working place and what it is asked to do.

    ``items`` None: the place supplies and draws its own work. ``bytes`` is what all operations together
    promise (None: not known beforehand). ``broken`` makes a place that cannot be used, ``failing`` an
    item (for ``perform``) that cannot be done; ``secret`` must never show in a message of either.
    """

    make: Callable[[], Place]
    action: Action
    items: tuple[Item, ...] | None = None
    bytes: int | None = None
    broken: Callable[[], Place] | None = None
    failing: Item | None = None
    secret: str | None = None


class PlaceContract:
    """Inherit, and define the fixture ``case``."""

    @pytest.fixture
    def scratch(self, tmp_path: Path) -> Path:
        folder = tmp_path / "contract-scratch"
        folder.mkdir()
        return folder

    def test_a_whole_life_gives_the_promised_bytes_within_honest_times(
        self, case: Case, scratch: Path
    ) -> None:
        place = case.make()
        window, dones = asyncio.run(live(place, case, scratch))
        assert [done.fault for done in dones] == [None] * len(dones)
        for done in dones:
            assert_times_are_honest(done, *window)
        if case.bytes is not None:
            assert sum(done.bytes for done in dones) == case.bytes

    def test_scratch_is_empty_after_closing_and_closing_twice_does_no_harm(
        self, case: Case, scratch: Path
    ) -> None:
        async def life() -> None:
            place = case.make()
            await live(place, case, scratch)
            await place.close()

        asyncio.run(life())
        assert [path.name for path in scratch.iterdir()] == []

    def test_a_place_that_was_only_opened_leaves_nothing_behind(self, case: Case, scratch: Path) -> None:
        async def life() -> None:
            place = case.make()
            await place.open(scratch)
            await place.close()

        asyncio.run(life())
        assert [path.name for path in scratch.iterdir()] == []

    def test_checking_gives_one_line_and_writes_nothing(self, case: Case, scratch: Path) -> None:
        facts = asyncio.run(case.make().check())
        assert facts.summary
        assert "\n" not in facts.summary
        assert [path.name for path in scratch.iterdir()] == []

    def test_each_start_condition_is_answered_with_a_state_and_evidence(
        self, case: Case, scratch: Path
    ) -> None:
        async def life() -> list[LayerState]:
            place = case.make()
            await place.open(scratch)
            try:
                return [
                    state for start in Start for state in await place.begin(start, frozenset({case.action}))
                ]
            finally:
                await place.close()

        for state in asyncio.run(life()):
            assert state.state in STATES
            assert state.layer in LAYERS
            assert state.evidence

    def test_repeats_do_the_same_work(self, case: Case, scratch: Path) -> None:
        async def life() -> list[tuple[int, int]]:
            place = case.make()
            await place.open(scratch)
            try:
                return [summed(await repeat(place, case)) for _ in range(2)]
            finally:
                await place.close()

        first, second = asyncio.run(life())
        assert first == second

    def test_workers_and_batches_are_whole_numbers(self, case: Case, scratch: Path) -> None:
        place = case.make()
        assert place.concurrency(case.action) >= 1
        assert place.batch(case.action) >= 0
        asyncio.run(place.close())

    def test_a_broken_place_says_so_without_its_secrets(self, case: Case, scratch: Path) -> None:
        if case.broken is None:
            pytest.skip(f"{NOT_APPLICABLE}this kind cannot be broken")

        async def life(place: Place) -> PlaceError:
            with pytest.raises(PlaceError) as caught:
                await check_and_open(place, scratch)
            await place.close()
            return caught.value

        error = asyncio.run(life(case.broken()))
        assert error.message
        assert_hidden(case.secret, f"{error} {error.hint}")
        assert [path.name for path in scratch.iterdir()] == []

    def test_a_failed_operation_is_a_fault_and_never_another_error(self, case: Case, scratch: Path) -> None:
        if case.failing is None:
            pytest.skip(f"{NOT_APPLICABLE}this case has no operation that fails")
        failing = case.failing

        async def life() -> str:
            place = case.make()
            await place.open(scratch)
            try:
                await place.begin(Start.AS_IS, frozenset({case.action}))
                return await fault_of(place, case.action, failing)
            finally:
                await place.close()

        text = asyncio.run(life())
        assert text
        assert_hidden(case.secret, text)


async def live(place: Place, case: Case, scratch: Path) -> tuple[tuple[int, int], list[Done]]:
    """check, open, one repeat, fingerprint, close; the window of the repeat and what was done in it."""
    await place.check()
    await place.open(scratch)
    try:
        start = time.perf_counter_ns()
        dones = await repeat(place, case)
        window = start, time.perf_counter_ns()
        first, second = await place.fingerprint(), await place.fingerprint()
        assert first == second
    finally:
        await place.close()
    return window, dones


async def check_and_open(place: Place, scratch: Path) -> None:
    await place.check()
    await place.open(scratch)


async def repeat(place: Place, case: Case) -> list[Done]:
    """begin, all the work, finish."""
    await place.begin(Start.AS_IS, frozenset({case.action}))
    if case.items is None:
        dones = await draw_all(place, await place.supply(case.action))
    else:
        dones = [await place.perform(case.action, parcel) for parcel in parcels(place, case)]
    last = await place.finish(case.action)
    return dones if last is None else [*dones, last]


async def draw_all(place: Place, items: Sequence[Item]) -> list[Done]:
    """As the engine draws: what was not read is asked for again."""
    dones: list[Done] = []
    while len(dones) < len(items):
        burst = await place.draw(items[len(dones) : len(dones) + 32])
        assert burst, "a draw reads at least one item"
        dones += burst
    return dones


def parcels(place: Place, case: Case) -> list[tuple[Item, ...]]:
    """One item each, or all of them as one batch where the place takes batches."""
    assert case.items is not None
    return [case.items] if place.batch(case.action) else [(item,) for item in case.items]


async def fault_of(place: Place, action: Action, item: Item) -> str:
    """The text of the one way in which an operation may fail."""
    try:
        if action is Action.READ:
            (done,) = await place.draw([item])
        else:
            done = await place.perform(action, [item])
    except OperationError as error:
        return str(error)
    assert done.fault is not None
    return done.fault


def summed(dones: Sequence[Done]) -> tuple[int, int]:
    return len(dones), sum(done.bytes for done in dones)


def assert_times_are_honest(done: Done, start_ns: int, end_ns: int) -> None:
    assert start_ns <= done.start_ns
    assert done.start_ns + done.elapsed_ns <= end_ns
    assert done.setup_ns >= 0
    assert done.finish_ns >= 0
    assert done.setup_ns + done.finish_ns <= done.elapsed_ns
    assert -1 <= done.first_byte_ns <= done.elapsed_ns


def assert_hidden(secret: str | None, text: str) -> None:
    assert secret is None or secret not in text
