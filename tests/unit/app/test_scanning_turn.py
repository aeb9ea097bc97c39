"""Waiting for a turn: for how long, for whom, and when it is given up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from pathtrace.app import scanning_turn
from pathtrace.app.quiet import Use
from pathtrace.app.scanning_locks import ScanLocks
from pathtrace.app.scanning_turn import Patience, Turn, wait_for_turn
from pathtrace.replay.stop import StopRequest

BUSY, QUIET = (Use(0.7, "CPU 70 % busy"),), (Use(0.05, "CPU 5 % busy"),)


class Said:
    """A terminal that remembers."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def execution(self, repeat: int, repeats: int | None, flow: str, total_operations: int | None) -> None:
        raise AssertionError("nothing is measured yet")

    def advance(self, stage: int, operations: int, bytes: int) -> None:
        raise AssertionError("nothing is measured yet")

    def message(self, text: str) -> None:
        self.messages.append(text)


@pytest.fixture(autouse=True)
def no_real_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning_turn, "LOOK_S", 0.0)


def ticking(step_s: float) -> Callable[[], int]:
    """A clock that is ``step_s`` later each time it is read."""
    at = iter(range(0, 10**15, round(step_s * 1e9)))
    return lambda: next(at)


def turn(
    locks: ScanLocks,
    patience: Patience,
    looks: Sequence[tuple[Use, ...]] = (),
    stop: StopRequest | None = None,
    said: Said | None = None,
) -> Turn:
    shown: Iterator[tuple[Use, ...]] = iter(looks)

    async def look() -> tuple[Use, ...]:
        return next(shown)

    waiting = wait_for_turn(locks, patience, look, ticking(10.0), said or Said(), stop or StopRequest())
    return asyncio.run(waiting)


def locks_of(folder: Path, scenario: str = "lab") -> ScanLocks:
    return ScanLocks(folder / "store", folder, scenario)


def test_a_quiet_host_is_not_waited_for(tmp_path: Path) -> None:
    with locks_of(tmp_path) as locks:
        assert turn(locks, Patience(0.0, 0.2), [QUIET]) == Turn(10.0, None)


def test_whoever_did_not_ask_for_quiet_is_not_made_to_look(tmp_path: Path) -> None:
    with locks_of(tmp_path) as locks:
        assert turn(locks, Patience(60.0, None)).busy is None


def test_a_busy_host_is_waited_for_said_once_and_the_locks_are_held_meanwhile(tmp_path: Path) -> None:
    said = Said()
    with locks_of(tmp_path) as locks:
        assert turn(locks, Patience(60.0, 0.2), [BUSY, BUSY, QUIET], said=said) == Turn(30.0, None)
        assert said.messages == ["waiting for up to 50 s: CPU 70 % busy"]
        with locks_of(tmp_path) as other:
            assert other.take() is not None


def test_patience_has_an_end_and_what_was_busy_is_said(tmp_path: Path) -> None:
    with locks_of(tmp_path) as locks:
        assert turn(locks, Patience(25.0, 0.2), [BUSY] * 9) == Turn(30.0, "CPU 70 % busy")


def test_another_scan_is_waited_for_and_named(tmp_path: Path) -> None:
    with locks_of(tmp_path, "archive") as first, locks_of(tmp_path) as second:
        assert first.take() is None
        found = turn(second, Patience(25.0, 0.2))
    assert found.waited_s == 30.0
    assert found.busy is not None
    assert found.busy.startswith("the scan of archive (pid ")
    assert found.busy.endswith(" is under way")


def test_a_request_to_stop_ends_the_waiting(tmp_path: Path) -> None:
    stop = StopRequest()
    with locks_of(tmp_path) as locks:
        asyncio.run(asyncio.sleep(0))
        stop.request(2)
        found = turn(locks, Patience(1e6, 0.2), [BUSY], stop)
    assert found.busy == "stopped while it waited: CPU 70 % busy"
