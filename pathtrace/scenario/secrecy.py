"""Which of a scenario's values are secrets, where its text shows them, and where they may not stand.

Secret is: a variable whose name says so, whatever stands as a password or token in a URL, an
``api_key``, and every URL of ``tell`` as a whole. How secrets are hidden in texts is ``redaction``'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from pathtrace.redaction import SECRET_NAME, hide_spans, secret_spans
from pathtrace.scenario.faults import Fault
from pathtrace.scenario.tree import Scalar, Tree
from pathtrace.scenario.variables import REFERENCE_ONLY, default_spans

_SHORTEST_URL = 6


def secrets_of(tree: Tree) -> tuple[str, ...]:
    """Every secret value, also as its URL quotes it; the order of first appearance."""
    found = [secret for scalar in tree.scalars for secret in _secrets_in(scalar)]
    return tuple(dict.fromkeys(secret for secret in found if secret))


def as_messages_quote(secrets: tuple[str, ...]) -> tuple[str, ...]:
    """The same with the forms in which Python's quoting may show them within a longer text."""
    forms: dict[str, None] = {}
    for secret in secrets:
        escaped = repr(f"{secret}\"'")[1:-4]  # both quotes present: backslashes and ' are escaped
        forms |= dict.fromkeys((secret, escaped, escaped.replace("\\'", "'")))
    return tuple(forms)


def hide_secrets(text: str, tree: Tree) -> str:
    """The file's text with literal secrets hidden; variables stay as they are written."""
    spans = [span for span in secret_spans(text) if not REFERENCE_ONLY.fullmatch(text[slice(*span)])]
    spans += [span for name, span in default_spans(text) if SECRET_NAME.search(name)]
    spans += [(scalar.start, scalar.end) for scalar in tree.scalars if _hides_whole(scalar, text)]
    return hide_spans(text, spans)


def command_faults(tree: Tree) -> Iterator[Fault]:
    """A secret among a command's arguments would show in the list of processes."""
    for scalar in tree.scalars:
        if scalar.path[:1] != ("places",) or scalar.path[2:3] != ("command",):
            continue
        names = [name for name, _ in scalar.expanded.used if SECRET_NAME.search(name)]
        if names:
            message = f"{names[0]} is a secret, and a command's arguments can be seen by everybody"
            hint = "let the command read it from the environment, which it inherits"
            yield tree.fault(scalar.path, message, hint)


def _secrets_in(scalar: Scalar) -> Iterator[str]:
    yield from (value for name, value in scalar.expanded.used if SECRET_NAME.search(name))
    text = scalar.expanded.text
    for start, end in secret_spans(text):
        yield text[start:end]
        yield unquote(text[start:end])
    if _is_api_key(scalar) or _is_of_tell(scalar):
        yield text


def _is_api_key(scalar: Scalar) -> bool:
    return scalar.path[:1] == ("places",) and scalar.path[2:] == ("options", "api_key")


def _is_of_tell(scalar: Scalar) -> bool:
    """Also where it stands wrongly. What is shorter is no URL, and would be hidden in every word."""
    text = scalar.expanded.text
    is_path = scalar.path[1:2] in (("metrics",), ("log",)) and "://" not in text
    return scalar.path[:1] == ("tell",) and not is_path and len(text) >= _SHORTEST_URL


def _hides_whole(scalar: Scalar, text: str) -> bool:
    """True where the secret is the whole value, or YAML's quoting keeps it from being found in the text."""
    if REFERENCE_ONLY.fullmatch(scalar.written):
        return False
    if _is_api_key(scalar) or _is_of_tell(scalar):
        return True
    return not _literals(scalar.written) <= _literals(text[scalar.start : scalar.end])


def _literals(text: str) -> set[str]:
    secrets = {text[slice(*span)] for span in secret_spans(text)}
    return {secret for secret in secrets if not REFERENCE_ONLY.fullmatch(secret)}
