"""The way from a file's bytes to a ``Scenario``, with every fault at once.

Opens no file and looks at no environment: both are handed in.
"""

from __future__ import annotations

from collections.abc import Mapping

from pathtrace.model.scenario import Scenario
from pathtrace.redaction import Scrubber
from pathtrace.scenario.availability import unavailable
from pathtrace.scenario.build import build
from pathtrace.scenario.checks import check_meaning
from pathtrace.scenario.expectations import expectation_faults
from pathtrace.scenario.faults import Fault, scenario_error
from pathtrace.scenario.names import unknown_names
from pathtrace.scenario.secrecy import as_messages_quote, command_faults, hide_secrets, secrets_of
from pathtrace.scenario.shape import is_other_version, read_document
from pathtrace.scenario.tree import read_tree


def decode(content: bytes, source: str) -> str:
    """The text of a scenario file: UTF-8, with or without a byte order mark. Raises ScenarioError."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = error.object[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        message = f"the byte 0x{content[error.start]:02x} is not UTF-8"
        fault = Fault(line, column, message, "save the file as UTF-8")
        raise scenario_error([fault], source, str) from error


def parse(text: str, source: str, environ: Mapping[str, str]) -> Scenario:
    """The scenario that ``text`` describes. ``source`` names the file in messages.

    Raises ScenarioError with all faults, each with file, line and column.
    """
    text = text.removeprefix("\ufeff")
    tree = read_tree(text, environ)
    secrets = secrets_of(tree)
    faults = [*tree.faults, *command_faults(tree)]
    document = None
    if isinstance(tree.root, dict):
        document, shape_faults = read_document(tree)
        faults += shape_faults
        if not is_other_version(tree):
            faults += [*unknown_names(tree), *expectation_faults(tree)]
    if document is not None:
        faults += [*check_meaning(document, tree), *unavailable(document, tree)]
    if faults or document is None:
        raise scenario_error(faults, source, Scrubber(as_messages_quote(secrets)))
    return build(document, source, hide_secrets(text, tree), secrets)
