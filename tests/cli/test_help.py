import json
import subprocess
import sys
from pathlib import Path

import pytest

from pathtrace import __version__
from pathtrace.cli import main
from pathtrace.cli.table import COMMANDS, NOT_YET
from tests.cli.command import ROOT, environment
from tests.golden import assert_golden

GOLDEN = Path(__file__).parent / "golden"
HEAVY = (
    "pandas",
    "numpy",
    "scipy",
    "scapy",
    "psutil",
    "pydantic",
    "httpx",
    "rich",
    "ruamel",
    "aiofiles",
    "apprise",
    "prometheus_client",
)

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_help_lists_the_commands_that_there_are(capsys: Capture) -> None:
    assert main(["--help"]) == 0
    assert_golden(GOLDEN / "help.txt", capsys.readouterr().out)


def test_no_arguments_is_a_question_for_help(capsys: Capture) -> None:
    assert main([]) == 0
    assert_golden(GOLDEN / "help.txt", capsys.readouterr().out)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example(name: str, capsys: Capture) -> None:
    assert main([name, "--help"]) == 0
    out = capsys.readouterr().out
    assert COMMANDS[name].help == out.splitlines()[2].strip()
    assert f"  Example:\n    pathtrace {name}" in out
    assert_golden(GOLDEN / f"help_{name}.txt", out)


@pytest.mark.parametrize("name", NOT_YET)
def test_a_planned_command_is_not_listed_and_says_that_it_is_not_there(name: str, capsys: Capture) -> None:
    assert main([name, "--json"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[0] == f"error: '{name}' is not available in this version"


def test_the_version_is_told(capsys: Capture) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"pathtrace {__version__}\n"


def loaded_after(arguments: list[str], store: Path) -> set[str]:
    """The modules that a command line has imported by its end."""
    code = (
        "import json, sys\n"
        "from pathtrace.cli import main\n"
        f"main({arguments!r})\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment(store), cwd=ROOT
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"], ["nonsense"]])
def test_nothing_heavy_is_loaded_on_the_way_to_help(arguments: list[str], tmp_path: Path) -> None:
    loaded = loaded_after(arguments, tmp_path)
    assert "click" in loaded
    assert sorted(loaded & set(HEAVY)) == []


def test_help_imports_no_command(tmp_path: Path) -> None:
    commands = {entry.target.split(":")[0] for entry in COMMANDS.values()}
    assert sorted(loaded_after(["--help"], tmp_path) & commands) == []
