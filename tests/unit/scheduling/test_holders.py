from __future__ import annotations

from pathlib import Path

import pytest

from pathtrace.model.schedule import CRON, SYSTEM, USER
from pathtrace.scheduling import cron, holders


@pytest.mark.parametrize(("folder", "scope"), [(".", SYSTEM), ("missing", USER)])
def test_where_cron_has_no_table_of_the_host_roots_own_is_found_again_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, scope: str
) -> None:
    monkeypatch.setattr(cron, "FOLDER", tmp_path / folder)
    monkeypatch.setattr(cron, "is_installed", lambda: True)
    monkeypatch.setattr(holders, "is_root", lambda: True)
    added_to = holders.holder_for(SYSTEM, CRON, {})
    there = [(each.kind, each.scope) for each in holders.holders({})]
    assert (added_to.kind, added_to.scope) == (CRON, scope)
    assert (CRON, scope) in there
