"""What every test shares: how often planted causes are tried, and that CI may not skip them.

Tests marked ``truth``, ``needs_root`` or ``server`` skip with a reason where this machine lacks
something. With ``CI=true`` such a skip is a failure: there everything must be there.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import hypothesis
import pytest

from tests.places.contract import NOT_APPLICABLE

# A slow machine is no fault of what is tested.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

_NEEDY = ("truth", "needs_root", "server")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rounds", type=int, default=1, help="how often each planted cause is drawn and tried")
    parser.addoption(
        "--all-predictions",
        action="store_true",
        help="all cases of predictions, not a third",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "drawn_round" in metafunc.fixturenames:
        metafunc.parametrize("drawn_round", range(1, metafunc.config.getoption("--rounds") + 1))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Cases of predictions that are not marked for always run only where they are asked for."""
    if config.getoption("--all-predictions"):
        return
    left = [item for item in items if not _only_when_asked(item)]
    config.hook.pytest_deselected(items=[item for item in items if _only_when_asked(item)])
    items[:] = left


def _only_when_asked(item: pytest.Item) -> bool:
    return any(not mark.kwargs.get("always", True) for mark in item.iter_markers("predicted"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    needy = any(item.get_closest_marker(mark) for mark in _NEEDY)
    if report.skipped and needy and os.environ.get("CI") == "true":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        if NOT_APPLICABLE in str(reason):
            return report
        report.outcome = "failed"
        report.longrepr = f"may not be skipped in CI: {reason}"
    return report
