"""Whose word a value from outside is, and what a thing costs: ``--source`` and ``--price`` as written."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence

from pathtrace.errors import UsageError
from pathtrace.model.prediction import Price
from pathtrace.redaction import redact_urls

WORDS = ("vendor", "independent", "own")
"""Who says it: who sells it, somebody else who measured it, or whoever asks."""
_DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")
_AMOUNT = re.compile(r"(\d{1,12}(?:\.\d{1,4})?)(?:\s*([A-Za-z]{1,12}|[€$£¥]))?")
_EXAMPLE = '--source "data sheet; 2026-03; vendor"'


def sources_of(texts: Sequence[str], changes: int) -> list[str | None]:
    """Of each change; one for all, or one each in their order. UsageError if they are none, or too many."""
    found: list[str | None] = [_source(text) for text in texts]
    if len(found) not in (0, 1, changes):
        raise UsageError(
            f"{len(found)} sources are given for {changes} changes",
            hint="give one for all, or one for each: first those of --set, then those of --add-link",
        )
    return found if len(found) == changes else (found or [None]) * changes


def _source(text: str) -> str:
    parts = [part.strip() for part in text.split(";")]
    if len(parts) < 3 or not parts[0]:
        raise UsageError(f"{text!r} is no source", hint=f"write text, date and whose word it is: {_EXAMPLE}")
    *said, date, word = parts
    if word not in WORDS:
        near = difflib.get_close_matches(word, WORDS, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"one of {', '.join(WORDS)}"
        raise UsageError(f"{word!r} does not say whose word it is", hint=hint, where="--source")
    if _DATE.fullmatch(date) is None:
        raise UsageError(
            f"{date!r} is no date", hint="write it as in 2026, 2026-03 or 2026-03-14", where="--source"
        )
    return redact_urls(f"{'; '.join(said)}; {date}; {word}")


def prices_of(texts: Sequence[str], names: Iterable[str]) -> Mapping[str, Price]:
    """By name. ``names``: what can be bought; a link also without its prefix. UsageError."""
    known, found = dict.fromkeys(names), dict[str, Price]()
    for text in texts:
        name, equals, amount = (part.strip() for part in text.rpartition("="))
        match = _AMOUNT.fullmatch(amount)
        if not equals or match is None or not float(match[1]):
            raise UsageError(f"{text!r} is no price", hint="write it as in --price lan=120 or lan='120 EUR'")
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known) or 'nothing'}"
            raise UsageError(f"nothing called {name!r} is to be bought for this run", hint=hint)
        found[name] = Price(float(match[1]), match[2])
    if len({price.currency for price in found.values()}) > 1:
        raise UsageError("prices in several currencies cannot be ranked", hint="give all in the same one")
    return found
