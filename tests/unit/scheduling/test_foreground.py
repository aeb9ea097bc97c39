import asyncio
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pathtrace.errors import UsageError
from pathtrace.scheduling.foreground import LONGEST_SLEEP_S, Clock, Foreground, Start, begin
from pathtrace.scheduling.times import Times

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
NIGHTLY = Times(86_400, 3, 17)
HOURLY = Times(3600, 3, 17)
QUARTERLY = Times(900, 3, 2)


class World:
    """A clock that passes only when somebody waits, and scans that take as long as they are told to."""

    def __init__(self, times: Times, until: datetime) -> None:
        self.now = NOON
        self.until = until
        self.said: list[str] = []
        self.begun: list[str] = []
        self.lasts_s = [60.0]
        self.codes = [0]
        self.signals: list[int] = []
        self.waits: list[float] = []
        self.at: dict[int, Callable[[], None]] = {}
        """What happens at the so-manieth wait."""
        self.running = 0
        self.scheduler = Foreground(times, self.begin, Clock(lambda: self.now, self.pause), self.said.append)

    async def pause(self, duration_s: float, until: asyncio.Event) -> None:
        self.waits.append(duration_s)
        self.now += timedelta(seconds=duration_s)
        self.at.pop(len(self.waits), lambda: None)()
        if self.now >= self.until:
            self.scheduler.stop(15)

    async def begin(self) -> "World":
        assert self.running == 0
        self.running += 1
        self.begun.append(f"{self.now:%a %H:%M}")
        if self.codes[0] > 1000:
            self.running -= 1
            self.codes.pop(0)
            raise UsageError("cannot read the file of variables")
        return self

    async def wait(self) -> int:
        self.now += timedelta(seconds=self.lasts_s[0] if len(self.lasts_s) == 1 else self.lasts_s.pop(0))
        self.running -= 1
        return self.codes[0] if len(self.codes) == 1 else self.codes.pop(0)

    def signal(self, number: int) -> None:
        self.signals.append(number)

    def run(self) -> list[str]:
        asyncio.run(self.scheduler.serve())
        return self.begun


def test_a_scan_starts_each_time_and_nobody_sleeps_long() -> None:
    world = World(NIGHTLY, NOON + timedelta(days=3))
    assert world.run() == ["Tue 03:17", "Wed 03:17", "Thu 03:17"]
    assert max(world.waits) == LONGEST_SLEEP_S
    assert world.said[:4] == [
        "next scan: Tue 2026-06-02 03:17",
        "Tue 2026-06-02 03:17: scan starts",
        world.said[2],
        "next scan: Wed 2026-06-03 03:17",
    ]
    assert world.said[2].endswith(": exit code 0")


def test_scans_that_fail_are_killed_or_cannot_be_started_are_said_and_outlived() -> None:
    world = World(HOURLY, NOON + timedelta(hours=5))
    world.codes = [3, -9, 1001, -40, 0]
    assert world.run() == ["Mon 12:17", "Mon 13:17", "Mon 14:17", "Mon 15:17", "Mon 16:17"]
    ends = [line.rpartition(": ")[2] for line in world.said if "scan ended" in line or "could not" in line]
    assert ends == [
        "exit code 3",
        "killed by SIGKILL",
        "cannot read the file of variables",
        "killed by signal 40",
        "exit code 0",
    ]


def test_times_that_pass_while_a_scan_goes_on_are_left_out() -> None:
    world = World(QUARTERLY, NOON + timedelta(hours=2))
    world.lasts_s = [2400, 60]
    assert world.run()[:3] == ["Mon 12:02", "Mon 12:47", "Mon 13:02"]


def test_a_clock_put_back_an_hour_after_a_scan_does_not_repeat_it() -> None:
    world = World(NIGHTLY, NOON + timedelta(days=2))

    def put_back() -> None:
        world.now -= timedelta(hours=1)

    world.at[1850] = put_back  # a quarter of an hour after the scan
    assert world.run() == ["Tue 03:17", "Wed 03:17"]
    assert world.at == {}


def test_a_clock_put_back_before_a_scan_keeps_its_time() -> None:
    world = World(NIGHTLY, NOON + timedelta(days=1))
    world.at[10] = lambda: setattr(world, "now", NOON - timedelta(hours=10))
    assert world.run() == ["Mon 03:17", "Tue 03:17"]


def test_a_clock_that_was_years_ahead_does_not_stop_the_nights() -> None:
    world = World(NIGHTLY, NOON + timedelta(days=30))
    world.now = NOON + timedelta(days=3000)
    world.until = NOON + timedelta(days=9000)

    def put_right() -> None:
        world.now = NOON
        world.until = NOON + timedelta(days=2)

    world.at[2000] = put_right
    begun = world.run()
    assert begun[-2:] == ["Tue 03:17", "Wed 03:17"]
    assert len(begun) == 3


def test_a_clock_put_forward_catches_up_a_night_but_not_years() -> None:
    world = World(NIGHTLY, NOON + timedelta(days=2))
    world.at[1] = lambda: setattr(world, "now", NOON + timedelta(hours=20))
    assert world.run() == ["Tue 08:00", "Wed 03:17"]
    world = World(NIGHTLY, NOON + timedelta(days=401))
    world.at[1] = lambda: setattr(world, "now", NOON + timedelta(days=400))
    assert world.run() == [f"{NOON + timedelta(days=401):%a} 03:17"]
    assert "the clock was put forward beyond Tue 2026-06-02 03:17: that scan is left out" in world.said


@pytest.mark.parametrize("numbers", [(15,), (2, 2)])
def test_a_signal_goes_to_the_scan_that_goes_on_and_ends_it_all_when_that_has_ended(
    numbers: tuple[int, ...],
) -> None:
    world = World(NIGHTLY, NOON + timedelta(days=9))

    async def wait() -> int:
        for number in numbers:
            world.scheduler.stop(number)
        return 143

    world.wait = wait  # type: ignore[method-assign]
    assert world.run() == ["Tue 03:17"]
    assert world.signals == list(numbers)
    assert world.said[-1].endswith("exit code 143")


def test_a_real_child_has_its_folder_variables_and_session_and_gets_signals(tmp_path: Path) -> None:
    script = "import os, signal, sys; signal.signal(15, lambda *_: sys.exit(7)); "
    script += "open('said', 'w').write(f'{os.environ[\"A\"]} {os.getsid(0) == os.getpid()}'); signal.pause()"
    start = Start((sys.executable, "-c", script), str(tmp_path), lambda: {"A": "b"})

    async def begin_and_stop() -> int:
        child = await begin(start)
        while not (tmp_path / "said").exists() or not (tmp_path / "said").read_text():
            await asyncio.sleep(0.01)
        child.signal(15)
        code = await child.wait()
        child.signal(15)  # that has ended already
        return code

    assert asyncio.run(begin_and_stop()) == 7
    assert (tmp_path / "said").read_text() == "b True"
