import asyncio
import os
import signal

import pytest

from pathtrace.cli import signals


def refuse(*_arguments: object) -> None:
    raise NotImplementedError


async def heard(loop_can: bool) -> list[int]:
    """The numbers passed on when this process signals itself three times."""
    loop = asyncio.get_running_loop()
    if not loop_can:
        loop.add_signal_handler = refuse  # type: ignore[method-assign]  # as loops on Windows are
    numbers: list[int] = []
    got_all = asyncio.Event()

    def request(number: int) -> None:
        numbers.append(number)
        if len(numbers) == 3:
            got_all.set()

    with signals.passed_on(request):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
            os.kill(os.getpid(), number)
            await asyncio.sleep(0)
        await asyncio.wait_for(got_all.wait(), 10)
    return numbers


@pytest.mark.parametrize("loop_can", [True, False], ids=["by the loop", "by Python alone"])
def test_signals_become_requests_and_the_handlers_are_put_back(loop_can: bool) -> None:
    before = signal.getsignal(signal.SIGTERM)
    numbers = asyncio.run(heard(loop_can))
    assert sorted(numbers) == [signal.SIGINT, signal.SIGINT, signal.SIGTERM]
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (None, 130)])
def test_each_signal_has_its_exit_code(number: int | None, code: int) -> None:
    assert signals.exit_code(number) == code
