"""Folders of a store as runs and scans leave them, made small: only what history reads."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

FIRST = datetime(2026, 11, 1, 2, 17, 0, tzinfo=UTC)


def at(night: int) -> datetime:
    return FIRST + timedelta(days=night)


def run_id(night: int) -> str:
    return f"{at(night):%Y%m%d-%H%M%S}-n{night:03d}"


def facts(night: int, **changed: Any) -> dict[str, Any]:
    """As ``facts.json`` has it, of a run over a link."""
    return {
        "format": 1,
        "id": run_id(night),
        "label": None,
        "status": "complete",
        "started_at": at(night).isoformat(),
        "duration_s": 60.0,
        "scenario": {
            "name": "lab",
            "workload_fingerprint": "w",
            "setup_fingerprint": "s",
            "hosts": [{"name": "workstation", "here": True}, {"name": "nas", "here": False}],
            "links": [{"name": "lan", "hosts": ["workstation", "nas"]}],
            "places": [{"name": "archive", "spec": {"path": "/mnt/archive"}}],
            "control": {"start": "cold"},
        },
        "environment": {
            "hosts": [host("workstation", "Linux 6.12", 312_500_000.0)],
            "python": "3.12.1",
            "pathtrace": "0.1.0",
        },
        "reached": [
            {
                "place": "archive",
                "facts": {"files": 400, "fingerprint": "f"},
                "identity": None,
                "mount": {"fstype": "cifs", "device": "//nas/documents", "options": ["vers=3.1.1", "ro"]},
            }
        ],
        "starts": [{"repeat": 0, "start": "cold"}],
        "routes": [{"host": "nas", "interface": "eth0", "address": "192.168.1.10", "gateway": None}],
        "paths": [],
    } | changed


def host(name: str, kernel: str, speed_bytes_per_s: float | None) -> dict[str, Any]:
    card = {"name": "eth0", "speed_bytes_per_s": speed_bytes_per_s, "mtu_bytes": 1500, "up": True}
    return {
        "name": name,
        "cpu": "a processor",
        "cores": 8,
        "memory_bytes": 1 << 34,
        "kernel": kernel,
        "gpus": [],
        "interfaces": [{**card, "kind": "ethernet", "duplex": "full"}],
    }


def document(index_s: float = 2.0, answer_s: float = 0.5, **changed: Any) -> dict[str, Any]:
    """As ``run.json`` has it: one flow through a hop, and one of requests."""
    return {
        "flows": [
            {
                "name": "index",
                "frequency": "every 24 h",
                "duration_s": {"median": index_s, "low": index_s * 0.9, "high": index_s * 1.1},
                "bottleneck": "link:lan",
            },
            {
                "name": "answer",
                "frequency": "per-request",
                "duration_s": {"median": answer_s, "low": None, "high": None},
                "bottleneck": "model:llm",
            },
        ],
        "hops": [
            {
                "flow": "index",
                "name": "archive->indexer",
                "duration_s": index_s / 2,
                "operations": 400,
                "bytes": 1000,
                "throughput": {"bytes_per_s": 100.0, "low": 80.0, "high": 125.0},
                "limited_by": {"resource": "link:lan"},
                "latency": {"p50_s": 0.01},
            },
            {"flow": "answer", "name": "llm->people", "duration_s": None},
        ],
        "workload": {"rate_per_s": None},
        "requests": None,
    } | changed


def keep_run(
    store: Path,
    night: int,
    told: dict[str, Any] | None = None,
    shown: dict[str, Any] | None = None,
) -> Path:
    """A run's folder with its facts and document; ``{}`` as ``shown``: none."""
    folder = store / run_id(night)
    folder.mkdir(parents=True)
    (folder / "facts.json").write_text(json.dumps(told if told is not None else facts(night)))
    if shown != {}:
        (folder / "run.json").write_text(json.dumps(shown or document()))
        (folder / "report.md").write_text("# lab\n")
    return folder


def scan_document(night: int, status: str = "skipped", **changed: Any) -> dict[str, Any]:
    """As ``scan.json`` has it, of a night without a run."""
    return {
        "format": "pathtrace.scan/1",
        "night": {
            "id": run_id(night),
            "at": at(night).isoformat(),
            "scenario": "lab",
            "workload_fingerprint": "w",
            "setup_fingerprint": "s",
            "start": "cold",
            "status": status,
            "duration_s": 0.0,
            "reason": "the machine was busy: 74 % of the processor",
        },
        "told": [],
    } | changed


def keep_scan(store: Path, night: int, written: dict[str, Any] | None = None) -> Path:
    folder = store / run_id(night)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scan.json").write_text(json.dumps(written or scan_document(night)))
    return folder
