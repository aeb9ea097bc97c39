"""Both ways of processing keep the contract of all places."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from pathtrace.model.scenario import Action, Place, PlaceKind, ProcessSpec
from pathtrace.model.work import Item
from pathtrace.places.process import Process
from tests.places.contract import Case, PlaceContract

ITEMS = (Item("a.txt", 6, data="Grüße ".encode()), Item("b.txt", 0, data=b""), Item("c.txt", 2, data=b"cc"))


def process(*command: str) -> Process:
    spec = ProcessSpec(run=None if command else "chunk", command=command or None, url=None)
    place = Place("indexer", PlaceKind.PROCESS, "workstation", 2, 16, 60.0, None, spec)
    return Process(place, time.perf_counter_ns, 1)


class TestChunk(PlaceContract):
    @pytest.fixture
    def case(self) -> Case:
        return Case(make=process, action=Action.PROCESS, items=ITEMS, bytes=10)


@pytest.mark.skipif(sys.platform == "win32", reason="commands need POSIX")
class TestCommand(PlaceContract):
    @pytest.fixture
    def case(self, tmp_path: Path) -> Case:
        script = (
            "import json,sys; t=sys.stdin.read(); print(json.dumps(t)) if t != 'bad' else sys.exit('bad')"
        )
        return Case(
            make=lambda: process(sys.executable, "-S", "-X", "utf8", "-c", script),
            action=Action.PROCESS,
            items=ITEMS,
            bytes=10,
            broken=lambda: process("no-such-program-at-all"),
            failing=Item("bad.txt", 3, data=b"bad"),
        )
