"""One fault in a scenario: where, what is wrong, what is allowed. What is a fault, others decide."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pathtrace.errors import PathtraceError, ScenarioError, UsageError

_LONGEST = 400


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """``line`` and ``column`` count from 1."""

    line: int
    column: int
    message: str
    hint: str | None = None


def scenario_error(faults: Iterable[Fault], source: str, scrub: Callable[[str], str]) -> ScenarioError:
    """All of ``faults`` as one error in file order, each once, without secrets in their texts."""
    ordered = sorted(set(faults), key=lambda fault: (fault.line, fault.column, fault.message))
    return ScenarioError(tuple(_located(fault, source, scrub) for fault in ordered))


def allowed(choices: Iterable[str], wrong: str) -> str:
    """What may stand there, and which of it is nearest to ``wrong``."""
    listed = [str(choice) for choice in choices]
    text = f"allowed: {', '.join(listed)}" if listed else "nothing is allowed there"
    near = nearest(wrong, listed)
    return f"{text}; did you mean {near!r}?" if near else text


def nearest(wrong: str, choices: Iterable[str]) -> str | None:
    """The one of ``choices`` that was probably meant, or None."""
    lowered = {choice.lower(): choice for choice in choices}
    found = difflib.get_close_matches(wrong.lower(), lowered, n=1, cutoff=0.6)
    return lowered[found[0]] if found else None


def shown(value: object) -> str:
    """A value of the file as a message shows it."""
    return repr(str(value)) if isinstance(value, str) else str(value)


def _located(fault: Fault, source: str, scrub: Callable[[str], str]) -> PathtraceError:
    # Cut after scrubbing: the first half of a secret is still a secret.
    hint = _short(scrub(fault.hint)) if fault.hint else None
    return UsageError(_short(scrub(fault.message)), hint=hint, where=f"{source}:{fault.line}:{fault.column}")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
