"""What the format knows and this version cannot do yet. Shrinks as places and features are built."""

from __future__ import annotations

from collections.abc import Iterator

from pathtrace.scenario import document as doc
from pathtrace.scenario.faults import Fault
from pathtrace.scenario.tree import Path, Tree

_AVAILABLE = ("smb", "sftp")


def unavailable(document: doc.Document, tree: Tree) -> Iterator[Fault]:
    """A fault for everything that the scenario asks for and this version does not have."""
    for path, what, instead in _asked_for(document):
        yield tree.fault(path, f"{what} is not available in this version", instead)


def _asked_for(document: doc.Document) -> Iterator[tuple[Path, str, str]]:
    for name, place in document.places.items():
        yield from _of_place(("places", name), place)


def _of_place(path: Path, place: doc.PlaceOf) -> Iterator[tuple[Path, str, str]]:
    match place:
        case doc.Files(url=str() as url) if _scheme(url) not in _AVAILABLE:
            yield (*path, "url"), f"files by {_scheme(url)}", "available: path, make, url with smb or sftp"
        case _:
            return


def _scheme(url: str) -> str:
    return url.partition(":")[0]
