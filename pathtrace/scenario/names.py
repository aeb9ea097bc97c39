"""Names that one entry of a scenario uses and another must have: places in paths, hosts, flows.

Looks at the tree, so that a wrong name is told beside whatever else is wrong with its entry.
"""

from __future__ import annotations

from collections.abc import Iterator

from pathtrace.scenario.faults import Fault, allowed
from pathtrace.scenario.hosts import HERE
from pathtrace.scenario.tree import Path, Tree


def unknown_names(tree: Tree) -> Iterator[Fault]:
    """A fault for every place, host or flow that is named and not there."""
    places = declared(tree, "places")
    for flow in declared(tree, "flows"):
        yield from _unknown(tree, ("flows", flow, "path"), "place", places)
    if declared(tree, "hosts"):  # without ``hosts`` a name is enough; with it, another is probably a slip
        yield from _unknown_hosts(tree)
    groups = tree.at(("together",))
    for index in range(len(groups) if isinstance(groups, list) else 0):
        yield from _unknown(tree, ("together", index), "flow", declared(tree, "flows"))


def declared(tree: Tree, section: str) -> list[str]:
    """The names in a section of the file, sound or not."""
    entries = tree.at((section,))
    return list(entries) if isinstance(entries, dict) else []


def _unknown_hosts(tree: Tree) -> Iterator[Fault]:
    hosts = declared(tree, "hosts")
    claimed = any(tree.at(("hosts", host, "here")) is True for host in hosts)
    known = hosts if claimed or HERE in hosts else [*hosts, HERE]
    for link in declared(tree, "links"):
        yield from _unknown(tree, ("links", link, "hosts"), "host", known)
    for place in declared(tree, "places"):
        path = ("places", place, "host")
        yield from _unless_known(tree, path, tree.at(path), "host", known)


def _unknown(tree: Tree, path: Path, what: str, known: list[str]) -> Iterator[Fault]:
    names = tree.at(path)
    for index, name in enumerate(names if isinstance(names, list) else ()):
        yield from _unless_known(tree, (*path, index), name, what, known)


def _unless_known(tree: Tree, path: Path, name: object, what: str, known: list[str]) -> Iterator[Fault]:
    if isinstance(name, str) and name and name not in known and path not in tree.broken:
        subject = ".".join(str(step) for step in path[:2]) if path[0] != "together" else "together"
        yield tree.fault(path, f"{subject}: there is no {what} {name!r}", allowed(known, name))
