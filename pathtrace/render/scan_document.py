"""A scan -> the ``pathtrace.scan/1`` document: printed, logged and kept. Names of keys are a promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from pathtrace.model.history import HistoryEntry, Told
from pathtrace.model.report import Caveat
from pathtrace.model.scanning import Beside, Expectation, ScanReport
from pathtrace.render import figures
from pathtrace.render.figures import Document
from pathtrace.render.history_document import change_document

SCAN_FORMAT = "pathtrace.scan/1"


def scan_document(
    report: ScanReport, run: str | None, told: Sequence[Told], caveats: Sequence[Caveat]
) -> Document:
    """``run``: its id; None where the night left no run."""
    document: Document = {
        "format": SCAN_FORMAT,
        "id": report.entry.id,
        "run": run,
        "host": report.host,
        "question": report.question,
        "outcome": report.outcome,
        "scan_s": report.scan_s,
        "waited_s": report.waited_s,
        "night": _night(report.entry),
        "against": report.against,
        "beside": [_beside(each) for each in report.beside],
        "expectations": [_expectation(each) for each in report.expectations],
        "changes": [change_document(each) for each in report.changes],
        "failure": report.failure,
        "told": [asdict(each) for each in told],
        "caveats": [asdict(each) for each in caveats],
    }
    return {key: figures.finite(value) for key, value in document.items()}


def _night(entry: HistoryEntry) -> Document:
    return {
        "at": entry.at.isoformat(timespec="seconds"),
        "scenario": entry.scenario,
        "workload_fingerprint": entry.workload_fingerprint,
        "setup_fingerprint": entry.setup_fingerprint,
        "start": entry.start,
        "status": entry.status,
        "reason": entry.reason,
        "label": entry.label,
        "duration_s": entry.duration_s,
    }


def _beside(each: Beside) -> Document:
    return {
        "name": each.name,
        "now_s": each.now_s,
        "then_s": each.then_s,
        "ratio": each.ratio,
        "low": each.low,
        "high": each.high,
        "verdict": each.verdict,
    }


def _expectation(each: Expectation) -> Document:
    return {
        "name": each.name,
        "said": each.said,
        "limit_s": each.limit_s,
        "measured_s": each.measured_s,
        "kept": each.kept,
        "reason": each.reason,
        "state": each.state,
    }
