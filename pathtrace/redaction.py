"""Keeps secrets out of everything that is stored or shown.

Two ways, used together: ``redact_urls`` hides passwords and tokens written in URLs, and
``Scrubber`` hides the very values that a scenario took from the environment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote

HIDDEN = "***"

_USERINFO = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*://[^/@\s:?#]*:"
    # A slash in a password is wrong in a URL and happens; a port and a path with "@" is no password.
    r"(?P<secret>[^/\s]*|(?!\d{1,5}[/?#])[^\s\"'<>]*)@"
)
_QUERY = re.compile(
    r"[?&;](?:[a-z_.-]*(?:password|passwd|secret|token|signature|api[-_]?key|access[-_]?key))=(?P<secret>[^&#\s\"']*)",
    re.IGNORECASE,
)
SECRET_NAME = re.compile(r"PASS|SECRET|TOKEN(?!S)|KEY|CREDENTIAL|AUTH", re.IGNORECASE)
"""Names of environment variables whose values are taken for secrets; ``MAX_TOKENS`` is a number."""


def secret_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where in ``text`` passwords of URLs and secret query values stand: (start, end), in order."""
    found = (match.span("secret") for pattern in (_USERINFO, _QUERY) for match in pattern.finditer(text))
    return tuple(sorted(span for span in found if span[0] < span[1]))


def hide_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """``text`` with each of ``spans`` replaced by ``***``; they may overlap."""
    kept, position = [], 0
    for start, end in sorted(spans):
        if end <= position:
            continue
        if start >= position:
            kept += [text[position:start], HIDDEN]
        position = end
    return "".join([*kept, text[position:]])


def redact_urls(text: str) -> str:
    """``text`` with the password of every URL, and secret query values, replaced by ``***``."""
    return hide_spans(text, secret_spans(text))


class Scrubber:
    """Replaces known secret values, as they are and as a URL would quote them."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        forms = {form for secret in secrets if secret for form in (secret, quote(secret, safe=""))}
        ordered = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def __call__(self, text: str) -> str:
        """``text`` without any of the secrets, and without passwords in URLs."""
        if self._pattern is not None:
            text = self._pattern.sub(HIDDEN, text)
        return redact_urls(text)
