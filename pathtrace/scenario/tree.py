"""Text to plain values with the place of each: YAML's own faults, variables, and nothing of meaning.

Plain numbers stay text (marked ``Plain``), since ``24 h`` and ``24`` are read by whoever knows what
they are for. YAML 1.2: ``yes``, ``no``, ``on`` and ``off`` are words.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, StringMark, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from pathtrace.scenario.faults import Fault, shown
from pathtrace.scenario.variables import Expanded, expand

Path = tuple[str | int, ...]
Value = None | bool | str | list["Value"] | dict[str, "Value"]

LONGEST_TEXT = 2**18
_MOST_NODES = 20_000
_DEEPEST = 40
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUTHS = {word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
_KINDS = ("map", "seq", "str", "int", "float", "bool", "null", "timestamp", "merge", "value")
_TAGS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in _KINDS)
_UNREADABLE = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f\\ud800-\\udfff]")


class Plain(str):
    """A scalar written without quotes: it may stand for a number where one is wanted."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text value as written: where, which span of the file's text, and what its variables gave."""

    path: Path
    start: int
    end: int
    written: str
    expanded: Expanded


@dataclass(slots=True)
class Tree:
    """A file's values. ``broken`` are paths whose value cannot be known (an unset variable)."""

    root: Value = None
    values: dict[Path, tuple[int, int]] = field(default_factory=dict)
    keys: dict[Path, tuple[int, int]] = field(default_factory=dict)
    scalars: list[Scalar] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    broken: list[Path] = field(default_factory=list)

    def fault(self, path: Path, message: str, hint: str | None = None) -> Fault:
        """A fault at the value at ``path``, or at the nearest one around it that is there."""
        return Fault(*self._nearest(path, self.values), message, hint)

    def key_fault(self, path: Path, message: str, hint: str | None = None) -> Fault:
        """A fault at the key that names ``path``."""
        return Fault(*self._nearest(path, self.keys), message, hint)

    def at(self, path: Path) -> Value:
        """The value at ``path``; None where there is none."""
        value = self.root
        for step in path:
            if isinstance(value, dict) and isinstance(step, str):
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return None
        return value

    def _nearest(self, path: Path, places: Mapping[Path, tuple[int, int]]) -> tuple[int, int]:
        while path and path not in places:
            path = path[:-1]
        return places.get(path) or self.values.get(path, (1, 1))


def read_tree(text: str, environ: Mapping[str, str]) -> Tree:
    """``text`` as values; what is wrong with its YAML is in ``faults``. Never raises."""
    tree = Tree()
    unreadable = _unreadable(text)
    if unreadable is not None:
        tree.faults.append(unreadable)
        return tree
    try:
        with warnings.catch_warnings(action="ignore"):  # an anchor set twice is no fault
            node = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        tree.faults.append(_syntax_fault(error))
    except (YAMLError, ValueError, NotImplementedError) as error:
        tree.faults.append(Fault(1, 1, f"this is not YAML: {error}".splitlines()[0]))
    except RecursionError:
        tree.faults.append(Fault(1, 1, f"nested more than {_DEEPEST} deep", "is this the right file?"))
    else:
        _grow(tree, node, environ)
    return tree


def _grow(tree: Tree, node: Node | None, environ: Mapping[str, str]) -> None:
    if node is None:
        hint = "the least is: pathtrace: 1, name, places and flows"
        tree.faults.append(Fault(1, 1, "the file is empty", hint))
    elif not isinstance(node, MappingNode):
        hint = "write keys and values, as in: pathtrace: 1"
        tree.faults.append(
            Fault(*_position(node.start_mark), "a scenario is a mapping of keys to values", hint)
        )
    else:
        grower = _Grower(tree, environ)
        root = grower.value(node, ())
        tree.root = None if grower.too_much else root


class _Grower:
    """Turns nodes into values, bounded: an alias is walked each time that it is used."""

    def __init__(self, tree: Tree, environ: Mapping[str, str]) -> None:
        self._tree = tree
        self._environ = environ
        self._left = _MOST_NODES
        self.too_much = False

    def value(self, node: Node, path: Path) -> Value:
        position = _position(node.start_mark)
        self._tree.values[path] = position
        self._left -= 1
        if self.too_much or self._left <= 0 or len(path) > _DEEPEST:
            self._stop(position, path)
            return None
        if str(node.tag) not in _TAGS:
            self._tree.faults.append(
                Fault(*position, f"the tag {str(node.tag)!r} means nothing here", "remove it")
            )
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            return [self.value(child, (*path, index)) for index, child in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for key, child in node.value:
            position = _position(key.start_mark)
            if not isinstance(key, ScalarNode):
                self._tree.faults.append(
                    Fault(*position, "a key must be a word", "quote it if it holds [ or {")
                )
            elif key.value in found:
                line = self._tree.keys[(*path, key.value)][0]
                message = f"the key {shown(key.value)} stands here a second time"
                self._tree.faults.append(Fault(*position, message, f"it is already on line {line}; keep one"))
            elif not self.too_much:
                self._tree.keys[(*path, key.value)] = position
                found[key.value] = self.value(child, (*path, key.value))
        return found

    def _scalar(self, node: Node, path: Path) -> Value:
        written = str(node.value)
        plain = isinstance(node, ScalarNode) and node.style is None
        expanded = expand(written, self._environ)
        start, end = node.start_mark.index, node.end_mark.index
        self._tree.scalars.append(Scalar(path, start, end, written, expanded))
        if expanded.faults:
            position = _position(node.start_mark)
            self._tree.faults += [Fault(*position, message, hint) for message, hint in expanded.faults]
            self._tree.broken.append(path)
        if not plain:
            return expanded.text
        if expanded.text in _NULLS:
            return None
        return _TRUTHS.get(expanded.text, Plain(expanded.text))

    def _stop(self, position: tuple[int, int], path: Path) -> None:
        """Say once that this is no scenario; nothing else about it is worth telling."""
        if self.too_much:
            return
        if len(path) > _DEEPEST:
            fault = Fault(*position, f"nested more than {_DEEPEST} deep", "an alias may not hold itself")
        else:
            fault = Fault(*position, f"more than {_MOST_NODES} values", "are there aliases of aliases?")
        self._tree.faults.append(fault)
        self.too_much = True


def _unreadable(text: str) -> Fault | None:
    """What the YAML reader would stumble over, in words of ours."""
    if len(text) > LONGEST_TEXT:
        return Fault(1, 1, f"the file is longer than {LONGEST_TEXT} characters", "is this the right file?")
    found = _UNREADABLE.search(text)
    if found is None:
        return None
    before = text[: found.start()]
    line, column = before.count("\n") + 1, found.start() - before.rfind("\n")
    return Fault(line, column, f"the character U+{ord(found[0]):04X} may not stand here", "remove it")


def _syntax_fault(error: MarkedYAMLError) -> Fault:
    mark = error.problem_mark or error.context_mark
    problem = str(error.problem or error.context or "it cannot be read")
    if r"'\t'" in problem:
        return Fault(*_position(mark), "a tab in the indentation", "YAML is indented with spaces only")
    context = f" ({error.context})" if error.context and error.problem else ""
    line = mark.buffer.splitlines()[mark.line : mark.line + 1] if mark is not None and mark.buffer else []
    hint = _syntax_hint(problem, "".join(line))
    return Fault(*_position(mark), f"this is not YAML: {problem}{context}", hint)


def _syntax_hint(problem: str, line: str) -> str:
    if "got '{'" in problem and "${" in line:
        return 'within { } or [ ] a variable needs quotes: "${NAME}"'
    if "mapping values are not allowed" in problem:
        return (
            "quote a value that holds a colon and a space; give keys beside each other the same indentation"
        )
    if "cannot start any token" in problem:
        return "a value that starts with this character needs quotes"
    if "undefined alias" in problem:
        return "a value that starts with * needs quotes"
    if "another document" in problem:
        return "one scenario a file: remove what follows the line ---"
    return "look here and just before: an open quote or bracket, or indentation that does not match"


def _position(mark: StringMark | None) -> tuple[int, int]:
    return (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
