"""Only who surely is gone is taken for gone."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from pathtrace.places.owners import is_gone, ourselves


def noted(**changes: object) -> str:
    return json.dumps(json.loads(ourselves()) | changes)


def ended() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_who_lives_is_not_gone() -> None:
    assert not is_gone(ourselves())


def test_who_ended_is_gone_and_so_is_whoever_had_our_number_before() -> None:
    assert is_gone(noted(pid=ended()))
    assert is_gone(noted(since=1.0))


@pytest.mark.parametrize("said", [noted(host="another", pid=1), "", "42", "[]", "{", '{"pid": 1}'])
def test_of_another_host_and_of_what_nobody_understands_nothing_is_known(said: str) -> None:
    assert not is_gone(said)
