from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

from pathtrace.analysis import analyse
from pathtrace.app.comparing import compare_runs
from pathtrace.render.json_document import run_document
from pathtrace.store import runs
from tests.unit.analysis.compared import run

NO_HISTORY = "there is no history of like runs"


def kept(store: Path, day: int, read_ms: float = 20) -> str:
    """A complete run of one work and set-up, with its document."""
    made = run(read_ms=read_ms, id=f"202611{day:02}-091412-aaaa")
    made = replace(made, started_at=f"2026-11-{day:02}T09:14:12+00:00")
    (store / made.id).mkdir()
    asyncio.run(runs.save(store / made.id, made, str))
    (store / made.id / "run.json").write_text(json.dumps(run_document(made, analyse(made))))
    return made.id


def knows_a_history(store: Path, before: str, *afters: str) -> list[bool]:
    found = compare_runs(store, before, afters, []).comparisons
    return [not any(NO_HISTORY in text for text in each.caveats) for each in found]


def test_like_runs_between_the_two_are_a_history_and_the_later_one_itself_is_none(tmp_path: Path) -> None:
    before, first, second, after = (kept(tmp_path, day) for day in range(1, 5))
    assert knows_a_history(tmp_path, before, after) == [True]
    assert knows_a_history(tmp_path, before, second) == [False]
    assert knows_a_history(tmp_path, before, first, after) == [False, False]
    assert knows_a_history(tmp_path, second, before) == [False]


def test_days_between_that_differ_by_more_than_the_change_make_it_unclear(tmp_path: Path) -> None:
    before, after = kept(tmp_path, 1), kept(tmp_path, 9, read_ms=24)
    [alone] = compare_runs(tmp_path, before, [after], []).comparisons
    for day, read_ms in ((2, 26), (3, 17)):
        kept(tmp_path, day, read_ms)
    [among] = compare_runs(tmp_path, before, [after], []).comparisons
    assert (alone.flows[0].verdict, among.flows[0].verdict) == ("slower", "unclear")
