"""What the keys of a scenario must mean together: one source a place, places that can do their work.

Only what the file itself shows. Whether a path exists or a server answers, ``check`` finds out.
"""

from __future__ import annotations

from collections.abc import Iterator

from pathtrace.model.scenario import Access, Action, FrequencyKind, PlaceKind
from pathtrace.scenario import document as doc
from pathtrace.scenario.faults import Fault
from pathtrace.scenario.names import declared
from pathtrace.scenario.path_rules import ORDER, action_of, derived_frequency
from pathtrace.scenario.tree import Tree

_SOURCES = {"files": ("path", "url", "make"), "process": ("run", "command", "url")}


def check_meaning(document: doc.Document, tree: Tree) -> Iterator[Fault]:
    """Every fault of meaning; entries with faults of shape are not in ``document`` and pass."""
    yield from _sources(document, tree)
    yield from _remote_access(document, tree)
    yield from _hosts(document, tree)
    if "rate" in document.workload.model_fields_set and "users" in document.workload.model_fields_set:
        yield tree.key_fault(("workload", "rate"), "workload has users and a rate", "keep one of them")
    for name, flow in document.flows.items():
        yield from _flow(name, flow, document, tree)
    yield from _unfilled_databases(document, tree)


def actions_in(flow: doc.Flow, document: doc.Document) -> list[tuple[str, Action]]:
    """Each place of the path with its work."""
    return [
        (name, action_of(_kind(document, name), _task(document, name), position, len(flow.path)))
        for position, name in enumerate(flow.path)
    ]


def _kind(document: doc.Document, name: str) -> PlaceKind:
    return PlaceKind(document.places[name].kind)


def _task(document: doc.Document, name: str) -> str:
    place = document.places[name]
    return place.task.value if isinstance(place, doc.Inference) else "generate"


def _sources(document: doc.Document, tree: Tree) -> Iterator[Fault]:
    for name, place in document.places.items():
        keys = _SOURCES.get(place.kind, ())
        given = [key for key in keys if key in place.model_fields_set]
        if keys and len(given) != 1:
            which, hint = (" and ".join(given), "keep one of them") if given else ("none of them", "add one")
            message = f"places.{name} needs exactly one of {', '.join(keys)}, and has {which}"
            yield tree.key_fault(("places", name), message, hint)


def _remote_access(document: doc.Document, tree: Tree) -> Iterator[Fault]:
    """Mapping and direct reads are the kernel's, and it does not see what is read by URL."""
    for name, place in document.places.items():
        if isinstance(place, doc.Files) and place.url and place.access not in (None, Access.READ):
            message = f"places.{name}: access: {place.access.value} does not go with a url"
            hint = "use access: read, or mount the share and give its path"
            yield tree.fault(("places", name, "access"), message, hint)


def _hosts(document: doc.Document, tree: Tree) -> Iterator[Fault]:
    claimed = [name for name, host in document.hosts.items() if host.here]
    for name in claimed[1:]:
        hint = f"{claimed[0]!r} already says so; one host runs pathtrace"
        yield tree.fault(("hosts", name, "here"), f"hosts.{name}: here: true a second time", hint)
    for name, link in document.links.items():
        for index, host in enumerate(link.hosts):
            if host in link.hosts[:index]:
                path = ("links", name, "hosts", index)
                yield tree.fault(
                    path, f"links.{name} names the host {host!r} twice", "a link joins two or more"
                )


def _flow(name: str, flow: doc.Flow, document: doc.Document, tree: Tree) -> Iterator[Fault]:
    path = ("flows", name, "path")
    if len(flow.path) < 2:
        yield tree.fault(path, f"flows.{name}: a path needs two places or more", "from where, and to where?")
    for index, place in enumerate(flow.path):
        if place in flow.path[:index]:
            message = f"flows.{name} goes through {place!r} twice"
            yield tree.fault((*path, index), message, "give the second one a place of its own")
    if len(flow.path) > 1 and all(place in document.places for place in flow.path):
        for index in range(len(flow.path)):
            fault = _misplaced(index, flow, document)
            if fault is not None:
                yield tree.fault((*path, index), f"flows.{name}: {fault[0]}", fault[1])


def _misplaced(index: int, flow: doc.Flow, document: doc.Document) -> tuple[str, str] | None:
    """Why the place at ``index`` cannot do its work there, and what would help."""
    name, last = flow.path[index], len(flow.path) - 1
    before = _kind(document, flow.path[index - 1]) if index else None
    match _kind(document, name):
        case PlaceKind.USER if index < last:
            return f"{name!r} is a user, who can only be last", "move it to the end of the path"
        case PlaceKind.FILES if 0 < index < last:
            return (
                f"{name!r} holds files, which can only be first or last",
                "use two flows: to it, and from it",
            )
        case PlaceKind.DATABASE if 0 < index < last:
            return (
                f"{name!r} is a database, which can only be first or last",
                "use two flows: to it, and from it",
            )
        case PlaceKind.PROCESS if index == 0:
            return (
                f"{name!r} is a process, which needs something to work on",
                "put files or a database before it",
            )
        case PlaceKind.DATABASE if before is PlaceKind.FILES:
            return f"{name!r} stores pieces of text, and files give whole documents", _NEEDS_PROCESS
        case PlaceKind.INFERENCE:
            return _misplaced_inference(index, flow, document, before)
        case _:
            return None


_NEEDS_PROCESS = "put a process between them (run: chunk cuts plain text)"


def _misplaced_inference(
    index: int, flow: doc.Flow, document: doc.Document, before: PlaceKind | None
) -> tuple[str, str] | None:
    name, last = flow.path[index], len(flow.path) - 1
    place = document.places[name]
    assert isinstance(place, doc.Inference)
    if index == last:
        if before is PlaceKind.FILES:
            return None
        hint = "end the path with who takes its results: a user or a database"
        return f"{name!r} is last, where a model takes weights, and what comes before it is no files", hint
    if place.url is None:
        hint = "give it the url of a model server, or leave it out of this path"
        return f"{name!r} has no url: such a stand-in takes weights and answers nothing", hint
    if before is PlaceKind.FILES:
        return f"{name!r} takes pieces of text, and files give whole documents", _NEEDS_PROCESS
    return None


def _unfilled_databases(document: doc.Document, tree: Tree) -> Iterator[Fault]:
    """A database that is searched holds what an earlier flow stored, or has a query of its own."""
    sound = {
        name: flow
        for name, flow in document.flows.items()
        if len(flow.path) > 1 and all(place in document.places for place in flow.path)
    }
    if len(sound) < len(declared(tree, "flows")):
        return  # the flow that fills it may be among the faulty ones
    for name, flow in sound.items():
        first = document.places[flow.path[0]]
        if not isinstance(first, doc.Database) or first.query is not None:
            continue
        earlier = [
            other for other in sound.values() if _rank(other, sound, document) < _rank(flow, sound, document)
        ]
        if not any(other.path[-1] == flow.path[0] for other in earlier):
            message = f"flows.{name} searches {flow.path[0]!r}, which no earlier flow fills"
            hint = "give the place a query, or a flow that ends in it"
            yield tree.fault(("flows", name, "path", 0), message, hint)


def _rank(flow: doc.Flow, flows: dict[str, doc.Flow], document: doc.Document) -> tuple[int, int]:
    return ORDER[kind_of(flow, document)], list(flows.values()).index(flow)


def kind_of(flow: doc.Flow, document: doc.Document) -> FrequencyKind:
    """The flow's frequency, stated or derived."""
    derived = derived_frequency([_kind(document, name) for name in flow.path])
    return (flow.frequency or derived).kind
