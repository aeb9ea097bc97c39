"""The house's rules that a machine can hold: arrows between rooms, sizes, names, who may print.

An exception is listed here with its reason, and one that is no longer needed fails the test too.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pathtrace"
MODULES = sorted(PACKAGE.rglob("*.py"))

LONGEST_FUNCTION = 40
LONGEST_FILE = 400
LONG_FUNCTIONS: dict[str, str] = {}
LONG_FILES: dict[str, str] = {}
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "core", "base", "shared"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def _relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def _functions(path: Path) -> Iterator[Function]:
    return (node for node in ast.walk(_tree(path)) if isinstance(node, Function))


def _body_lines(function: Function) -> int:
    """Lines from the signature to the end, without the docstring."""
    documented = ast.get_docstring(function, clean=False)
    docstring = function.body[0]
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    if documented is None:
        return lines
    return lines - ((docstring.end_lineno or docstring.lineno) - docstring.lineno + 1)


def _calls(path: Path) -> Iterator[str]:
    """The dotted name of everything that is called, as it is written."""
    return (ast.unparse(node.func) for node in ast.walk(_tree(path)) if isinstance(node, ast.Call))


def test_there_is_something_to_hold() -> None:
    assert len(MODULES) > 20


def test_rooms_import_only_what_the_contracts_allow() -> None:
    tool = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    assert tool is not None, "import-linter is part of the test extra"
    done = subprocess.run([tool, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_function_is_longer_than_forty_lines() -> None:
    long = {
        f"{_relative(path)}:{function.name}"
        for path in MODULES
        for function in _functions(path)
        if _body_lines(function) > LONGEST_FUNCTION
    }
    assert long == set(LONG_FUNCTIONS)


def test_no_file_is_longer_than_four_hundred_lines() -> None:
    long = {_relative(path) for path in MODULES if len(path.read_text("utf-8").splitlines()) > LONGEST_FILE}
    assert long == set(LONG_FILES)


def test_a_module_is_named_by_what_it_knows() -> None:
    parts = {part for path in MODULES for part in path.relative_to(PACKAGE).with_suffix("").parts}
    assert parts & FORBIDDEN_NAMES == set()


def test_every_module_says_what_it_knows() -> None:
    silent = [_relative(path) for path in MODULES if not ast.get_docstring(_tree(path))]
    assert silent == []


def test_the_event_loop_is_started_in_cli_only() -> None:
    starters = {_relative(path) for path in MODULES for call in _calls(path) if call == "asyncio.run"}
    assert {Path(file).parts[1] for file in starters} == {"cli"}


def test_only_cli_prints() -> None:
    printing = {
        _relative(path)
        for path in MODULES
        for call in _calls(path)
        if call in ("print", "sys.stdout.write", "sys.stderr.write", "click.echo")
    }
    assert {file for file in printing if Path(file).parts[1] != "cli"} == set()


def test_nothing_is_swallowed_outside_cli() -> None:
    """A handler of everything may clean up, if it then raises again."""
    broad = {
        f"{_relative(path)}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
        and not isinstance(node.body[-1], ast.Raise)
        and path.relative_to(PACKAGE).parts[0] != "cli"
    }
    assert broad == set()
