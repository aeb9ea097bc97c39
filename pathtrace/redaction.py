"""Keeps secrets out of everything that is stored or shown.

Two ways, used together: ``redact_urls`` hides passwords and tokens written in URLs, and
``Scrubber`` hides the very values that a scenario took from the environment.
"""

from __future__ import annotations

import re
from urllib.parse import quote

HIDDEN = "***"

_USERINFO = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)(?P<user>[^/@\s:]*):(?P<secret>[^/\s]*)@")
_QUERY = re.compile(
    r"(?P<key>[?&;](?:[a-z_.-]*(?:password|passwd|secret|token|signature|api[-_]?key|access[-_]?key))=)[^&#\s\"']*",
    re.IGNORECASE,
)
SECRET_NAME = re.compile(r"PASS|SECRET|TOKEN|KEY|CREDENTIAL|AUTH", re.IGNORECASE)
"""Names of environment variables whose values are taken for secrets."""


def redact_urls(text: str) -> str:
    """``text`` with the password of every URL, and secret query values, replaced by ``***``."""
    text = _USERINFO.sub(rf"\g<scheme>\g<user>:{HIDDEN}@", text)
    return _QUERY.sub(rf"\g<key>{HIDDEN}", text)


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
