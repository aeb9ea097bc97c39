"""The tree against the document: pydantic's findings become faults with lines and nearest matches.

So that one wrong key does not hide a wrong name elsewhere, what is faulty is taken out and the rest
is read again: the document that comes back holds what is sound, and only that.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from pathtrace.scenario import document as doc
from pathtrace.scenario.faults import Fault, allowed, shown
from pathtrace.scenario.tree import Path, Tree, Value

_NAMED = ("hosts", "links", "places", "flows", "workload")
"""Where one entry can be taken out and the others kept."""
_NESTED: Mapping[tuple[str, ...], type[BaseModel]] = {
    (): doc.Document,
    ("workload",): doc.Workload,
    ("workload", "model"): doc.ModelCard,
    ("hosts", "*"): doc.Host,
    ("links", "*"): doc.Link,
    ("places", "*", "make"): doc.Made,
    ("flows", "*"): doc.Flow,
    ("budget",): doc.Budget,
    ("checks", "*"): doc.Check,
    ("tell",): doc.Tell,
}


def read_document(tree: Tree) -> tuple[doc.Document | None, list[Fault]]:
    """The sound part of ``tree``, or None if too little is left, and all faults of shape."""
    if is_other_version(tree):
        return None, [_version_fault(tree)]
    empty = [path for path in _empty_values(tree.root, ()) if path not in tree.broken]
    faults = [
        tree.fault(path, f"{_dotted(path)} is empty", "give a value, or remove the key") for path in empty
    ]
    root = _without(tree.root, [*empty, *tree.broken])
    try:
        return doc.Document.model_validate(root), faults
    except ValidationError as error:
        findings = [(_path(found["loc"]), found) for found in error.errors(include_url=False)]
    faults += [_fault(tree, path, found) for path, found in findings if not _is_echo(path, found, tree)]
    try:
        return doc.Document.model_validate(_without(root, [path for path, _ in findings])), faults
    except ValidationError:
        return None, faults


def is_other_version(tree: Tree) -> bool:
    """True for a file of another format version: nothing else about it can be judged."""
    return tree.at(("pathtrace",)) not in (None, "1")


def _version_fault(tree: Tree) -> Fault:
    written = str(tree.at(("pathtrace",)))
    message = f"this version reads scenarios that start with pathtrace: 1, not {written}"
    return tree.fault(("pathtrace",), message, "write pathtrace: 1, or use the version that the file is for")


def _empty_values(value: Value, path: Path) -> Iterator[Path]:
    if path[:1] == ("places",) and path[2:] in (("options",), ("command",)):
        return  # nothing is a value for a server; and {path} without quotes is told by the command's reader
    if isinstance(value, dict):
        children: Iterable[tuple[str | int, Value]] = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    else:
        return
    for step, child in children:
        if child is None:
            yield (*path, step)
        else:
            yield from _empty_values(child, (*path, step))


def _without(root: Value, paths: Iterable[Path]) -> Value:
    pruned = copy.deepcopy(root)
    for path in paths:
        holder: Value = pruned
        if path and path[0] in _NAMED and len(path) > 1 and isinstance(pruned, dict):
            holder = pruned.get(str(path[0]))
            path = path[1:]
        if path and isinstance(holder, dict):
            holder.pop(str(path[0]), None)
    return pruned


def _path(location: tuple[int | str, ...]) -> Path:
    """pydantic's location without what is not in the file: the kind of a place, ``[key]``."""
    if location[:1] == ("places",) and len(location) > 2:
        location = location[:2] + location[3:]
    return tuple(step for step in location if step != "[key]")


def _is_echo(path: Path, found: Any, tree: Tree) -> bool:
    """True for what is missing only because it was taken out as faulty before."""
    match found["type"]:
        case "missing":
            return path in tree.values
        case "union_tag_not_found":
            return (*path, "kind") in tree.values
        case "too_short":
            return isinstance(tree.at(path), dict) and bool(tree.at(path))
        case _:
            return False


def _fault(tree: Tree, path: Path, found: Any) -> Fault:
    context = found.get("ctx", {})
    match found["type"]:
        case "pathtrace" if found["loc"][-1] == "[key]":
            return tree.key_fault(path, context["message"], context["hint"])
        case "pathtrace":
            return tree.fault(path, f"{_dotted(path)}: {context['message']}", context["hint"])
        case "extra_forbidden":
            return _unknown_key(tree, path)
        case "missing":
            return _missing(tree, path)
        case "union_tag_not_found" if isinstance(tree.at(path), dict):
            return tree.key_fault(path, f"{_dotted(path)} has no kind", allowed(doc.PLACE_KINDS, ""))
        case "union_tag_invalid":
            kind = tree.at((*path, "kind"))
            message = f"{_dotted(path)}: {shown(kind)} is no kind of place"
            return tree.fault((*path, "kind"), message, allowed(doc.PLACE_KINDS, str(kind)))
        case "too_short":
            least = context["min_length"]
            return tree.fault(path, f"{_dotted(path)} needs at least {least}", "name more of them")
        case _:
            return _wrong_kind(tree, path, found)


def _unknown_key(tree: Tree, path: Path) -> Fault:
    key = str(path[-1])
    model = _model_at(tree, path[:-1])
    kinds = [kind for kind, place in doc.PLACE_KINDS.items() if key in place.model_fields]
    if len(path) == 3 and path[0] == "places":
        mine = tree.at((*path[:-1], "kind"))
        message = f"{'an' if mine == 'inference' else 'a'} {mine} place has no key {shown(key)}"
        if kinds:
            return tree.key_fault(path, message, f"{key} belongs to: {', '.join(kinds)}")
        own = [field for field in model.model_fields if field not in doc.PlaceOf.model_fields]
        return tree.key_fault(path, message, allowed([*own, *doc.PlaceOf.model_fields], key))
    where = f" in {_dotted(path[:-1])}" if len(path) > 1 else ""
    return tree.key_fault(path, f"unknown key {shown(key)}{where}", allowed(model.model_fields, key))


def _missing(tree: Tree, path: Path) -> Fault:
    field = _model_at(tree, path[:-1]).model_fields[str(path[-1])]
    subject = _dotted(path[:-1]) if len(path) > 1 else "the scenario"
    hint = f"{path[-1]}: {field.description}"
    return tree.key_fault(path[:-1], f"{subject} has no {path[-1]}", hint)


def _wrong_kind(tree: Tree, path: Path, found: Any) -> Fault:
    wanted = (
        "a list" if "tuple" in found["type"] or "list" in found["type"] else "a mapping of keys to values"
    )
    value = tree.at(path)
    there = "a list" if isinstance(value, list) else "a mapping" if isinstance(value, dict) else shown(value)
    lists = f"as in: {path[-1]}: [a, b]" if isinstance(path[-1], str) else "write one as [a, b]"
    hint = lists if wanted == "a list" else "write its keys below it, indented"
    return tree.fault(path, f"{_dotted(path)}: {there} stands here where {wanted} is wanted", hint)


def _model_at(tree: Tree, path: Path) -> type[BaseModel]:
    if len(path) == 2 and path[0] == "places":
        return doc.PLACE_KINDS[str(tree.at((*path, "kind")))]
    pattern = tuple(
        "*" if index == 1 and path[0] != "workload" else str(step) for index, step in enumerate(path)
    )
    return _NESTED[pattern]


def _dotted(path: Path) -> str:
    return ".".join(str(step + 1) if isinstance(step, int) else step for step in path)
