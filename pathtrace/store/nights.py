"""One folder of the store as an entry of history: a run's facts and figures, its scan, its marks.

The figures are those of ``run.json``: nothing is analysed here. A folder that cannot be read costs its own
night and says why; a damaged ``scan.json`` or ``marks.json`` costs only what stands in it.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pathtrace.errors import RunFileError
from pathtrace.model.history import FAILED, INTERRUPTED, SKIPPED, HistoryEntry, Told, Took
from pathtrace.store import files
from pathtrace.store.facts import RUNNING, read_document
from pathtrace.store.marks import Marks, read_marks
from pathtrace.store.moments import moment, named_at
from pathtrace.store.scans import night_of, read_scan, told_of
from pathtrace.store.surroundings import surroundings

CUT_OFF = "it did not come to its end, or is still under way"
Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Night:
    """``entry`` None: no night, or none that can be read. ``faults``: what could not be read, and why."""

    entry: HistoryEntry | None
    told: tuple[Told, ...] = ()
    baseline: str | None = None
    """Since when it is the baseline; of several the latest counts."""
    faults: tuple[str, ...] = ()
    unanalysed: bool = False
    """A run that ended well, but its figures or page (``run.json``, ``report.md``) are missing or damaged."""


def read_night(folder: Path) -> Night:
    """What lies in a folder of the store. Never fails."""
    if (closed := _closed(folder)) is not None:
        return Night(None, faults=() if named_at(folder.name) is None else (closed,))
    faults: list[str] = []
    facts, document = _facts(folder, faults), _document(folder, faults)
    scan, marks = _scan(folder, faults), _marks(folder, faults)
    entry = _entry(folder, facts, document, scan, faults)
    if entry is None:
        return Night(None, faults=tuple(faults))
    ended = facts is not None and facts.get("status") != RUNNING
    return Night(
        dataclasses.replace(
            entry,
            label=marks.label or entry.label,
            pinned=marks.pinned,
            baseline=marks.baseline is not None,
            notes=marks.notes,
        ),
        told_of(folder, scan) if scan is not None else (),
        marks.baseline,
        tuple(faults),
        unanalysed=ended and (document is None or not (folder / files.PAGE).is_file()),
    )


def _closed(folder: Path) -> str | None:
    """Why nobody can look into it, as into another user's run or ``lost+found``; None if one can."""
    try:
        os.stat(os.path.join(folder, "."))
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"{folder}: cannot be read: {(error.strerror or str(error)).lower()}"
    return None


def _facts(folder: Path, faults: list[str]) -> Document | None:
    if not (folder / files.FACTS).exists():
        return None
    try:
        return read_document(folder)
    except RunFileError as error:
        faults.append(str(error))
        return None


def _document(folder: Path, faults: list[str]) -> Document | None:
    path = folder / files.DOCUMENT
    try:
        read = json.loads(files.content(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        faults.append(f"{path}: cannot be read: {error}")
        return None
    return read if isinstance(read, dict) else None


def _scan(folder: Path, faults: list[str]) -> Document | None:
    try:
        return read_scan(folder)
    except RunFileError as error:
        faults.append(str(error))
        return None


def _marks(folder: Path, faults: list[str]) -> Marks:
    try:
        return read_marks(folder)
    except RunFileError as error:
        faults.append(str(error))
        return Marks()


def _entry(
    folder: Path, facts: Document | None, document: Document | None, scan: Document | None, faults: list[str]
) -> HistoryEntry | None:
    """From the facts, else from the document alone, else from the scan that left no run."""
    try:
        if facts is not None:
            return _scanned(_of_run(folder, facts, document), folder, scan)
        if document is not None:
            return _scanned(_of_document(folder, document), folder, scan)
        return night_of(folder, scan) if scan is not None else None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        faults.append(f"{folder}: is no night of history: {type(error).__name__}: {error}")
        return None


def _of_run(folder: Path, facts: Document, document: Document | None) -> HistoryEntry:
    unended = facts["status"] == RUNNING
    words = dict.fromkeys(each["start"] for each in facts["starts"] if each["repeat"] >= 0)
    return dataclasses.replace(
        _base(folder, facts),
        status=INTERRUPTED if unended else facts["status"],
        start=", ".join(words) or facts["scenario"]["control"]["start"],
        reason=CUT_OFF if unended else None,
        took=_took(document),
        datasets=tuple(
            (each["place"], each["facts"]["fingerprint"])
            for each in facts["reached"]
            if each["facts"] and each["facts"]["files"] is not None
        ),
        environment=surroundings(facts),
    )


def _of_document(folder: Path, document: Document) -> HistoryEntry:
    """Of a run whose facts are lost: what its document says."""
    return dataclasses.replace(
        _base(folder, document),
        start=document["start_condition"]["start"],
        took=_took(document),
        datasets=tuple(
            (place, each.get("fingerprint")) for place, each in document.get("dataset", {}).items()
        ),
    )


def _base(folder: Path, said: Document) -> HistoryEntry:
    """What facts and document name alike."""
    scenario = said["scenario"]
    return HistoryEntry(
        id=folder.name,
        at=_began(folder, said),
        scenario=scenario.get("name", ""),
        workload_fingerprint=scenario["workload_fingerprint"],
        setup_fingerprint=scenario["setup_fingerprint"],
        start="",
        status=said["status"],
        duration_s=float(said.get("duration_s", 0.0)),
        label=said.get("label"),
    )


def _began(folder: Path, said: Document) -> datetime:
    if "started_at" in said:
        return moment(said["started_at"])
    return named_at(folder.name) or datetime.fromtimestamp(folder.stat().st_mtime, UTC)


def _scanned(entry: HistoryEntry, folder: Path, scan: Document | None) -> HistoryEntry:
    """A scan that failed says so also where its run left a part."""
    if scan is None:
        return entry
    try:
        night = night_of(folder, scan)
    except ValueError:
        return dataclasses.replace(entry, scanned=True)
    if night.status not in (SKIPPED, FAILED):
        return dataclasses.replace(entry, scanned=True)
    return dataclasses.replace(entry, scanned=True, status=night.status, reason=night.reason)


def _took(document: Document | None) -> tuple[Took, ...]:
    """Flows, each with its hops behind it; what was not measured is not there."""
    if document is None:
        return ()
    found: list[Took] = []
    hops: dict[str, list[Document]] = {}
    for hop in document.get("hops", ()):
        hops.setdefault(hop["flow"], []).append(hop)
    paced = (document.get("workload") or {}).get("rate_per_s") is not None
    names = dict.fromkeys((*(flow["name"] for flow in document.get("flows", ())), *hops))
    flows = {flow["name"]: flow for flow in document.get("flows", ())}
    for name in names:
        flow, own = flows.get(name, {}), hops.get(name, [])
        if paced and flow.get("frequency") == "per-request":
            found += _paced(name, flow, own, document)
        else:
            found += [*_flow(name, flow, own), *(each for hop in own for each in _hop(hop))]
    return tuple(found)


def _flow(name: str, flow: Document, hops: list[Document]) -> Iterator[Took]:
    """The work of a flow is that of its first hop."""
    took = flow.get("duration_s") or {}
    median_s = took.get("median")
    if isinstance(median_s, int | float):
        work = hops[0] if hops else {}
        low_s, high_s = (took.get(end) or median_s for end in ("low", "high"))
        yield Took(
            *(name, float(median_s), float(low_s), float(high_s), flow.get("bottleneck")),
            *(work.get("operations"), work.get("bytes")),
        )


def _hop(hop: Document) -> Iterator[Took]:
    """Its interval is that of its throughput."""
    took_s = hop["duration_s"]
    if not isinstance(took_s, int | float):
        return
    through = hop.get("throughput") or {}
    rate, low, high = (through.get(name) for name in ("bytes_per_s", "low", "high"))
    slowest_s = took_s * rate / low if rate and low else took_s
    quickest_s = took_s * rate / high if rate and high else took_s
    yield _named_hop(hop, took_s, quickest_s, slowest_s)


def _named_hop(hop: Document, median_s: float, low_s: float, high_s: float) -> Took:
    return Took(
        f"{hop['flow']}/{hop['name']}",
        float(median_s),
        float(min(low_s, median_s)),
        float(max(high_s, median_s)),
        (hop.get("limited_by") or {}).get("resource"),
        hop.get("operations"),
        hop.get("bytes"),
    )


def _paced(name: str, flow: Document, hops: list[Document], document: Document) -> Iterator[Took]:
    """Of requests at a rate: what one of them takes, since how long all of them take is the rate's doing."""
    requests = document.get("requests")
    one_s = (requests.get("latency") or {}).get("p50_s") if isinstance(requests, dict) else None
    if one_s:
        yield Took(name, float(one_s), float(one_s), float(one_s), flow.get("bottleneck"))
    for hop in hops:
        each_s = (hop.get("latency") or {}).get("p50_s")
        if each_s:
            yield _named_hop(hop, each_s, each_s, each_s)
