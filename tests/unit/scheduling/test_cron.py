from pathlib import Path

from pathtrace.model.schedule import Job
from pathtrace.scheduling.cron import FileTable, block, fields_of
from pathtrace.scheduling.times import Times

TIMES = Times(86_400, 3, 17)


def line(user_field: str | None = None, env_file: str | None = None, *options: str) -> str:
    job = Job("pathtrace-scan-a", "/a b.yaml", "/runs", "/", "/python", 60, "/bin", options, env_file)
    return block(job, TIMES, user_field).line


def test_a_line_names_the_user_only_where_such_lines_do_and_is_quiet() -> None:
    scan = "cd / && PATH=/bin /python -P -m pathtrace scan '/a b.yaml' --store /runs"
    assert line() == f"17 3 * * * {scan} --quiet >/dev/null"
    assert line("root") == f"17 3 * * * root {scan} --quiet >/dev/null"
    assert line(None, None, "--quiet", "--no-probes") == f"17 3 * * * {scan} --quiet --no-probes >/dev/null"


def test_variables_are_read_by_our_own_start() -> None:
    assert line(None, "/my variables", "--no-probes") == (
        "17 3 * * * cd / && PATH=/bin /python -P -m pathtrace schedule start --env-file '/my variables' -- "
        "'/a b.yaml' --store /runs --no-probes --quiet >/dev/null"
    )


def test_the_times_of_a_line_are_five_fields_or_a_word() -> None:
    assert fields_of("17 3  * * 1-5 root x y") == "17 3 * * 1-5"
    assert fields_of("@daily x") == "@daily"
    assert fields_of("") == ""


def test_a_file_goes_when_nothing_is_left_in_it(tmp_path: Path) -> None:
    table = FileTable(tmp_path / "pathtrace")
    assert table.read() == b""
    table.write(b"x\n")
    assert (table.read(), table.where) == (b"x\n", str(tmp_path / "pathtrace"))
    table.write(b"")
    assert list(tmp_path.iterdir()) == []
