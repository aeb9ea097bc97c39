"""``${NAME}``, ``${NAME:-default}`` and ``$$`` in the values of a scenario.

Values are expanded after YAML has been read, so that no variable can change a file's structure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_REFERENCE = re.compile(
    rf"\$\$|\$\{{(?P<name>{_NAME})(?::-(?P<default>[^{{}}]*))?\}}|(?P<malformed>\$\{{[^}}]*\}}?)"
)
REFERENCE_ONLY = re.compile(rf"(?:\$\{{{_NAME}\}})+")
"""A text that is nothing but variables: it holds no secret itself."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """``used`` maps the variables' names to the values that were put in; ``faults`` are (message, hint)."""

    text: str
    used: tuple[tuple[str, str], ...]
    faults: tuple[tuple[str, str], ...]


def expand(text: str, environ: Mapping[str, str]) -> Expanded:
    """``text`` with its variables replaced; an unset variable without a default is a fault."""
    used: list[tuple[str, str]] = []
    faults: list[tuple[str, str]] = []

    def value(match: re.Match[str]) -> str:
        name = match["name"]
        if name is None:
            return _without_name(match, faults)
        if match["default"] is None and name not in environ:
            faults.append(_unset(name))
            return ""
        found = environ.get(name, "")
        found = found if found or match["default"] is None else match["default"]
        used.append((name, found))
        return found

    return Expanded(_REFERENCE.sub(value, text), tuple(used), tuple(faults))


def default_spans(text: str) -> tuple[tuple[str, tuple[int, int]], ...]:
    """The defaults written in ``text``: (name of the variable, (start, end))."""
    return tuple((m["name"], m.span("default")) for m in _REFERENCE.finditer(text) if m["default"])


def _without_name(match: re.Match[str], faults: list[tuple[str, str]]) -> str:
    if match["malformed"] is not None:
        wrong = match["malformed"]
        hint = "write ${NAME} or ${NAME:-default}; a dollar sign itself is $$"
        faults.append((f"{wrong!r} is not a variable", hint))
    return "$"


def _unset(name: str) -> tuple[str, str]:
    hint = f"set it (export {name}=…), or give a default: ${{{name}:-default}}; a dollar sign itself is $$"
    return f"the environment variable {name} is not set", hint
