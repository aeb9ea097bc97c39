"""``pathtrace schedule add``, ``list`` and ``remove`` with crontabs of their own, by the real ``crontab``."""

import json
from pathlib import Path

import pytest

from tests.cli.command import STAND_INS, Result, pathtrace
from tests.scheduling import private

ADD = '"$PYTHON" -m pathtrace schedule add lab.yaml'
REMOVE = '"$PYTHON" -m pathtrace schedule remove lab.yaml'
OTHERS = b"MAILTO=me\n# caf\xe9 \xff\n\t*/5 * * * *   backup --at '100\\%'  \n\n@daily\tother\n"


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    (tmp_path / "lab.yaml").write_text(STAND_INS)
    return tmp_path


@pytest.mark.needs_root
@pytest.mark.timeout(110)
def test_adding_twice_and_removing_leaves_a_users_crontab_byte_for_byte(lab: Path) -> None:
    (lab / "others").write_bytes(OTHERS)
    private.with_cron(
        f"""
        crontab others
        {ADD} --user --cron --at 3:17 --json >added
        crontab -l >once
        {ADD} --user --cron --every 6h -- --quiet-below 20% >/dev/null
        crontab -l >twice
        "$PYTHON" -m pathtrace schedule list --json >listed
        {REMOVE} --dry-run >/dev/null
        crontab -l | cmp - twice
        {REMOVE} --json >removed
        crontab -l | cmp - others
        echo "5 5 * * * no end" | head -c -1 >/var/spool/cron/crontabs/root
        {ADD} --user --cron >/dev/null
        {REMOVE} >/dev/null
        crontab -l >mended
        crontab -r
        {ADD} --user --cron >/dev/null
        {REMOVE} >/dev/null
        crontab -l 2>none || true
        """,
        lab,
        timeout=100,
    )
    once, twice = (lab / "once").read_bytes(), (lab / "twice").read_bytes()
    assert once.startswith(OTHERS)
    assert twice.startswith(OTHERS)
    assert (once.count(b"pathtrace scan"), twice.count(b"pathtrace scan")) == (1, 1)
    assert b"--quiet-below '20\\%'" in twice
    (listed,) = json.loads((lab / "listed").read_text())["schedules"]
    assert (listed["options"], listed["kind"], listed["active"]) == (["--quiet-below", "20%"], "cron", False)
    assert json.loads((lab / "removed").read_text())["schedules"][0]["scenario"] == str(lab / "lab.yaml")
    assert (lab / "mended").read_bytes() == b"5 5 * * * no end\n"
    assert (lab / "none").read_text() == "no crontab for root\n"


@pytest.mark.needs_root
@pytest.mark.timeout(110)
def test_the_hosts_file_is_shared_with_what_people_wrote_and_goes_when_it_is_empty(lab: Path) -> None:
    (lab / "other.yaml").write_text(STAND_INS)
    private.with_cron(
        f"""
        {ADD} --system --cron >/dev/null
        cp /etc/cron.d/pathtrace one
        printf '1 2 * * * root mine\\r\\n# no end' >>/etc/cron.d/pathtrace
        "$PYTHON" -m pathtrace schedule add other.yaml --system --cron >/dev/null
        "$PYTHON" -m pathtrace schedule remove other.yaml >/dev/null
        cp /etc/cron.d/pathtrace two
        {REMOVE} >/dev/null
        cp /etc/cron.d/pathtrace three
        rm /etc/cron.d/pathtrace
        {ADD} --system --cron >/dev/null
        stat -c '%a %U' /etc/cron.d/pathtrace
        {REMOVE} >/dev/null
        ls -A /etc/cron.d >left
        """,
        lab,
        timeout=100,
    )
    mine = b"1 2 * * * root mine\r\n# no end"
    assert (lab / "two").read_bytes() == (lab / "one").read_bytes() + mine
    assert (lab / "three").read_bytes() == mine
    assert (lab / "left").read_text() == ""


@pytest.mark.needs_root
@pytest.mark.timeout(110)
def test_a_dry_run_shows_everything_and_writes_nothing(lab: Path) -> None:
    look = "find /etc/cron.d /var/spool/cron /etc/systemd/system .config runs 2>/dev/null | sort"
    out = private.with_cron(
        f"""
        {look} >before || true
        for kind in --cron --systemd; do for scope in --user --system; do
            {ADD} $kind $scope --dry-run
        done; done
        {look} >after || true
        """,
        lab,
        timeout=100,
    )
    assert (lab / "before").read_text() == (lab / "after").read_text()
    assert out.count("would be scheduled") + out.count("Would be scheduled (nothing was written)") == 4
    scan = f"-P -m pathtrace scan {lab / 'lab.yaml'} --store {lab / 'runs'}"
    assert out.count(scan) == 4
    assert "RandomizedDelaySec=600\nPersistent=true\n" in out


@pytest.mark.needs_root
def test_variables_come_from_the_file_by_cron_too_and_are_in_no_crontab(lab: Path) -> None:
    (lab / "lab.yaml").write_text(
        STAND_INS.replace("What holds", "${NAS_PASSWORD}").replace("stand-ins", "secret")
    )
    (lab / "variables").write_text("NAS_PASSWORD='top secret $(touch never)'\n")
    (lab / "variables").chmod(0o600)
    private.with_cron(
        f"""
        {ADD} --system --cron --env-file variables --json >added
        cp /etc/cron.d/pathtrace line
        sed -n 's/^[0-9*].* root //p' line >command
        NAS_PASSWORD=wrong /bin/sh command
        """,
        lab,
    )
    assert "top secret" not in (lab / "line").read_text() + (lab / "added").read_text()
    assert (
        f"schedule start --env-file {lab / 'variables'} -- {lab / 'lab.yaml'}" in (lab / "line").read_text()
    )
    (night,) = [path for path in (lab / "runs").iterdir() if path.name[:1].isdigit()]
    assert '"secret"' in (night / "scan.json").read_text()
    assert not (lab / "never").exists()


@pytest.mark.needs_root
def test_a_crontab_with_broken_marks_is_left_alone(lab: Path) -> None:
    private.with_cron(
        f"""
        {ADD} --system --cron >/dev/null
        grep -v ' end$' /etc/cron.d/pathtrace >broken
        cp broken /etc/cron.d/pathtrace
        {ADD} --system --cron 2>said && exit 1
        {REMOVE} 2>>said && exit 1
        cmp broken /etc/cron.d/pathtrace
        """,
        lab,
    )
    said = (lab / "said").read_text()
    assert said.count("stands alone: nothing was changed") == 2


def refused(lab: Path, *arguments: str, **more: str) -> str:
    done: Result = pathtrace(lab, "schedule", *arguments, **more)
    assert (done.code, done.out) == (2, "")
    return done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add"], "error: schedule needs a scenario"),
        (["add", "gone.yaml"], "cannot read the scenario: No such file or directory"),
        (["add", "lab.yaml", "--at", "25:00"], "error: --at '25:00' is not a time of day\nhint: write hours"),
        (["add", "lab.yaml", "--every", "7min"], "error: --every '7min' is no span that a calendar can hold"),
        (["add", "lab.yaml", "--at", "3:17", "--every", "6h"], "error: --at and --every exclude each other"),
        (["add", "lab.yaml", "--dry-run", "--", "--nonsense"], "error: no such option '--nonsense'"),
        (["add", "lab.yaml", "--", "--store", "x"], "error: give --store before --"),
        (["add", "lab.yaml", "--", "--label", "http://me:hunter2@nas/"], "error: an option holds a password"),
        (["add", "lab.yaml", "--env-file", "gone"], "cannot read the file of variables: No such file"),
        (["add", "lab.yaml", "--cron", "--env-file", "a*"], "cannot be named as a file of variables"),
        (["remove", "gone.yaml"], "error: there is no schedule of 'gone.yaml'"),
        (["remove"], "error: missing argument 'SCENARIO|NAME'"),
        (["ad", "lab.yaml"], "error: no such command 'ad'"),
    ],
)
def test_bad_input_gets_one_clear_message(lab: Path, arguments: list[str], message: str) -> None:
    (lab / "a*").write_text("A=b\n")
    err = refused(lab, *arguments)
    assert message in err
    assert err.count("error:") == 1
    assert "hunter2" not in err


def test_a_variable_of_the_terminal_alone_is_refused_with_the_remedy(lab: Path) -> None:
    (lab / "lab.yaml").write_text(STAND_INS.replace("What holds", "${WORD}"))
    err = refused(lab, "add", "lab.yaml", "--dry-run", WORD="known here")
    assert "WORD" in err
    assert "hint: timers and cron do not have your terminal's variables" in err


def test_where_there_is_neither_systemd_nor_cron_the_foreground_is_named(lab: Path) -> None:
    err = refused(lab, "add", "lab.yaml", "--user", "--dry-run", "--cron", PATH="/nowhere")
    assert "cron is not installed here" in err
    assert "'pathtrace schedule run' needs neither" in err


@pytest.mark.parametrize("name", ["add", "list", "remove", "run"])
def test_every_part_of_the_command_explains_itself_with_an_example(lab: Path, name: str) -> None:
    done = pathtrace(lab, "schedule", name, "--help")
    assert (done.code, done.err) == (0, "")
    assert f"  Example:\n    pathtrace schedule {name}" in done.out
