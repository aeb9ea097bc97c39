"""The lines of ``expect``: each names a flow, or a hop as ``flow/from->to``, and what it may take.

Looks at the tree, so that a faulty line is told beside whatever else is wrong with the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pathtrace.errors import UsageError
from pathtrace.model.expectation import read_allowed
from pathtrace.scenario.faults import Fault, allowed, shown
from pathtrace.scenario.names import declared
from pathtrace.scenario.tree import Tree


def expectation_faults(tree: Tree) -> Iterator[Fault]:
    """A fault for every name that no flow or hop has, and for every limit that cannot be read."""
    known = [*declared(tree, "flows"), *_hops(tree)]
    for name in declared(tree, "expect"):
        path = ("expect", name)
        if name not in known:
            yield tree.key_fault(path, f"expect: there is no flow or hop {shown(name)}", allowed(known, name))
        limit = tree.at(path)
        if isinstance(limit, str) and limit.strip() and path not in tree.broken:
            try:
                read_allowed(limit)
            except UsageError as error:
                yield tree.fault(path, f"expect.{name}: {error.message}", error.hint)


def _hops(tree: Tree) -> Iterator[str]:
    for flow in declared(tree, "flows"):
        path = tree.at(("flows", flow, "path"))
        names = [step for step in path if isinstance(step, str)] if isinstance(path, list) else []
        yield from (f"{flow}/{source}->{destination}" for source, destination in pairwise(names))
