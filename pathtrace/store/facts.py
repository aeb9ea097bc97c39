"""``facts.json``: everything that a run is, except what the recorder writes as it comes.

Written when the run begins with status "running", again after each repeat, and at the end; a
status that is still "running" is how a crash is known. Secrets are left out here, at the door.
"""

from __future__ import annotations

import dataclasses
import json
import typing
from pathlib import Path
from typing import Any

from pathtrace.errors import RunFileError
from pathtrace.model.run import Run
from pathtrace.model.sample import ReadingTable, SampleTable, Window
from pathtrace.model.scenario import InferenceSpec, Place, Scenario, Ways
from pathtrace.store import files
from pathtrace.store.codec import CodecError, Scrub, decode, encode

RUNNING = "running"
"""The status of a run that has not ended, or whose end nobody wrote down."""

_RECORDED = frozenset({"samples", "readings", "windows", "faults"})
"""Fields of ``Run`` that lie in files of their own."""


def write_facts(folder: Path, run: Run, scrub: Scrub) -> None:
    """Write the run's facts as one whole file; what the recorder holds is not looked at. StoreError."""
    run = dataclasses.replace(run, scenario=without_secrets(run.scenario))
    kept = (f.name for f in dataclasses.fields(run) if f.name not in _RECORDED)
    document = {"format": files.FORMAT} | {name: encode(getattr(run, name), scrub) for name in kept}
    files.write_document(folder, files.FACTS, json.dumps(document, indent=1) + "\n")


def without_secrets(scenario: Scenario) -> Scenario:
    """The scenario as it may be stored: no secret values, no keys, nobody to tell."""
    places = tuple(map(_without_key, scenario.places))
    return dataclasses.replace(scenario, secrets=(), places=places, tell=Ways())


def _without_key(place: Place) -> Place:
    if not isinstance(place.spec, InferenceSpec):
        return place
    return dataclasses.replace(place, spec=dataclasses.replace(place.spec, api_key=None))


def read_document(folder: Path) -> dict[str, Any]:
    """The facts as JSON values, of a format that this version reads. RunFileError."""
    path = folder / files.FACTS
    try:
        document = json.loads(files.content(path).decode("utf-8"))
    except FileNotFoundError as error:
        raise RunFileError(f"not a run folder: it has no {files.FACTS}", where=str(folder)) from error
    except OSError as error:
        raise RunFileError(
            f"cannot read: {(error.strerror or str(error)).lower()}", where=str(path)
        ) from error
    except (ValueError, RecursionError) as error:
        raise RunFileError(f"the run is damaged: {error}", where=str(path)) from error
    found = document.get("format") if isinstance(document, dict) else None
    if found != files.FORMAT:
        raise wrong_format(path, found)
    return typing.cast("dict[str, Any]", document)


def wrong_format(path: Path, found: object) -> RunFileError:
    """The error for a file that another version wrote."""
    return RunFileError(
        f"the run has format {found}, this version of pathtrace reads format {files.FORMAT}",
        where=str(path),
        hint="read it with the version that wrote it (its number stands in facts.json), or run again",
    )


def read_facts(
    folder: Path,
    samples: SampleTable,
    readings: ReadingTable,
    windows: tuple[Window, ...],
    faults: tuple[str, ...],
) -> Run:
    """The run of these facts and of what was recorded beside them. RunFileError if they are damaged."""
    document = read_document(folder)
    hints = typing.get_type_hints(Run)
    try:
        kept = {
            field.name: decode(document.get(field.name), hints[field.name], field.name)
            for field in dataclasses.fields(Run)
            if field.name not in _RECORDED and not _added_later(field, document)
        }
    except CodecError as error:
        raise RunFileError(f"the run is damaged: {error}", where=str(folder / files.FACTS)) from error
    return Run(**kept, samples=samples, readings=readings, windows=windows, faults=faults)


def _added_later(field: dataclasses.Field[Any], document: dict[str, Any]) -> bool:
    """A field with a default that the document does not have: it was written before there was one."""
    return field.name not in document and field.default is not dataclasses.MISSING
