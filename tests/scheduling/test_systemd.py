"""Units that systemd itself reads, takes and runs."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from pathtrace.errors import UsageError
from pathtrace.model.schedule import SYSTEM, USER, Job
from pathtrace.scheduling import systemd
from pathtrace.scheduling.metadata import name_of
from pathtrace.scheduling.times import Times
from pathtrace.scheduling.units import units
from tests.cli.command import STAND_INS
from tests.scheduling import private, stand_in

NIGHTLY = Times(86_400, 3, 17)


def hostile_job(folder: Path) -> Job:
    place = folder / 'it\'s 100% $HOME "now"'
    place.mkdir()
    python = stand_in.make(place / "python $3 %n", folder / "notes")
    secrets = place / "vari%ables $x"
    secrets.write_text("NAS_PASSWORD='tops%ecret $1'\n")
    scenario = "/srv/" + "".join(stand_in.HOSTILE) + ".yaml"
    path = '/usr/bin:/b%c $d"e'
    return Job(
        "pathtrace-scan-hostile",
        scenario,
        "/a b",
        str(place),
        str(python),
        60,
        path,
        stand_in.HOSTILE,
        str(secrets),
    )


@pytest.mark.server
@pytest.mark.parametrize("scope", [SYSTEM, USER])
@pytest.mark.parametrize("seconds", [60, 1800, 3600, 21_600, 86_400, 604_800])
def test_systemd_analyze_takes_units_and_calendar_without_a_word(
    scope: str, seconds: int, tmp_path: Path
) -> None:
    private.require("systemd-analyze")
    times = Times(seconds, 3, 17, 2)
    job = hostile_job(tmp_path)
    texts = units(job, times, scope)
    systemd.validate(job.name, texts, scope)
    paths = [tmp_path / f"{job.name}.{kind}" for kind in ("service", "timer")]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    whose = ["--user"] if scope == USER else []
    environ = {"XDG_RUNTIME_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    for words in (["verify", "--man=no", *map(str, paths)], ["calendar", times.calendar]):
        done = subprocess.run(
            ["systemd-analyze", *whose, *words], capture_output=True, text=True, env=environ
        )
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.server
def test_what_systemd_does_not_take_is_refused_in_its_words(tmp_path: Path) -> None:
    private.require("systemd-analyze")
    job = replace(hostile_job(tmp_path), python=str(tmp_path / "gone"))
    with pytest.raises(UsageError, match=r"systemd does not take the units: .*gone is not executable"):
        systemd.validate(job.name, units(job, NIGHTLY, SYSTEM), SYSTEM)


@pytest.mark.needs_root
def test_a_manager_of_systemd_starts_hostile_words_as_they_are(tmp_path: Path) -> None:
    job = hostile_job(tmp_path)
    texts = units(job, NIGHTLY, USER)
    (tmp_path / "service").write_text(texts.service)
    private.with_systemd(
        f"""
        mkdir -p "$HOME/.config/systemd/user"
        cp service "$HOME/.config/systemd/user/{job.name}.service"
        export XDG_RUNTIME_DIR=/run/user
        systemctl --user daemon-reload
        systemctl --user start {job.name}.service
        """,
        tmp_path,
    )
    assert stand_in.noted(tmp_path / "notes") == [
        {"words": list(job.words[1:]), "folder": job.folder, "path": job.path, "secret": "tops%ecret $1"}
    ]
    assert "tops%ecret" not in texts.service
    assert not list(tmp_path.rglob("never"))


@pytest.mark.needs_root
@pytest.mark.timeout(110)
def test_a_timer_is_enabled_listed_started_and_taken_away_where_a_manager_runs(tmp_path: Path) -> None:
    (tmp_path / "my lab.yaml").write_text(STAND_INS)
    units_of_others = tmp_path / ".config/systemd/user"
    units_of_others.mkdir(parents=True)
    (units_of_others / "mine.timer").write_bytes(b"[Timer]\r\nOnCalendar=daily")
    private.with_systemd(
        """
        export XDG_RUNTIME_DIR=/run/user
        pathtrace() { "$PYTHON" -m pathtrace schedule "$@" --json; }
        pathtrace add 'my lab.yaml' --user --at 03:17 >added
        pathtrace add 'my lab.yaml' --user --at 04:18 >again
        pathtrace list >listed
        systemctl --user list-timers --all >timers
        systemctl --user start "$(ls .config/systemd/user | grep 'pathtrace.*service')"
        pathtrace remove 'my lab.yaml' >removed
        systemctl --user list-timers --all >timers_after
        find .config -type f >files_after
        """,
        tmp_path,
        timeout=100,
    )
    (listed,) = json.loads((tmp_path / "listed").read_text())["schedules"]
    assert (listed["kind"], listed["scope"], listed["when"], listed["active"]) == (
        "systemd",
        "user",
        "*-*-* 04:18:00",
        True,
    )
    assert json.loads((tmp_path / "added").read_text())["to_type"] == []
    assert (tmp_path / "timers").read_text().count(
        "pathtrace-scan-my-lab"
    ) == 2  # the timer, and what it starts
    assert "pathtrace" not in (tmp_path / "timers_after").read_text()
    assert (tmp_path / "files_after").read_text() == ".config/systemd/user/mine.timer\n"
    assert (units_of_others / "mine.timer").read_bytes() == b"[Timer]\r\nOnCalendar=daily"
    assert [path for path in (tmp_path / "runs").iterdir() if path.name[:1].isdigit()] != []


def test_where_systemd_analyze_is_not_installed_nothing_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    job = hostile_job(tmp_path)
    systemd.validate(job.name, units(job, NIGHTLY, SYSTEM), SYSTEM)


@pytest.mark.needs_root
def test_where_systemd_refuses_or_a_unit_of_others_is_in_the_way_all_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "lab.yaml").write_text(STAND_INS)
    units_folder = tmp_path / ".config/systemd/user"
    units_folder.mkdir(parents=True)
    (units_folder / "timers.target.wants").touch()  # so that nothing can be enabled
    name = name_of(str(tmp_path / "lab.yaml"))
    private.with_systemd(
        f"""
        export XDG_RUNTIME_DIR=/run/user
        add() {{ "$PYTHON" -m pathtrace schedule add lab.yaml --user; }}
        add 2>refused && exit 1
        ls .config/systemd/user >left
        echo mine >.config/systemd/user/{name}.service
        add 2>occupied && exit 1
        true
        """,
        tmp_path,
    )
    assert f"error: 'systemctl --user enable {name}.timer' failed" in (tmp_path / "refused").read_text()
    assert (tmp_path / "left").read_text() == "timers.target.wants\n"
    assert "it is there and not ours: nothing was written" in (tmp_path / "occupied").read_text()
    assert (units_folder / f"{name}.service").read_text() == "mine\n"
