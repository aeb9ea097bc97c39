"""Our units where a manager refuses them: as if nobody had tried."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from pathtrace.errors import UsageError
from pathtrace.model.schedule import USER
from pathtrace.scheduling import programs
from pathtrace.scheduling.systemd import Manager, add, own_files, remove
from pathtrace.scheduling.units import HEAD, Units

NAME = "pathtrace-scan-lab-01234567"
UNITS = Units(f"{HEAD}[Service]\n", f"{HEAD}[Timer]\n")


@pytest.mark.parametrize("before", [None, f"{HEAD}[Timer]\nOnCalendar=daily\n"])
def test_what_cannot_be_started_leaves_files_and_link_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    owner = Manager(USER, tmp_path, runs=True)
    owner.link(NAME).parent.mkdir()
    if before is not None:
        owner.timer(NAME).write_text(before)
        os.symlink(owner.timer(NAME), owner.link(NAME))

    def run(words: Sequence[str], *_: object) -> programs.Ended:
        if "enable" in words and before is None:
            os.symlink(owner.timer(NAME), owner.link(NAME))
        return programs.Ended(int("restart" in words), b"", "refused")

    monkeypatch.setattr(programs, "run", run)
    with pytest.raises(UsageError, match="refused"):
        add(owner, NAME, UNITS)
    assert owner.link(NAME).is_symlink() == (before is not None)
    assert not owner.service(NAME).exists()
    assert (owner.timer(NAME).read_text() if owner.timer(NAME).exists() else None) == before


@pytest.mark.parametrize("service", [UNITS.service, "mine\n", None])
def test_a_service_that_is_not_ours_stays(tmp_path: Path, service: str | None) -> None:
    owner = Manager(USER, tmp_path, runs=False)
    owner.timer(NAME).write_text(UNITS.timer)
    if service is not None:
        owner.service(NAME).write_text(service)
    ours = service == UNITS.service
    files = (owner.service(NAME), owner.timer(NAME)) if ours else (owner.timer(NAME),)
    assert own_files(owner, NAME) == files
    remove(owner, NAME)
    assert not owner.timer(NAME).exists()
    assert owner.service(NAME).exists() == (service == "mine\n")
