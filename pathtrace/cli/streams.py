"""Standard output carries the result and nothing else; standard error carries talk.

Owns rich's console and how text is spelled where the terminal's encoding lacks a sign. A reader that
went away (a closed pipe) is no error.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from pathtrace.errors import StoreError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_STEERING = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\u202a-\u202e\u2066-\u2069]")
_UNSHOWN = "\ufffd"

LEAST_WIDTH = 20
"""Columns: in fewer nothing can be read, whatever COLUMNS says."""
USUAL_WIDTH = 80

_SPELLINGS = {
    "\ufffd": "?",
    "→": "->",
    "·": "-",
    "–": "-",
    "—": "-",
    "×": "x",
    "≥": ">=",
    "≤": "<=",
    "•": "*",
    "±": "+/-",
    "µ": "u",
    "…": "...",
    "─": "-",
    "━": "-",
    "│": "|",
    **dict(zip("▁▂▃▄▅▆▇█", "_.-=+*%#", strict=True)),
}


def _spell(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(_SPELLINGS.get(sign, "?") for sign in signs), error.end


def tolerate_any_encoding() -> None:
    """From here on, what a stream cannot encode is spelled in letters instead of failing.

    A stream that was closed before we began goes nowhere.
    """
    codecs.register_error("pathtrace.spell", _spell)
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="pathtrace.spell")


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


def can_draw(stream: TextIO) -> bool:
    """Whether the stream's encoding knows the signs that drawings are made of."""
    try:
        "┌─┆┃▼".encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


@contextmanager
def writing() -> Iterator[None]:
    """Ends quietly where the reader of standard output has gone: the exit code stays as it is.

    StoreError where the result could not be written in full.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()
    except OSError as error:
        forget_stdout()
        raise StoreError(f"cannot write to standard output: {error.strerror or error}") from error


def forget_stdout() -> None:
    """Send what is still buffered nowhere, so that the interpreter's own flush cannot fail."""
    _forget(sys.stdout)


def _forget(stream: TextIO) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def write_json(document: Mapping[str, object]) -> None:
    """One document on standard output; ASCII only, so that every encoding can carry it."""
    import json

    text = json.dumps(document, indent=2, allow_nan=False)
    with writing():
        sys.stdout.write(text + "\n")


def write_text(text: str) -> None:
    """Text as it is on standard output."""
    with writing():
        sys.stdout.write(text + "\n")


def write_view(view: RenderableType) -> None:
    """A rich value on standard output, in colour only where that is wanted and possible."""
    with writing():
        console(sys.stdout).print(view)


def console(stream: TextIO) -> Console:
    """A console on ``stream`` that takes text literally: no markup, no emoji names, no guesses."""
    from rich.console import Console

    class PlainConsole(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    made = PlainConsole(file=stream, markup=False, highlight=False, emoji=False)
    if made.width < LEAST_WIDTH:
        made.width = LEAST_WIDTH if made.width else USUAL_WIDTH
    return made


def drawing_width() -> int:
    """Columns of the terminal, or what COLUMNS says."""
    return console(sys.stdout).width


def say(text: str) -> None:
    """One remark on standard error, which steers no terminal; lost where nobody takes it."""
    try:
        sys.stderr.write(f"{_STEERING.sub(_UNSHOWN, text)}\n")
        sys.stderr.flush()
    except OSError:
        _forget(sys.stderr)
